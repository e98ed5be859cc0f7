/**
 * The runs of agents in PostgreSQL.
 */
import { AgentRun, isEnded } from "@castellan/core/agent/AgentRun"
import { AgentRunStore } from "@castellan/core/agent/AgentRunStore"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SqlClient } from "effect/sql/SqlClient"
import { clientKey } from "../access/ClientKey.ts"
import * as Document from "../database/Document.ts"
import * as Query from "../database/Query.ts"
import { acrossOrganizations, entering, within } from "../database/Tenancy.ts"
import { counted } from "../page/CountedList.ts"

const document = Document.make(AgentRun)

/** Keeps the runs of agents in PostgreSQL. */
export const layer: Layer.Layer<AgentRunStore, never, SqlClient> = Layer.effect(
  AgentRunStore,
  Effect.map(SqlClient, (sql) =>
    AgentRunStore.of({
      get: (organizationId, id) =>
        Query.first(
          document,
          sql`SELECT document FROM castellan.agent_runs WHERE ${within(sql, organizationId)} AND id = ${id}`
        ),
      list: (query) =>
        counted(sql, {
          document,
          table: "castellan.agent_runs",
          where: sql.and([
            within(sql, query.reader.organizationId),
            sql`agent_id = ${query.agentId}`,
            sql`client = ${clientKey(query.reader.clientMetadata)}`
          ]),
          sortBy: ["created_at", "id"],
          direction: "desc",
          page: query
        }),
      save: (run) =>
        Query.run(sql`
          INSERT INTO castellan.agent_runs (organization_id, id, agent_id, client, is_ended, created_at, document)
          SELECT ${run.organizationId}, ${run.id}, ${run.agentId}, ${clientKey(run.principal.clientMetadata)},
            ${isEnded(run)}, ${DateTime.toDateUtc(run.createdAt)}, ${document.encode(run)}
          WHERE ${entering(sql, run.organizationId)}
          ON CONFLICT (organization_id, id) DO UPDATE SET is_ended = excluded.is_ended, document = excluded.document
        `),
      unfinished: (before, limit) =>
        Query.all(
          document,
          sql`
            SELECT document FROM castellan.agent_runs
            WHERE ${acrossOrganizations(sql)} AND NOT is_ended AND created_at < ${DateTime.toDateUtc(before)}
            ORDER BY created_at, id LIMIT ${limit}`
        )
    })
  )
)
