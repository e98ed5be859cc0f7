/**
 * Statements that wait for a connection although there is room for one more, and what frees them.
 *
 * The client's pool looks whether it needs another connection when somebody asks for one. Who asks while a connection is
 * being opened waits for that one; and where it then goes to somebody who keeps it (a transaction, whoever listens for
 * notifications), the wait goes on until the next one asks, which on a server with little to do may be never. So somebody
 * always asks: shortly after each connection that was opened, a statement of no consequence does.
 *
 * Source: `effect/Pool` 4.1.0 (`getSlowWith`, `reserve`); seen when PostgreSQL came back after a full disk.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import { SqlClient } from "effect/sql/SqlClient"

/** How long after a connection was opened: whoever it was for has it by then. */
const pause = "100 millis"

/** Asks after every connection that is told of, for as long as the layer. What becomes of the statement is no matter. */
export const layer = (opened: Queue.Dequeue<void>): Layer.Layer<never, never, SqlClient> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const sql = yield* SqlClient
      const ask = Effect.andThen(Queue.take(opened), Effect.andThen(Effect.sleep(pause), Effect.ignore(sql`SELECT 1`)))
      yield* Effect.forkScoped(Effect.forever(ask))
    })
  )
