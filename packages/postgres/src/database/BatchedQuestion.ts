/**
 * A question about one thing, by its key, that is put to the database for all who ask it in one turn of the event loop:
 * one statement instead of many, which is most of what a short question costs on either side. A server that is busy has
 * many requests in a turn; one that is not asks for a single key, and waits for nobody.
 *
 * Nothing is kept: the statement is sent after the last of those who wait for it has asked, so everybody hears how
 * things are after they have asked. Who asks for the same key hears the same answer. Who no longer waits takes nothing
 * from the others, a row that cannot be read is no matter of the others, and a statement that fails fails for all whom
 * it was sent for. It is sent in the context of whoever asked first.
 *
 * Within a transaction the question is put at once, and alone: the answer is that of the transaction.
 *
 * Source: issue 4, "Measures".
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { SqlClient } from "effect/sql/SqlClient"
import * as Query from "./Query.ts"

/** How a question is put, and what becomes of its answer. */
export interface BatchedQuestionOptions<Place, Key, Row, A> {
  /** The statement for several keys of one place: of an organization, whose statements are of nobody else. */
  readonly statement: (place: Place, keys: ReadonlyArray<Key>) => Query.Statement<Row>
  /** The key that a row is of, the same as it was asked for. */
  readonly keyOf: (row: Row) => Key
  /** What is made of a row. */
  readonly decode: (row: Row) => Effect.Effect<A>
}

/** Puts the question; none where the key has no row. */
export type BatchedQuestion<Place, Key, A> = (place: Place, key: Key) => Effect.Effect<Option.Option<A>>

/** Keys of one statement, at most. */
const mostKeys = 100

type Answer<A> = Effect.Effect<Option.Option<A>>

/** What is to be asked of one place. */
interface Batch<Key, A> {
  /** Of whoever asked first. */
  readonly context: Context.Context<never>
  /** Who waits, by what they wait for. */
  readonly asked: Map<Key, Array<(answer: Answer<A>) => void>>
}

const none: Answer<never> = Effect.succeedNone

/** A question over the connections of a client. */
export const make = <Place, Key, Row, A>(
  { transactionService }: Pick<SqlClient, "transactionService">,
  { decode, keyOf, statement }: BatchedQuestionOptions<Place, Key, Row, A>
): BatchedQuestion<Place, Key, A> => {
  /** The answers about those keys that have one. Whoever hears one decodes it, unless it is remembered. */
  const answers = (place: Place, keys: ReadonlyArray<Key>): Effect.Effect<ReadonlyMap<Key, Answer<A>>> =>
    Effect.map(
      Query.rows(statement(place, keys)),
      (rows) => new Map(rows.map((row) => [keyOf(row), Effect.mapEager(decode(row), Option.some)]))
    )

  const send = (place: Place, { asked, context }: Batch<Key, A>): void => {
    for (const [key, waiting] of asked) if (waiting.length === 0) asked.delete(key)
    if (asked.size === 0) return
    Effect.runForkWith(context)(answers(place, [...asked.keys()])).addObserver((exit) => {
      for (const [key, waiting] of asked) {
        const answer = Exit.isSuccess(exit) ? (exit.value.get(key) ?? none) : Exit.failCause(exit.cause)
        for (const hear of waiting) hear(answer)
      }
    })
  }

  let gathered = new Map<Place, Batch<Key, A>>()

  const sendAll = (): void => {
    const batches = gathered
    gathered = new Map()
    for (const [place, batch] of batches) send(place, batch)
  }

  /** The batch that a key is asked about in. */
  const batchFor = (place: Place, key: Key, context: Context.Context<never>): Batch<Key, A> => {
    // After the requests of this turn were read: whatever they ask is there then.
    if (gathered.size === 0) setImmediate(sendAll)
    const open = gathered.get(place)
    if (open !== undefined && (open.asked.size < mostKeys || open.asked.has(key))) return open
    if (open !== undefined) send(place, open)
    const batch: Batch<Key, A> = { context, asked: new Map() }
    gathered.set(place, batch)
    return batch
  }

  const together = (place: Place, key: Key, context: Context.Context<never>): Effect.Effect<Option.Option<A>> =>
    Effect.callback((hear) => {
      const { asked } = batchFor(place, key, context)
      const waiting = asked.get(key)
      if (waiting === undefined) asked.set(key, [hear])
      else waiting.push(hear)
      return Effect.sync(() => {
        const others = asked.get(key)?.filter((other) => other !== hear)
        if (others !== undefined) asked.set(key, others)
      })
    })

  const alone = (place: Place, key: Key): Effect.Effect<Option.Option<A>> =>
    Effect.flatMap(Query.row(statement(place, [key])), (row) =>
      Option.isNone(row) ? Effect.succeedNone : Effect.asSome(decode(row.value))
    )

  return (place, key) =>
    Effect.contextWith((context: Context.Context<never>) =>
      Option.isNone(Context.getOption(context, transactionService)) ? together(place, key, context) : alone(place, key)
    )
}
