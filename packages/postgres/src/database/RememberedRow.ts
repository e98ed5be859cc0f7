/**
 * Rows that are read over and over, request by request, and seldom change: what a row was made into is remembered by its
 * key, with the row. Nothing is assumed of the database: the row is read each time, and what it was made into is taken
 * only where every column is what it was. To compare texts of the same length takes a fraction of what looking one up
 * does, which is to go through all of it.
 */
import * as Effect from "effect/Effect"

/** Keys that are remembered, at most: of those used lately, and as many again of those used before. */
const capacity = 2_000

/** What a column of such a row may be. */
export type Column = string | number | boolean | Date | null

const isSameColumn = (a: Column | undefined, b: Column | undefined): boolean =>
  a === b || (a instanceof Date && b instanceof Date && a.getTime() === b.getTime())

/** What rows are made into, each once for as long as it is used and stays as it is. */
export const make = <Row, A>(
  keyOf: (row: Row) => string,
  columnsOf: (row: Row) => ReadonlyArray<Column>,
  decode: (row: Row) => Effect.Effect<A>
): ((row: Row) => Effect.Effect<A>) => {
  interface Remembered {
    readonly columns: ReadonlyArray<Column>
    readonly value: Effect.Effect<A>
  }

  // What was not used while as many others were is let go, without a list of who was used when.
  let recent = new Map<string, Remembered>()
  let before = new Map<string, Remembered>()

  const remember = (key: string, remembered: Remembered): void => {
    if (recent.size >= capacity) {
      before = recent
      recent = new Map()
    }
    recent.set(key, remembered)
  }

  return (row) => {
    const key = keyOf(row)
    const columns = columnsOf(row)
    const known = recent.get(key)
    const found = known ?? before.get(key)
    if (found?.columns.every((column, index) => isSameColumn(column, columns[index])) === true) {
      if (known === undefined) remember(key, found)
      return found.value
    }
    return Effect.map(decode(row), (value) => {
      remember(key, { columns, value: Effect.succeed(value) })
      return value
    })
  }
}
