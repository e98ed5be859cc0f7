/**
 * Collects the rows of a result as an Arrow IPC stream that keeps the engine's types, for whoever reads it as a
 * dataframe.
 *
 * Integers, floats, booleans, decimals, dates, times, timestamps, text and binary are the same in Arrow. Integers of
 * 128 bits are 64 bits wide where all of them fit, else decimals of 38 digits, else text. Everything else is text:
 * lists, structs and maps as JSON. What is infinite in time is null.
 */
import * as ColumnNames from "@castellan/core/connector/ColumnNames"
import * as Duck from "@duckdb/node-api"
import * as Arrow from "@uwdata/flechette"
import { cellReader } from "./CellValue.ts"

type Cells = Arrow.Column<unknown>

/** A column as it grows. */
interface Growing {
  /** Adds a cell, and answers its size in bytes. */
  readonly add: (value: Duck.DuckDBValue) => number
  readonly finish: () => Cells
}

/** A column whose cells all have the same size. */
const fixed = <A>(size: number, type: Arrow.DataType, read: (value: Duck.DuckDBValue) => A | null): Growing => {
  const cells: Array<A | null> = []
  return {
    add: (value) => {
      cells.push(value === null ? null : read(value))
      return size
    },
    finish: () => Arrow.columnFromArray(cells, type)
  }
}

const same = (value: Duck.DuckDBValue): Duck.DuckDBValue => value
const wide = (value: Duck.DuckDBValue): bigint | null => (typeof value === "bigint" ? value : null)

/** Whole numbers of 64 bits that mean a moment: the library's own builder would take them through floating point. */
const moment = (
  unit: 0 | 1 | 2 | 3,
  timezone: string | null,
  read: (value: Duck.DuckDBValue) => bigint | null
): Growing => {
  const counts = fixed(8, Arrow.int64(), read)
  const type = Arrow.timestamp(unit, timezone)
  return {
    add: counts.add,
    finish: () => {
      const batches = counts.finish().data.map(
        ({ length, nullCount, validity, values }) =>
          new Arrow.Batch({
            length,
            nullCount,
            type,
            ...(validity === undefined ? {} : { validity }),
            ...(values === undefined ? {} : { values })
          })
      )
      return new Arrow.Column(batches, type)
    }
  }
}

const largest = 2n ** 63n
const largestDecimal = 10n ** 38n

/** Integers of which it is not known yet how wide they are. */
const unbounded = (): Growing => {
  const cells: Array<bigint | null> = []
  let [least, most] = [0n, 0n]
  return {
    add: (value) => {
      const cell = wide(value)
      cells.push(cell)
      if (cell === null) return 8
      if (cell < least) least = cell
      if (cell > most) most = cell
      return cell >= -largest && cell < largest ? 8 : 40
    },
    finish: () => {
      if (least >= -largest && most < largest) return Arrow.columnFromArray(cells, Arrow.int64())
      if (least > -largestDecimal && most < largestDecimal) {
        return Arrow.columnFromArray(cells, Arrow.decimal(38, 0, 128))
      }
      return Arrow.columnFromArray(
        cells.map((cell) => (cell === null ? null : String(cell))),
        Arrow.utf8()
      )
    }
  }
}

const binary = (): Growing => {
  const cells: Array<Uint8Array | null> = []
  return {
    add: (value) => {
      const cell = value instanceof Duck.DuckDBBlobValue ? value.bytes : null
      cells.push(cell)
      return 4 + (cell?.length ?? 0)
    },
    finish: () => Arrow.columnFromArray(cells, Arrow.binary())
  }
}

const text = (type: Duck.DuckDBType): Growing => {
  const read = cellReader(type)
  const cells: Array<string | null> = []
  return {
    add: (value) => {
      const cell = value === null ? null : read(value)
      cells.push(cell === null ? null : String(cell))
      return 4 + (cell === null ? 0 : Buffer.byteLength(String(cell)))
    },
    finish: () => Arrow.columnFromArray(cells, Arrow.utf8())
  }
}

const perDay = 86_400_000

