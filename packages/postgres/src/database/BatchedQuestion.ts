/**
 * A question about one thing, by its key, that is put to the database for all who ask it in one turn of the event loop:
 * one statement instead of many, which is most of what a short question costs on either side. A server that is busy has
 * many requests in a turn; one that is not asks for a single key, and waits for nobody. Where a turn has many, the first
 * of them are sent ahead: otherwise all requests would go through the server together, which would stand still while the
 * database works on them, and the database while the server does.
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

/** What whoever asked hears: none where the key has no row. */
export type Answer<A> = Effect.Effect<Option.Option<A>>

/**
 * Asks about several keys of one place: of an organization, whose statements are of nobody else. Those keys that have a
 * row have an answer. Whoever hears it works it out, unless that was done before.
 */
export type Ask<Place, Key, A> = (place: Place, keys: ReadonlyArray<Key>) => Effect.Effect<ReadonlyMap<Key, Answer<A>>>

/** How rows are asked for, and what becomes of one. */
export interface RowsOptions<Place, Key, Row, A> {
  /** The statement for several keys of one place. */
  readonly statement: (place: Place, keys: ReadonlyArray<Key>) => Query.Statement<Row>
  /** The key that a row is of, the same as it was asked for. */
  readonly keyOf: (row: Row) => Key
  /** What is made of a row. */
  readonly decode: (row: Row) => Effect.Effect<A>
}

/** Asks with one statement. */
export const rows =
  <Place, Key, Row, A>({ decode, keyOf, statement }: RowsOptions<Place, Key, Row, A>): Ask<Place, Key, A> =>
  (place, keys) =>
    Effect.map(
      Query.rows(statement(place, keys)),
      (found) => new Map(found.map((row) => [keyOf(row), Effect.mapEager(decode(row), Option.some)]))
    )

/** Puts the question; none where the key has no row. */
export type BatchedQuestion<Place, Key, A> = (place: Place, key: Key) => Answer<A>

/**
 * Keys that are worth a statement of their own while the database has none to work on: with fewer, what a statement costs
 * by itself is more than what is gained by working at the same time. Found by measuring 15 to 100 connections.
 */
const fewKeys = 8

/** Keys of one statement, at most. */
const mostKeys = 32

/** Who waits for an answer. */
interface Asker<A> {
  readonly hear: (answer: Answer<A>) => void
  /** Whoever asked for the same before. */
  readonly before: Asker<A> | undefined
  isGone: boolean
}

/** What is to be asked of one place. */
interface Batch<Key, A> {
  /** Of whoever asked first. */
  readonly context: Context.Context<never>
  /** Who waits, by what they wait for: the last one of each. */
  readonly asked: Map<Key, Asker<A>>
}

const isAwaited = <A>(last: Asker<A>): boolean => {
  for (let asker: Asker<A> | undefined = last; asker !== undefined; asker = asker.before) {
    if (!asker.isGone) return true
  }
  return false
}

const none: Answer<never> = Effect.succeedNone

/** A question over the connections of a client. */
export const make = <Place, Key, A>(
  { transactionService }: Pick<SqlClient, "transactionService">,
  ask: Ask<Place, Key, A>
): BatchedQuestion<Place, Key, A> => {
  /** How many statements have no answer yet. */
  let underway = 0

  const send = (place: Place, { asked, context }: Batch<Key, A>): void => {
    const keys: Array<Key> = []
    for (const [key, last] of asked) if (isAwaited(last)) keys.push(key)
    if (keys.length === 0) return
    underway += 1
    Effect.runForkWith(context)(Effect.suspend(() => ask(place, keys))).addObserver((exit) => {
      underway -= 1
      for (const [key, last] of asked) {
        const answer = Exit.isSuccess(exit) ? (exit.value.get(key) ?? none) : Exit.failCause(exit.cause)
        for (let asker: Asker<A> | undefined = last; asker !== undefined; asker = asker.before) asker.hear(answer)
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
    const room = underway === 0 ? fewKeys : mostKeys
    if (open !== undefined && (open.asked.size < room || open.asked.has(key))) return open
    if (open !== undefined) send(place, open)
    const batch: Batch<Key, A> = { context, asked: new Map() }
    gathered.set(place, batch)
    return batch
  }

  const together = (place: Place, key: Key, context: Context.Context<never>): Answer<A> =>
    Effect.callback((hear) => {
      const { asked } = batchFor(place, key, context)
      const asker: Asker<A> = { hear, before: asked.get(key), isGone: false }
      asked.set(key, asker)
      return Effect.sync(() => {
        asker.isGone = true
      })
    })

  const alone = (place: Place, key: Key): Answer<A> =>
    Effect.flatMap(ask(place, [key]), (answers) => answers.get(key) ?? none)

  return (place, key) =>
    Effect.contextWith((context: Context.Context<never>) =>
      Option.isNone(Context.getOption(context, transactionService)) ? together(place, key, context) : alone(place, key)
    )
}
