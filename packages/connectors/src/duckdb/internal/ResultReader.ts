/**
 * Reads the Arrow IPC stream of a result into a table. The stream comes from a process that may have run a hostile
 * statement, so nothing in it is believed before it is checked: the number of its columns and rows, and every cell.
 */
import type { Column, ResultTable, Value } from "@castellan/core/connector/ResultTable"
import { tableFromIPC } from "@uwdata/flechette"

/** What the header of the frame says of the stream. */
export interface Expected {
  readonly columns: ReadonlyArray<Column>
  readonly rowCount: number
  readonly truncated: boolean
}

/** The stream is not what its header says. */
export class ResultError extends Error {
  override readonly name = "ResultError"
}

const isValue = (cell: unknown, column: Column): cell is Value => {
  if (cell === null) return true
  switch (column.type) {
    case "integer":
      return Number.isSafeInteger(cell)
    case "number":
      return Number.isFinite(cell)
    case "boolean":
      return typeof cell === "boolean"
    default:
      return typeof cell === "string"
  }
}

/** The table of a stream; throws when the stream is malformed or differs from what is expected. */
export const read = (bytes: Uint8Array, expected: Expected): ResultTable => {
  const { columns, rowCount, truncated } = expected
  if (columns.length === 0) throw new ResultError("a result without columns")
  // A copy, because Arrow reads its columns in place and needs them aligned.
  const arrow = tableFromIPC(new Uint8Array(bytes))
  if (arrow.numCols !== columns.length || arrow.numRows !== rowCount) {
    throw new ResultError(
      `a result of ${arrow.numRows} rows and ${arrow.numCols} columns, where its header says ${rowCount} and ${columns.length}`
    )
  }
  const rows = Array.from({ length: rowCount }, (): Array<Value> => [])
  for (const [index, column] of columns.entries()) {
    const cells = arrow.getChildAt(index).toArray()
    for (const [at, row] of rows.entries()) {
      const cell: unknown = cells[at]
      if (!isValue(cell, column)) throw new ResultError(`a cell of ${column.type} is a ${typeof cell}`)
      row.push(cell)
    }
  }
  return { columns, rows, truncated }
}
