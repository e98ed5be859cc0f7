/**
 * Executions in PostgreSQL.
 */
import { Execution } from "@castellan/core/sandcastle/Execution"
import { ExecutionStore } from "@castellan/core/sandcastle/ExecutionStore"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { SqlClient } from "effect/sql/SqlClient"
import * as Document from "../database/Document.ts"
import * as Keyset from "../database/Keyset.ts"
import * as Query from "../database/Query.ts"
import { acrossOrganizations, entering, within } from "../database/Tenancy.ts"

const document = Document.make(Execution)

/** Keeps executions in PostgreSQL. */
export const layer: Layer.Layer<ExecutionStore, never, SqlClient> = Layer.effect(
  ExecutionStore,
  Effect.map(SqlClient, (sql) =>
    ExecutionStore.of({
      save: (execution) =>
        Query.run(sql`
          INSERT INTO castellan.executions (organization_id, id, sandcastle_id, created_at, recorded_at, is_running,
            document)
          SELECT ${execution.organizationId}, ${execution.id}, ${execution.sandcastleId},
            ${DateTime.toDateUtc(execution.createdAt)}, ${DateTime.toDateUtc(execution.createdAt)},
            ${execution.status._tag === "Running"}, ${document.encode(execution)}
          WHERE ${entering(sql, execution.organizationId)}
          ON CONFLICT (organization_id, id) DO UPDATE SET is_running = excluded.is_running,
            document = excluded.document
        `),
      end: (execution) =>
        Effect.map(
          Query.row(sql`
            UPDATE castellan.executions SET is_running = ${execution.status._tag === "Running"},
              document = ${document.encode(execution)}
            WHERE ${within(sql, execution.organizationId)} AND id = ${execution.id} AND is_running
            RETURNING true AS ended
          `),
          Option.isSome
        ),
      get: (organizationId, id) =>
        Query.first(
          document,
          sql`SELECT document FROM castellan.executions WHERE ${within(sql, organizationId)} AND id = ${id}`
        ),
      list: (organizationId, sandcastleId, page) => {
        const conditions = [within(sql, organizationId), sql`sandcastle_id = ${sandcastleId}`]
        if (page.after !== undefined) conditions.push(Keyset.after(sql, "created_at", page.after))
        return Effect.map(
          Query.all(
            document,
            sql`
              SELECT document FROM castellan.executions WHERE ${sql.and(conditions)}
              ORDER BY created_at DESC, id DESC LIMIT ${Keyset.rowsFor(page)}`
          ),
          (found) => Keyset.slice(found, page, ({ createdAt, id }) => ({ at: createdAt, id }))
        )
      },
      unfinished: (before, limit) =>
        Query.all(
          document,
          sql`
            SELECT document FROM castellan.executions
            WHERE ${acrossOrganizations(sql)} AND is_running AND recorded_at < ${DateTime.toDateUtc(before)}
            ORDER BY recorded_at, id LIMIT ${limit}`
        ),
      // What another purge is removing is passed over, not waited for.
      purge: (before, limit) =>
        Effect.map(
          Query.rows(sql`
            DELETE FROM castellan.executions
            WHERE ${acrossOrganizations(sql)} AND ctid = ANY(ARRAY(
              SELECT ctid FROM castellan.executions WHERE recorded_at < ${DateTime.toDateUtc(before)}
              ORDER BY recorded_at LIMIT ${limit} FOR UPDATE SKIP LOCKED))
            RETURNING true AS removed`),
          (removed) => removed.length
        )
    })
  )
)
