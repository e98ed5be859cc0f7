/**
 * Agents in PostgreSQL.
 */
import { Agent } from "@castellan/core/agent/Agent"
import { type AgentQuery, AgentStore } from "@castellan/core/agent/AgentStore"
import type { ConnectorId } from "@castellan/core/connector/Connector"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import * as AccessColumns from "../access/AccessColumns.ts"
import { columnText } from "../database/ColumnText.ts"
import * as Document from "../database/Document.ts"
import * as Query from "../database/Query.ts"
import { entering, within } from "../database/Tenancy.ts"
import { counted } from "../page/CountedList.ts"

const document = Document.make(Agent)

/** Connectors as the text of an array, whose type PostgreSQL takes from the statement. */
const connectorArray = (ids: ReadonlyArray<ConnectorId>): string => `{${ids.join(",")}}`

/** Agents that belong on a list. The same as `AgentStore.matches`. */
const matches = (sql: SqlClient, { lacking, now, reader }: AgentQuery): Fragment =>
  sql.and([
    within(sql, reader.organizationId),
    sql`NOT connector_ids && ${connectorArray(lacking)}::integer[]`,
    AccessColumns.readableBy(sql, reader, now)
  ])

/** Keeps agents in PostgreSQL. */
export const layer: Layer.Layer<AgentStore, never, SqlClient> = Layer.effect(
  AgentStore,
  Effect.map(SqlClient, (sql) =>
    AgentStore.of({
      get: (organizationId, id) =>
        Query.first(
          document,
          sql`SELECT document FROM castellan.agents WHERE ${within(sql, organizationId)} AND id = ${id}`
        ),
      list: (query) =>
        counted(sql, {
          document,
          table: "castellan.agents",
          where: matches(sql, query),
          sortBy: ["name", "id"],
          direction: "asc",
          page: query
        }),
      save: (agent) =>
        Query.run(sql`
          INSERT INTO castellan.agents (organization_id, id, name, connector_ids, ${AccessColumns.names(sql)}, document)
          SELECT ${agent.organizationId}, ${agent.id}, ${columnText(agent.name)},
            ${connectorArray(agent.connectorIds)}, ${AccessColumns.values(sql, agent.access)},
            ${document.encode(agent)}
          WHERE ${entering(sql, agent.organizationId)}
          ON CONFLICT (organization_id, id) DO UPDATE SET name = excluded.name,
            connector_ids = excluded.connector_ids, ${AccessColumns.replaced(sql)}, document = excluded.document
        `),
      remove: (organizationId, id) =>
        Query.run(sql`DELETE FROM castellan.agents WHERE ${within(sql, organizationId)} AND id = ${id}`)
    })
  )
)
