/**
 * The table under every in-memory store: rows by key, in the order of their insertion.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"

/** Rows by key. Every operation is atomic. */
export interface MemoryTable<Key, Row> {
  readonly get: (key: Key) => Effect.Effect<Option.Option<Row>>
  readonly set: (key: Key, row: Row) => Effect.Effect<void>
  readonly where: (predicate: (row: Row) => boolean) => Effect.Effect<ReadonlyArray<Row>>
  /** Reads and writes in one step: what `change` answers with is returned, and its rows replace the old ones. */
  readonly modify: <A>(
    change: (rows: ReadonlyMap<Key, Row>) => readonly [answer: A, changed: ReadonlyArray<readonly [Key, Row]>]
  ) => Effect.Effect<A>
}

/** A new, empty table. */
export const make = <Key, Row>(): Effect.Effect<MemoryTable<Key, Row>> =>
  Effect.map(Ref.make<Map<Key, Row>>(new Map()), (ref) => ({
    get: (key) => Effect.map(Ref.get(ref), (rows) => Option.fromNullishOr(rows.get(key))),
    set: (key, row) => Effect.map(Ref.get(ref), (rows) => void rows.set(key, row)),
    where: (predicate) =>
      Effect.map(Ref.get(ref), (rows) => {
        const found: Array<Row> = []
        for (const row of rows.values()) if (predicate(row)) found.push(row)
        return found
      }),
    modify: (change) =>
      Effect.map(Ref.get(ref), (rows) => {
        const [answer, changed] = change(rows)
        for (const [key, row] of changed) rows.set(key, row)
        return answer
      })
  }))
