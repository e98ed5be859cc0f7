/**
 * Tables as Arrow IPC streams, the form in which they enter a session and leave it.
 *
 * - `integer`: a 64-bit integer; `number`: a double; `boolean`: a boolean; `date`: a day
 * - `decimal`: an exact decimal of 128 bits; the session's Python reads it as doubles where every value is one exactly,
 *   and as `decimal.Decimal` otherwise, so that it can be computed with and nothing is rounded
 * - `timestamp`: microseconds, in UTC where the values say their zone
 * - everything else: text
 */
import * as ColumnNames from "@castellan/core/connector/ColumnNames"
import type { ResultTable } from "@castellan/core/connector/ResultTable"
import { Column, tableFromColumns, tableToIPC } from "@uwdata/flechette"
import { batch } from "./internal/ArrowCells.ts"

/** The stream of a table. */
export const encode = ({ columns, rows }: ResultTable): Uint8Array => {
  const names = ColumnNames.distinct(columns.map(({ name }) => name))
  const arrow = columns.map((column, index): [string, Column<unknown>] => {
    const made = batch(
      column.type,
      rows.map((row) => row[index] ?? null)
    )
    // A stream without rows has no batches.
    return [names[index] ?? "", new Column(rows.length === 0 ? [] : [made.batch], made.type)]
  })
  return tableToIPC(tableFromColumns(arrow), { format: "stream" }) ?? new Uint8Array(0)
}
