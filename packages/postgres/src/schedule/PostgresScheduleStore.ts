/**
 * Schedules in PostgreSQL. Of all servers that find one due, the one takes it whose statement still finds it so.
 */
import { Schedule } from "@castellan/core/schedule/Schedule"
import { ScheduleStore } from "@castellan/core/schedule/ScheduleStore"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { SqlClient } from "effect/sql/SqlClient"
import * as Document from "../database/Document.ts"
import * as Query from "../database/Query.ts"
import { acrossOrganizations, entering, within } from "../database/Tenancy.ts"

const document = Document.make(Schedule)

/** Keeps schedules in PostgreSQL. */
export const layer: Layer.Layer<ScheduleStore, never, SqlClient> = Layer.effect(
  ScheduleStore,
  Effect.map(SqlClient, (sql) =>
    ScheduleStore.of({
      get: (organizationId, playbookId) =>
        Query.first(
          document,
          sql`
            SELECT document FROM castellan.schedules
            WHERE ${within(sql, organizationId)} AND playbook_id = ${playbookId}`
        ),
      save: (schedule) =>
        Query.run(sql`
          INSERT INTO castellan.schedules (organization_id, playbook_id, next_due_at, document)
          SELECT ${schedule.organizationId}, ${schedule.playbookId}, ${DateTime.toDateUtc(schedule.nextDueAt)},
            ${document.encode(schedule)}
          WHERE ${entering(sql, schedule.organizationId)}
          ON CONFLICT (organization_id, playbook_id) DO UPDATE SET
            next_due_at = excluded.next_due_at, document = excluded.document
        `),
      take: (found, next) =>
        Effect.map(
          Query.row(
            Option.isSome(next)
              ? sql`
                  UPDATE castellan.schedules SET
                    next_due_at = ${DateTime.toDateUtc(next.value.nextDueAt)}, document = ${document.encode(next.value)}
                  WHERE ${within(sql, found.organizationId)} AND playbook_id = ${found.playbookId}
                    AND next_due_at = ${DateTime.toDateUtc(found.nextDueAt)}
                  RETURNING true AS taken`
              : sql`
                  DELETE FROM castellan.schedules
                  WHERE ${within(sql, found.organizationId)} AND playbook_id = ${found.playbookId}
                    AND next_due_at = ${DateTime.toDateUtc(found.nextDueAt)}
                  RETURNING true AS taken`
          ),
          Option.isSome
        ),
      remove: (organizationId, playbookId) =>
        Query.run(sql`
          DELETE FROM castellan.schedules WHERE ${within(sql, organizationId)} AND playbook_id = ${playbookId}`),
      due: (now, limit) =>
        Query.all(
          document,
          sql`
            SELECT document FROM castellan.schedules
            WHERE ${acrossOrganizations(sql)} AND next_due_at <= ${DateTime.toDateUtc(now)}
            ORDER BY next_due_at, playbook_id LIMIT ${limit}`
        )
    })
  )
)
