/**
 * Statements that bring long bytes. PostgreSQL plans a statement with the values that come with it, unless it is told
 * otherwise, and copies them as it does: so much more memory at once, of which an embedded database gives nothing back.
 * Planned for any value, the bytes are where they came in and where they are put together.
 */
import type { Transaction } from "@castellan/core/transaction/Transaction"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"
import * as LongBytes from "./LongBytes.ts"
import * as Query from "./Query.ts"

/** Runs a statement that brings so many bytes, in a transaction where they are many. */
export const run = (
  sql: SqlClient,
  transaction: Transaction["Service"],
  bytes: number,
  write: Effect.Effect<void>
): Effect.Effect<void> =>
  bytes <= LongBytes.pieceBytes
    ? write
    : transaction.run(
        Effect.andThen(Query.run(sql`SELECT set_config('plan_cache_mode', 'force_generic_plan', true)`), write)
      )
