/**
 * The table under every in-memory store: rows by key, in the order of their insertion. It takes part in the
 * transaction of the fiber that uses it, where there is one.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { CurrentMemoryTransaction, type MemoryTransaction } from "./MemoryTransaction.ts"

/** Rows by key. Every operation is atomic. */
export interface MemoryTable<Key, Row> {
  readonly get: (key: Key) => Effect.Effect<Option.Option<Row>>
  readonly set: (key: Key, row: Row) => Effect.Effect<void>
  /** Removes the row; nothing where there is none. */
  readonly remove: (key: Key) => Effect.Effect<void>
  readonly where: (predicate: (row: Row) => boolean) => Effect.Effect<ReadonlyArray<Row>>
  /** Reads and writes in one step: what `change` answers with is returned, and its rows replace the old ones. */
  readonly modify: <A>(
    change: (rows: ReadonlyMap<Key, Row>) => readonly [answer: A, changed: ReadonlyArray<readonly [Key, Row]>]
  ) => Effect.Effect<A>
}

/** What a transaction has written to one table and not yet committed; a removed row is `None`. */
type Pending<Key, Row> = Map<Key, Option.Option<Row>>

/** A new, empty table. */
export const make = <Key, Row>(): Effect.Effect<MemoryTable<Key, Row>> =>
  Effect.sync(() => {
    const committed = new Map<Key, Row>()
    const uncommitted = new WeakMap<MemoryTransaction, Pending<Key, Row>>()

    const write = (to: Map<Key, Row>, key: Key, row: Option.Option<Row>): void => {
      if (Option.isSome(row)) to.set(key, row.value)
      else to.delete(key)
    }

    /** Where writes go: the transaction's own rows, or the table itself outside of one. */
    const put = (transaction: MemoryTransaction | undefined, key: Key, row: Option.Option<Row>): void => {
      if (transaction === undefined) return write(committed, key, row)
      let pending = uncommitted.get(transaction)
      if (pending === undefined) {
        const opened: Pending<Key, Row> = new Map()
        uncommitted.set(transaction, opened)
        transaction.onCommit(() => opened.forEach((row, key) => write(committed, key, row)))
        pending = opened
      }
      pending.set(key, row)
    }

    /** The rows as the fiber sees them: its own transaction's writes over what is committed. */
    const rows = (transaction: MemoryTransaction | undefined): ReadonlyMap<Key, Row> => {
      const pending = transaction === undefined ? undefined : uncommitted.get(transaction)
      if (pending === undefined) return committed
      const seen = new Map(committed)
      pending.forEach((row, key) => write(seen, key, row))
      return seen
    }

    const use = <A>(f: (transaction: MemoryTransaction | undefined) => A): Effect.Effect<A> =>
      // A fiber that outlives the transaction it was started in is outside of it.
      Effect.map(CurrentMemoryTransaction, (current) => f(current?.isOpen === true ? current : undefined))

    return {
      get: (key) =>
        use((transaction) => {
          const pending = transaction === undefined ? undefined : uncommitted.get(transaction)?.get(key)
          return pending ?? Option.fromNullishOr(committed.get(key))
        }),
      set: (key, row) => use((transaction) => put(transaction, key, Option.some(row))),
      remove: (key) => use((transaction) => put(transaction, key, Option.none())),
      where: (predicate) =>
        use((transaction) => {
          const found: Array<Row> = []
          for (const row of rows(transaction).values()) if (predicate(row)) found.push(row)
          return found
        }),
      modify: (change) =>
        use((transaction) => {
          const [answer, changed] = change(rows(transaction))
          for (const [key, row] of changed) put(transaction, key, Option.some(row))
          return answer
        })
    }
  })
