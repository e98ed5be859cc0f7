/**
 * Collects the rows of a result as an Arrow IPC stream that keeps the engine's types, for whoever reads it as a
 * dataframe.
 *
 * Integers, floats, booleans, decimals, dates, times, timestamps, text and binary are the same in Arrow. Integers of
 * 128 bits are 64 bits wide where all of them fit, else decimals of 38 digits, else text. Everything else is text:
 * lists, structs and maps as JSON. What is infinite in time is null.
 *
 * Cells go from the engine's memory into that of the stream, a vector at a time; only what Arrow has as text and the
 * engine has not is read one by one. What is collected is outside of JavaScript's heap, and there once.
 */
import * as ColumnNames from "@castellan/core/connector/ColumnNames"
import * as Duck from "@duckdb/node-api"
import * as Arrow from "@uwdata/flechette"
import type { ArrowColumn } from "./ArrowColumn.ts"
import * as BooleanColumn from "./BooleanColumn.ts"
import * as FixedColumn from "./FixedColumn.ts"
import * as TextColumn from "./TextColumn.ts"
import * as WideColumn from "./WideColumn.ts"

const columnFor = (type: Duck.DuckDBType): ArrowColumn => {
  switch (type.typeId) {
    case Duck.DuckDBTypeId.BOOLEAN:
      return BooleanColumn.make()
    case Duck.DuckDBTypeId.TINYINT:
      return FixedColumn.same(1, Arrow.int8())
    case Duck.DuckDBTypeId.SMALLINT:
      return FixedColumn.same(2, Arrow.int16())
    case Duck.DuckDBTypeId.INTEGER:
      return FixedColumn.same(4, Arrow.int32())
    case Duck.DuckDBTypeId.BIGINT:
      return FixedColumn.same(8, Arrow.int64())
    case Duck.DuckDBTypeId.UTINYINT:
      return FixedColumn.same(1, Arrow.uint8())
    case Duck.DuckDBTypeId.USMALLINT:
      return FixedColumn.same(2, Arrow.uint16())
    case Duck.DuckDBTypeId.UINTEGER:
      return FixedColumn.same(4, Arrow.uint32())
    case Duck.DuckDBTypeId.UBIGINT:
      return FixedColumn.same(8, Arrow.uint64())
    case Duck.DuckDBTypeId.HUGEINT:
    case Duck.DuckDBTypeId.UHUGEINT:
    case Duck.DuckDBTypeId.BIGNUM:
      return WideColumn.make(type)
    case Duck.DuckDBTypeId.FLOAT:
      return FixedColumn.same(4, Arrow.float32())
    case Duck.DuckDBTypeId.DOUBLE:
      return FixedColumn.same(8, Arrow.float64())
    case Duck.DuckDBTypeId.DECIMAL:
      return FixedColumn.decimals(type.width, Arrow.decimal(type.width, type.scale, 128))
    case Duck.DuckDBTypeId.DATE:
      return FixedColumn.days(Arrow.dateDay())
    case Duck.DuckDBTypeId.TIME:
      return FixedColumn.same(8, Arrow.timeMicrosecond())
    case Duck.DuckDBTypeId.TIME_NS:
      return FixedColumn.same(8, Arrow.timeNanosecond())
    case Duck.DuckDBTypeId.TIMESTAMP_S:
      return FixedColumn.moments(Arrow.timestamp(0))
    case Duck.DuckDBTypeId.TIMESTAMP_MS:
      return FixedColumn.moments(Arrow.timestamp(1))
    case Duck.DuckDBTypeId.TIMESTAMP:
      return FixedColumn.moments(Arrow.timestamp(2))
    case Duck.DuckDBTypeId.TIMESTAMP_NS:
      return FixedColumn.moments(Arrow.timestamp(3))
    case Duck.DuckDBTypeId.TIMESTAMP_TZ:
      return FixedColumn.moments(Arrow.timestamp(2, "UTC"))
    case Duck.DuckDBTypeId.BLOB:
      return TextColumn.copied(Arrow.binary())
    case Duck.DuckDBTypeId.VARCHAR:
      return TextColumn.copied(Arrow.utf8())
    case Duck.DuckDBTypeId.ENUM:
      return TextColumn.enumerated(type)
    default:
      return TextColumn.written(type)
  }
}

/** Rows of a batch: few enough that a column of it is moved cheaply as it grows, and enough that batches are few. */
const batchRows = 65_536

/** Bytes after which a batch ends: where a text begins in it is told with 31 bits. */
const batchBytes = 64 * 1024 * 1024

/** A result, ready to be sent. */
export interface Collected {
  readonly rowCount: number
  /** The stream, in parts. */
  readonly parts: ReadonlyArray<Uint8Array>
}

/** Takes the parts of a stream as they are, without putting them together. */
const sinkOf = (parts: Array<Uint8Array>) => ({
  write: (bytes: Uint8Array): void => {
    parts.push(bytes)
  },
  pad: (count: number): void => {
    parts.push(new Uint8Array(count))
  },
  finish: () => null
})

/** Collects a result. `add` answers false once there is more than `maxBytes`: then there is no result. */
export const make = (names: ReadonlyArray<string>, types: ReadonlyArray<Duck.DuckDBType>, maxBytes: number) => {
  const columns = types.map(columnFor)
  let rowCount = 0
  let size = 0
  let batch = { rows: 0, size: 0 }

  const seal = (): void => {
    for (const column of columns) column.seal()
    batch = { rows: 0, size: 0 }
  }

  const add = (chunk: Duck.DuckDBDataChunk): boolean => {
    // The count is asked of the engine each time.
    const { rowCount: count } = chunk
    if (batch.rows + count > batchRows || batch.size > batchBytes) seal()
    const before = size
    for (const [index, column] of columns.entries()) {
      size += column.add(chunk, index, count, maxBytes - size)
      if (size > maxBytes) return false
    }
    batch.rows += count
    batch.size += size - before
    rowCount += count
    return true
  }

  const finish = (): Collected => {
    seal()
    const distinct = ColumnNames.distinct(names)
    const table = Arrow.tableFromColumns(columns.map((column, index) => [distinct[index] ?? "", column.finish()]))
    const parts: Array<Uint8Array> = []
    Arrow.tableToIPC(table, { format: "stream", sink: sinkOf(parts) })
    return { rowCount, parts }
  }

  return { add, finish }
}
