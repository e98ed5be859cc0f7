/**
 * The runs of playbooks in PostgreSQL. That a due time has one run is a unique index's to say.
 */
import { isEnded, PlaybookRun } from "@castellan/core/playbook/PlaybookRun"
import { PlaybookRunStore } from "@castellan/core/playbook/PlaybookRunStore"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { SqlClient } from "effect/sql/SqlClient"
import { clientKey } from "../access/ClientKey.ts"
import * as Document from "../database/Document.ts"
import * as Query from "../database/Query.ts"
import { acrossOrganizations, entering, within } from "../database/Tenancy.ts"
import { counted } from "../page/CountedList.ts"

const document = Document.make(PlaybookRun)

/** Keeps the runs of playbooks in PostgreSQL. */
export const layer: Layer.Layer<PlaybookRunStore, never, SqlClient> = Layer.effect(
  PlaybookRunStore,
  Effect.map(SqlClient, (sql) =>
    PlaybookRunStore.of({
      get: (organizationId, id) =>
        Query.first(
          document,
          sql`SELECT document FROM castellan.playbook_runs WHERE ${within(sql, organizationId)} AND id = ${id}`
        ),
      open: (run) =>
        Effect.map(
          Query.row(sql`
            INSERT INTO castellan.playbook_runs (organization_id, id, playbook_id, client, due_at, is_ended, created_at,
              document)
            SELECT ${run.organizationId}, ${run.id}, ${run.playbookId}, ${clientKey(run.principal.clientMetadata)},
              ${run.trigger._tag === "Schedule" ? DateTime.toDateUtc(run.trigger.dueAt) : null}, ${isEnded(run)},
              ${DateTime.toDateUtc(run.createdAt)}, ${document.encode(run)}
            WHERE ${entering(sql, run.organizationId)}
            ON CONFLICT (organization_id, playbook_id, due_at) WHERE due_at IS NOT NULL DO NOTHING
            RETURNING true AS opened
          `),
          Option.isSome
        ),
      save: (run) =>
        Query.run(sql`
          UPDATE castellan.playbook_runs SET is_ended = ${isEnded(run)}, document = ${document.encode(run)}
          WHERE ${within(sql, run.organizationId)} AND id = ${run.id}
        `),
      ofPlaybook: (reader, playbookId, page) =>
        counted(sql, {
          document,
          table: "castellan.playbook_runs",
          where: sql.and([
            within(sql, reader.organizationId),
            sql`playbook_id = ${playbookId}`,
            sql`client = ${clientKey(reader.clientMetadata)}`
          ]),
          sortBy: ["created_at", "id"],
          direction: "desc",
          page
        }),
      unfinished: (before, limit) =>
        Query.all(
          document,
          sql`
            SELECT document FROM castellan.playbook_runs
            WHERE ${acrossOrganizations(sql)} AND NOT is_ended AND created_at < ${DateTime.toDateUtc(before)}
            ORDER BY created_at, id LIMIT ${limit}`
        )
    })
  )
)
