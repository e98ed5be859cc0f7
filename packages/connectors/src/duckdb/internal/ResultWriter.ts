/**
 * Collects the rows of a result within its limits, and writes them as an Arrow IPC stream.
 *
 * Numbers are Arrow doubles, booleans Arrow booleans, everything else Arrow text; what a column means stands beside
 * the stream, in the header of its frame. Columns of the stream are named for their position, since a result may
 * name two columns alike.
 */
import * as ColumnNames from "@castellan/core/connector/ColumnNames"
import type { Column, ColumnType } from "@castellan/core/connector/ResultTable"
import type { DuckDBDataChunk, DuckDBType } from "@duckdb/node-api"
import { bool, columnFromArray, float64, tableFromColumns, tableToIPC, utf8 } from "@uwdata/flechette"
import { cellReader, columnType } from "./CellValue.ts"

/** The bounds of a result. */
export interface Bounds {
  readonly maxRows: number
  /** Bytes of the cells: 8 for a number, 1 for a boolean, and 4 and its UTF-8 bytes for a text; a null is as empty. */
  readonly maxBytes: number
}

/** A result, ready to be sent. */
export interface Written {
  readonly columns: ReadonlyArray<Column>
  readonly rowCount: number
  readonly truncated: boolean
  readonly bytes: Uint8Array
}

type Cell = string | number | boolean | null

class ColumnCells {
  type: ColumnType
  readonly cells: Array<Cell> = []
  readonly read: ReturnType<typeof cellReader>

  readonly #empty: number

  constructor(type: DuckDBType) {
    this.type = columnType(type)
    this.#empty = this.type === "boolean" ? 1 : this.type === "integer" || this.type === "number" ? 8 : 4
    this.read = cellReader(type)
  }

  /** Adds a cell and answers its size in bytes. */
  add(value: ReturnType<ReturnType<typeof cellReader>>): number {
    if (value === null) {
      this.cells.push(null)
      return this.#empty
    }
    if (typeof value === "string") {
      this.cells.push(value)
      return 4 + Buffer.byteLength(value)
    }
    if (typeof value === "boolean") {
      this.cells.push(value)
      return 1
    }
    if (this.type === "decimal") return this.add(String(value))
    if (typeof value === "number") {
      this.cells.push(value)
      return 8
    }
    if (value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER) {
      this.cells.push(Number(value))
      return 8
    }
    this.type = "decimal"
    for (const [row, cell] of this.cells.entries()) this.cells[row] = cell === null ? null : String(cell)
    return this.add(String(value))
  }
}

const arrowType = (type: ColumnType) => {
  if (type === "integer" || type === "number") return float64()
  return type === "boolean" ? bool() : utf8()
}

/** Collects a result. `add` answers false when a limit is reached: then nothing more may be added. */
export const make = (names: ReadonlyArray<string>, types: ReadonlyArray<DuckDBType>, bounds: Bounds) => {
  const columns = types.map((type) => new ColumnCells(type))
  let rowCount = 0
  let size = 0
  let truncated = false

  const add = (chunk: DuckDBDataChunk): boolean => {
    const vectors = columns.map((column, index) => ({ column, vector: chunk.getColumnVector(index) }))
    // The count is asked of the engine each time.
    const { rowCount: count } = chunk
    for (let row = 0; row < count; row++) {
      if (rowCount >= bounds.maxRows) truncated = true
      if (truncated) return false
      for (const { column, vector } of vectors) size += column.add(column.read(vector.getItem(row)))
      if (size > bounds.maxBytes) {
        for (const { column } of vectors) column.cells.pop()
        truncated = true
        return false
      }
      rowCount++
    }
    return true
  }

  const finish = (): Written => {
    const distinct = ColumnNames.distinct(names)
    const arrow = tableFromColumns(
      columns.map((column, index) => [String(index), columnFromArray(column.cells, arrowType(column.type))])
    )
    return {
      columns: columns.map((column, index) => ({ name: distinct[index] ?? "", type: column.type })),
      rowCount,
      truncated,
      bytes: tableToIPC(arrow, { format: "stream" }) ?? new Uint8Array(0)
    }
  }

  return { add, finish }
}