const growing = (type: Duck.DuckDBType): Growing => {
  switch (type.typeId) {
    case Duck.DuckDBTypeId.BOOLEAN:
      return fixed(1, Arrow.bool(), same)
    case Duck.DuckDBTypeId.TINYINT:
      return fixed(1, Arrow.int8(), same)
    case Duck.DuckDBTypeId.SMALLINT:
      return fixed(2, Arrow.int16(), same)
    case Duck.DuckDBTypeId.INTEGER:
      return fixed(4, Arrow.int32(), same)
    case Duck.DuckDBTypeId.BIGINT:
      return fixed(8, Arrow.int64(), wide)
    case Duck.DuckDBTypeId.UTINYINT:
      return fixed(1, Arrow.uint8(), same)
    case Duck.DuckDBTypeId.USMALLINT:
      return fixed(2, Arrow.uint16(), same)
    case Duck.DuckDBTypeId.UINTEGER:
      return fixed(4, Arrow.uint32(), same)
    case Duck.DuckDBTypeId.UBIGINT:
      return fixed(8, Arrow.uint64(), wide)
    case Duck.DuckDBTypeId.HUGEINT:
    case Duck.DuckDBTypeId.UHUGEINT:
    case Duck.DuckDBTypeId.BIGNUM:
      return unbounded()
    case Duck.DuckDBTypeId.FLOAT:
      return fixed(4, Arrow.float32(), same)
    case Duck.DuckDBTypeId.DOUBLE:
      return fixed(8, Arrow.float64(), same)
    case Duck.DuckDBTypeId.DECIMAL:
      return fixed(16, Arrow.decimal(type.width, type.scale, 128), (value) =>
        value instanceof Duck.DuckDBDecimalValue ? value.value : null
      )
    case Duck.DuckDBTypeId.DATE:
      return fixed(4, Arrow.dateDay(), (value) =>
        value instanceof Duck.DuckDBDateValue && value.isFinite ? value.days * perDay : null
      )
    case Duck.DuckDBTypeId.TIME:
      return fixed(8, Arrow.timeMicrosecond(), (value) => (value instanceof Duck.DuckDBTimeValue ? value.micros : null))
    case Duck.DuckDBTypeId.TIME_NS:
      return fixed(8, Arrow.timeNanosecond(), (value) => (value instanceof Duck.DuckDBTimeNSValue ? value.nanos : null))
    case Duck.DuckDBTypeId.TIMESTAMP_S:
      return moment(0, null, (value) =>
        value instanceof Duck.DuckDBTimestampSecondsValue && value.isFinite ? value.seconds : null
      )
    case Duck.DuckDBTypeId.TIMESTAMP_MS:
      return moment(1, null, (value) =>
        value instanceof Duck.DuckDBTimestampMillisecondsValue && value.isFinite ? value.millis : null
      )
    case Duck.DuckDBTypeId.TIMESTAMP:
      return moment(2, null, (value) =>
        value instanceof Duck.DuckDBTimestampValue && value.isFinite ? value.micros : null
      )
    case Duck.DuckDBTypeId.TIMESTAMP_NS:
      return moment(3, null, (value) =>
        value instanceof Duck.DuckDBTimestampNanosecondsValue && value.isFinite ? value.nanos : null
      )
    case Duck.DuckDBTypeId.TIMESTAMP_TZ:
      return moment(2, "UTC", (value) =>
        value instanceof Duck.DuckDBTimestampTZValue && value.isFinite ? value.micros : null
      )
    case Duck.DuckDBTypeId.BLOB:
      return binary()
    default:
      return text(type)
  }
}

/** Collects a result. `add` answers false once there is more than `maxBytes`: then there is no result. */
export const make = (names: ReadonlyArray<string>, types: ReadonlyArray<Duck.DuckDBType>, maxBytes: number) => {
  const columns = types.map(growing)
  let rowCount = 0
  let size = 0

  const add = (chunk: Duck.DuckDBDataChunk): boolean => {
    // The count is asked of the engine each time.
    const { rowCount: count } = chunk
    for (const [index, column] of columns.entries()) {
      const vector = chunk.getColumnVector(index)
      for (let row = 0; row < count; row++) {
        size += column.add(vector.getItem(row))
        if (size > maxBytes) return false
      }
    }
    rowCount += count
    return true
  }

  const finish = (): { readonly rowCount: number; readonly bytes: Uint8Array } => {
    const distinct = ColumnNames.distinct(names)
    const table = Arrow.tableFromColumns(columns.map((column, index) => [distinct[index] ?? "", column.finish()]))
    return { rowCount, bytes: Arrow.tableToIPC(table, { format: "stream" }) ?? new Uint8Array(0) }
  }

  return { add, finish }
}
