/**
 * Tables of Arrow IPC streams, for tests of streams that they made themselves. No host may read a stream of a sandbox
 * so: one that was tampered with had this decoder take gigabytes. Streams of sandboxes go to the SQL executor's process.
 */
import type { Column, ColumnType, ResultTable, Value } from "@castellan/core/connector/ResultTable"
import { type DataType, tableFromIPC, Type } from "@uwdata/flechette"
import * as Result from "effect/Result"

/** Bounds of a table. */
export interface TableBounds {
  readonly rows: number
  readonly columns: number
}

const typeOf = (type: DataType): ColumnType => {
  switch (type.typeId) {
    case Type.Int:
      return "integer"
    case Type.Float:
      return "number"
    case Type.Bool:
      return "boolean"
    case Type.Decimal:
      return "decimal"
    case Type.Date:
      return "date"
    case Type.Timestamp:
      return "timestamp"
    case Type.Dictionary:
      return typeOf(type.dictionary)
    case Type.List:
    case Type.LargeList:
    case Type.FixedSizeList:
    case Type.Struct:
    case Type.Map:
      return "json"
    default:
      return "text"
  }
}

const json = (cell: unknown): string =>
  JSON.stringify(cell, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value)) ?? "null"

/** Units of a timestamp in a second. */
const perSecond = [1n, 1_000n, 1_000_000n, 1_000_000_000n]

const epoch = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\.\d{3}Z$/u

/** An instant, to the microsecond. */
const instant = (ticks: bigint, type: Extract<DataType, { readonly typeId: typeof Type.Timestamp }>): string | null => {
  const unit = perSecond[type.unit] ?? 1n
  const microseconds = (ticks * 1_000_000n) / unit
  const rest = ((microseconds % 1_000_000n) + 1_000_000n) % 1_000_000n
  const date = new Date(Number((microseconds - rest) / 1000n))
  const parts = Number.isNaN(date.getTime()) ? null : epoch.exec(date.toISOString())
  if (parts === null) return null
  const fraction = rest === 0n ? "" : `.${String(rest).padStart(6, "0").replace(/0+$/u, "")}`
  return `${parts[1] ?? ""}T${parts[2] ?? ""}${fraction}${type.timezone === null ? "" : "Z"}`
}

/** An exact decimal of its digits. */
const decimal = (digits: bigint, scale: number): string => {
  if (scale <= 0) return String(digits * 10n ** BigInt(Math.min(-scale, 100)))
  const text = String(digits < 0n ? -digits : digits).padStart(scale + 1, "0")
  return `${digits < 0n ? "-" : ""}${text.slice(0, -scale)}.${text.slice(-scale)}`
}

/** A day of its milliseconds since 1970. */
const day = (value: unknown): string | null => {
  if (typeof value !== "number" && typeof value !== "bigint") return null
  const date = new Date(Number(value))
  const text = Number.isNaN(date.getTime()) ? "" : date.toISOString().slice(0, 10)
  return /^\d{4}-\d\d-\d\d$/u.test(text) ? text : null
}

/** A cell as the port's tables have it. What no such table has is null, as not-a-number is. */
const cellOf = (type: DataType, cell: unknown): Value => {
  if (cell === null || cell === undefined) return null
  switch (type.typeId) {
    case Type.Bool:
      return typeof cell === "boolean" ? cell : null
    case Type.Int:
    case Type.Float:
      if (typeof cell === "bigint") return Number.isSafeInteger(Number(cell)) ? Number(cell) : String(cell)
      return typeof cell === "number" && Number.isFinite(cell) ? cell : null
    case Type.Decimal:
      return typeof cell === "bigint" ? decimal(cell, type.scale) : String(cell)
    case Type.Date:
      return day(cell)
    case Type.Timestamp:
      return typeof cell === "bigint" ? instant(cell, type) : null
    case Type.Dictionary:
      return cellOf(type.dictionary, cell)
    default:
      if (typeof cell === "string") return cell
      return typeof cell === "bigint" || typeof cell === "number" ? String(cell) : json(cell)
  }
}

/** Integers that a double does not hold make their column one of decimals. */
const settled = (type: ColumnType, cells: ReadonlyArray<Value>): readonly [ColumnType, ReadonlyArray<Value>] =>
  type === "integer" && cells.some((cell) => typeof cell === "string")
    ? ["decimal", cells.map((cell) => (cell === null ? null : String(cell)))]
    : [type, cells]

/** The table of a stream; rows beyond the bound are left out, and said to be. Fails with why it is none. */
export const decode = (bytes: Uint8Array, bounds: TableBounds): Result.Result<ResultTable, string> =>
  Result.try({
    try: () => {
      // A copy, because its columns are read in place and need to be aligned.
      const arrow = tableFromIPC(new Uint8Array(bytes), {
        useBigInt: true,
        useBigIntTimestamp: true,
        useDecimalInt: true
      })
      if (arrow.numCols === 0 || arrow.numCols > bounds.columns) throw new Error(`it has ${arrow.numCols} columns`)
      const rows = Math.min(arrow.numRows, bounds.rows)
      const columns: Array<Column> = []
      const values = arrow.schema.fields.map(({ name, type }, index) => {
        const column = arrow.getChildAt(index)
        const read = Array.from({ length: rows }, (_, row): Value => cellOf(type, column.at(row)))
        const [told, cells] = settled(typeOf(type), read)
        columns.push({ name, type: told })
        return cells
      })
      return {
        columns,
        rows: Array.from({ length: rows }, (_, row) => values.map((cells) => cells[row] ?? null)),
        truncated: arrow.numRows > rows
      }
    },
    catch: (error) => (error instanceof Error ? error.message : "it is no stream")
  })
