/**
 * The logs of runs in PostgreSQL.
 *
 * Source: architecture.md §3; issue "Everything kept", §1 ("The run log with LISTEN/NOTIFY").
 */
import { RunLog } from "@castellan/core/run/RunLog"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SqlClient } from "effect/sql/SqlClient"
import * as Query from "../database/Query.ts"
import { within } from "../database/Tenancy.ts"
import * as RunLogFollowers from "./RunLogFollowers.ts"
import * as RunLogWriter from "./RunLogWriter.ts"
import type { RunNotifications } from "./RunNotifications.ts"

/** How the log is followed. */
export interface PostgresRunLogOptions {
  /** How late a follower learns at most of what another server appended, should a notification be lost. Default 1 s. */
  readonly pollInterval?: Duration.Input
}

/** Keeps the logs of runs in PostgreSQL. */
export const layer = (options: PostgresRunLogOptions = {}): Layer.Layer<RunLog, never, RunNotifications | SqlClient> =>
  Layer.effect(
    RunLog,
    Effect.gen(function* () {
      const sql = yield* SqlClient
      const followers = yield* RunLogFollowers.make(options.pollInterval ?? "1 second")
      const writer = yield* RunLogWriter.make(followers)
      return RunLog.of({
        append: writer.append,
        read: ({ id, organizationId }, after) =>
          Effect.flatMap(
            Query.rows(sql<RunLogFollowers.EventRow>`
              SELECT sequence, event FROM castellan.run_events
              WHERE ${within(sql, organizationId)} AND run_id = ${id} AND sequence > ${after} ORDER BY sequence`),
            (rows) => Effect.forEach(rows, RunLogFollowers.entryOf)
          ),
        follow: followers.follow,
        remove: ({ id, organizationId }) =>
          Query.run(sql`
            WITH log AS (DELETE FROM castellan.run_logs WHERE ${within(sql, organizationId)} AND run_id = ${id})
            DELETE FROM castellan.run_events WHERE ${within(sql, organizationId)} AND run_id = ${id}`)
      })
    })
  )
