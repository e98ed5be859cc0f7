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
  /** The row of a key, where it is as wanted. */
  readonly find: (key: Key, isWanted: (row: Row) => boolean) => Effect.Effect<Option.Option<Row>>
  readonly set: (key: Key, row: Row) => Effect.Effect<void>
  /** Removes the row; nothing where there is none. */
  readonly remove: (key: Key) => Effect.Effect<void>
  readonly where: (predicate: (row: Row) => boolean) => Effect.Effect<ReadonlyArray<Row>>
  /**
   * Reads and writes in one step: what `change` answers with is returned, and its rows replace the old ones; a row that
   * is `undefined` is removed.
   */
  readonly modify: <A>(
    change: (
      rows: ReadonlyMap<Key, Row>
    ) => readonly [answer: A, changed: ReadonlyArray<readonly [key: Key, row: Row | undefined]>]
  ) => Effect.Effect<A>
}

/** One transaction's view of one table. */
interface View<Key, Row> {
  /** What it has written and not yet committed; a removed row is `None`. */
  readonly pending: Map<Key, Option.Option<Row>>
  /** The rows that it has looked for, found or not. */
  readonly read: Set<Key>
  /** Whether it has looked through all rows. */
  readAll: boolean
  /** Whether somebody else has changed a row that it has read. */
  isStale: boolean
}

/** A new, empty table. */
export const make = <Key, Row>(): Effect.Effect<MemoryTable<Key, Row>> =>
  Effect.sync(() => {
    const committed = new Map<Key, Row>()
    const views = new Map<MemoryTransaction, View<Key, Row>>()

    const apply = (to: Map<Key, Row>, key: Key, row: Option.Option<Row>): void => {
      if (Option.isSome(row)) to.set(key, row.value)
      else to.delete(key)
    }

    /** Writes to the table itself: who has read the row and goes on sees something else now. */
    const commit = (key: Key, row: Option.Option<Row>): void => {
      apply(committed, key, row)
      for (const view of views.values()) if (view.readAll || view.read.has(key)) view.isStale = true
    }

    const viewOf = (transaction: MemoryTransaction): View<Key, Row> => {
      const found = views.get(transaction)
      if (found !== undefined) return found
      const view: View<Key, Row> = { pending: new Map(), read: new Set(), readAll: false, isStale: false }
      views.set(transaction, view)
      transaction.join({
        isStale: () => view.isStale,
        commit: () => view.pending.forEach((row, key) => commit(key, row)),
        leave: () => views.delete(transaction)
      })
      return view
    }

    /** Where writes go: the transaction's own rows, or the table itself outside of one. */
    const put = (view: View<Key, Row> | undefined, key: Key, row: Option.Option<Row>): void => {
      if (view === undefined) commit(key, row)
      else view.pending.set(key, row)
    }

    /** The rows as the fiber sees them: its own transaction's writes over what is committed. */
    const rows = (view: View<Key, Row> | undefined): ReadonlyMap<Key, Row> => {
      if (view === undefined) return committed
      view.readAll = true
      if (view.pending.size === 0) return committed
      const seen = new Map(committed)
      view.pending.forEach((row, key) => apply(seen, key, row))
      return seen
    }

    /** The row of a key as the fiber sees it. */
    const look = (view: View<Key, Row> | undefined, key: Key): Option.Option<Row> => {
      view?.read.add(key)
      return view?.pending.get(key) ?? Option.fromUndefinedOr(committed.get(key))
    }

    const use = <A>(f: (view: View<Key, Row> | undefined) => A): Effect.Effect<A> =>
      // A fiber that outlives the transaction it was started in is outside of it.
      CurrentMemoryTransaction.useSync((current) => f(current?.isOpen === true ? viewOf(current) : undefined))

    return {
      get: (key) => use((view) => look(view, key)),
      find: (key, isWanted) => use((view) => Option.filter(look(view, key), isWanted)),
      set: (key, row) => use((view) => put(view, key, Option.some(row))),
      remove: (key) => use((view) => put(view, key, Option.none())),
      where: (predicate) =>
        use((view) => {
          const found: Array<Row> = []
          for (const row of rows(view).values()) if (predicate(row)) found.push(row)
          return found
        }),
      modify: (change) =>
        use((view) => {
          const [answer, changed] = change(rows(view))
          for (const [key, row] of changed) put(view, key, Option.fromUndefinedOr(row))
          return answer
        })
    }
  })
