/**
 * Transactions of PostgreSQL: serializable, and run again where they lost against another one.
 */
import { Transaction } from "@castellan/core/transaction/Transaction"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as SqlClient from "effect/sql/SqlClient"
import { SqlError } from "effect/sql/SqlError"
import * as DatabaseFailure from "./DatabaseFailure.ts"

/** How often a transaction is run before its last failure stands. */
const attempts = 12

/**
 * Milliseconds to wait before the next attempt: doubled each time, up to half a second, and spread. They are real ones,
 * whatever clock a test has set: the other transaction is in a database, which knows no other time.
 */
const pause = (attempt: number): Effect.Effect<void> =>
  Effect.flatMap(Random.next, (spread) => Effect.sleep(Math.min(500, 2 ** attempt) * (0.5 + spread))).pipe(
    Effect.provideService(Clock.Clock, Clock.Clock.defaultValue())
  )

/** Transactions over the stores of the database. */
export const layer: Layer.Layer<Transaction, never, SqlClient.SqlClient> = Layer.effect(
  Transaction,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const once = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      sql.withTransaction(effect).pipe(
        Effect.catch((error) =>
          error instanceof SqlError ? Effect.die(DatabaseFailure.defectOf(error)) : Effect.fail(error)
        ),
        Effect.provideService(SqlClient.BeginTransaction, "BEGIN ISOLATION LEVEL SERIALIZABLE")
      )

    const attempt = <A, E, R>(effect: Effect.Effect<A, E, R>, number: number): Effect.Effect<A, E, R> =>
      Effect.catchCause(once(effect), (cause) => {
        const failure = DatabaseFailure.statementFailure(cause)
        return number < attempts && failure !== undefined && DatabaseFailure.isLostRace(failure)
          ? Effect.andThen(pause(number), attempt(effect, number + 1))
          : // A rollback that failed as well has made defects of both failures.
            Effect.failCause(DatabaseFailure.inCause(cause))
      })

    return Transaction.of({
      run: <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
        Effect.flatMap(Effect.serviceOption(sql.transactionService), (outer) =>
          outer._tag === "Some" ? effect : attempt(effect, 1)
        )
    })
  })
)
