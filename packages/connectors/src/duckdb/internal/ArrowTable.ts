/**
 * Makes a table of the engine out of an Arrow IPC stream.
 *
 * The stream was written by code that nobody vetted: this runs only inside a process of its own, where a stream that
 * lies about itself can spoil nothing but that process.
 *
 * | Arrow | here |
 * | --- | --- |
 * | integers, floats, booleans, decimals of up to 38 digits, text, binary, dates, times | the same |
 * | timestamps in nanoseconds, others, those with a time zone | TIMESTAMP_NS, TIMESTAMP, TIMESTAMPTZ |
 * | durations | INTERVAL |
 * | dictionaries, run-end encodings | what they stand for |
 * | lists, structs, maps, unions | text, as JSON |
 */
import * as ColumnNames from "@castellan/core/connector/ColumnNames"
import * as Duck from "@duckdb/node-api"
import { type Batch, type Column, type DataType, type Table, tableFromIPC } from "@uwdata/flechette"
import { EngineFailure } from "./EngineFailure.ts"
import { identifier } from "./SqlText.ts"
import * as SuppliedColumn from "./SuppliedColumn.ts"

/** How the cells of a column are kept. */
interface Kept {
  readonly type: Duck.DuckDBType
  /** Takes cells over as they lie in memory, where it can; absent where each has to be read. */
  readonly copy?: SuppliedColumn.Copy
  /** The engine's value of a cell that is not null. */
  readonly read: (cell: unknown) => Duck.DuckDBValue
}

/** The codes of Arrow's types and units, as the format has them. */
const code = {
  dictionary: -1,
  null: 1,
  integer: 2,
  float: 3,
  binary: 4,
  text: 5,
  boolean: 6,
  decimal: 7,
  date: 8,
  time: 9,
  timestamp: 10,
  list: 12,
  struct: 13,
  union: 14,
  fixedBinary: 15,
  fixedList: 16,
  map: 17,
  duration: 18,
  largeBinary: 19,
  largeText: 20,
  largeList: 21,
  runEnd: 22,
  binaryView: 23,
  textView: 24,
  listView: 25,
  largeListView: 26
} as const

const perDay = 86_400_000
/** Units of a date, and of times. */
const days = 0
const nanoseconds = 3

const numeric = (cell: unknown): number | null => (typeof cell === "number" ? cell : null)
const wide = (cell: unknown): bigint | null => (typeof cell === "bigint" ? cell : null)
const whole = (cell: unknown): bigint => {
  if (typeof cell === "bigint") return cell
  if (typeof cell === "number" && Number.isInteger(cell)) return BigInt(cell)
  throw new TypeError(`a whole number is a ${typeof cell}`)
}

/** A count of seconds, milliseconds, microseconds or nanoseconds (units 0 to 3) as microseconds. */
const micros = (cell: unknown, unit: number): bigint => {
  const count = whole(cell)
  return unit === nanoseconds ? count / 1000n : count * 10n ** BigInt(6 - 3 * unit)
}

const integer = (bitWidth: number, signed: boolean): Kept => {
  switch (bitWidth) {
    case 8:
      return { type: signed ? Duck.TINYINT : Duck.UTINYINT, read: numeric, copy: SuppliedColumn.same(1) }
    case 16:
      return { type: signed ? Duck.SMALLINT : Duck.USMALLINT, read: numeric, copy: SuppliedColumn.same(2) }
    case 32:
      return { type: signed ? Duck.INTEGER : Duck.UINTEGER, read: numeric, copy: SuppliedColumn.same(4) }
    default:
      return { type: signed ? Duck.BIGINT : Duck.UBIGINT, read: wide, copy: SuppliedColumn.same(8) }
  }
}

const plain = (_key: string, value: unknown): unknown => {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value
}

const text: Kept = { type: Duck.VARCHAR, read: (cell) => (typeof cell === "string" ? cell : null) }
const bytes: Kept = {
  type: Duck.BLOB,
  read: (cell) => (cell instanceof Uint8Array ? new Duck.DuckDBBlobValue(cell) : null)
}
const json: Kept = { type: Duck.VARCHAR, read: (cell) => JSON.stringify(cell, plain) ?? null }

/** How counts of a unit (0 to 3, as above) become microseconds. */
const copyMicros = (unit: number): SuppliedColumn.Copy => {
  switch (unit) {
    case 0:
      return SuppliedColumn.multiplied(1_000_000n)
    case 1:
      return SuppliedColumn.multiplied(1000n)
    case 2:
      return SuppliedColumn.same(8)
    default:
      return SuppliedColumn.thousandths
  }
}

/** The same for cells that stand elsewhere than their column: each is read, but those that are texts can be copied. */
const apart = (way: Kept | undefined, copyTexts?: SuppliedColumn.Copy): Kept | undefined =>
  way === undefined
    ? undefined
    : { type: way.type, read: way.read, ...(way.type === Duck.VARCHAR && copyTexts ? { copy: copyTexts } : {}) }

/** How a column of an Arrow type is kept; undefined where it cannot be. */
const kept = (type: DataType): Kept | undefined => {
  switch (type.typeId) {
    case code.null:
      return { type: Duck.VARCHAR, read: () => null }
    case code.integer:
      return integer(type.bitWidth, type.signed)
    case code.float:
      if (type.precision === 2) return { type: Duck.DOUBLE, read: numeric, copy: SuppliedColumn.same(8) }
      // Those of 16 bits become wider.
      return { type: Duck.FLOAT, read: numeric, ...(type.precision === 1 ? { copy: SuppliedColumn.same(4) } : {}) }
    case code.boolean:
      return {
        type: Duck.BOOLEAN,
        read: (cell) => (typeof cell === "boolean" ? cell : null),
        copy: SuppliedColumn.booleans
      }
    case code.decimal: {
      const { precision, scale } = type
      if (precision > 38 || precision < 1 || scale < 0 || scale > precision) return undefined
      return {
        type: Duck.DECIMAL(precision, scale),
        read: (cell) => new Duck.DuckDBDecimalValue(whole(cell), precision, scale),
        ...(type.bitWidth === 128 ? { copy: SuppliedColumn.decimals(precision) } : {})
      }
    }
    case code.date:
      return {
        type: Duck.DATE,
        read: (cell) => (typeof cell === "number" ? new Duck.DuckDBDateValue(Math.floor(cell / perDay)) : null),
        ...(type.unit === days ? { copy: SuppliedColumn.same(4) } : {})
      }
    case code.time:
      return {
        type: Duck.TIME,
        read: (cell) => new Duck.DuckDBTimeValue(micros(cell, type.unit)),
        ...(type.bitWidth === 64 ? { copy: copyMicros(type.unit) } : {})
      }
    case code.timestamp:
      if (type.timezone !== null && type.timezone !== undefined) {
        return {
          type: Duck.TIMESTAMPTZ,
          read: (cell) => new Duck.DuckDBTimestampTZValue(micros(cell, type.unit)),
          copy: copyMicros(type.unit)
        }
      }
      return type.unit === nanoseconds
        ? {
            type: Duck.TIMESTAMP_NS,
            read: (cell) => new Duck.DuckDBTimestampNanosecondsValue(whole(cell)),
            copy: SuppliedColumn.same(8)
          }
        : {
            type: Duck.TIMESTAMP,
            read: (cell) => new Duck.DuckDBTimestampValue(micros(cell, type.unit)),
            copy: copyMicros(type.unit)
          }
    case code.duration:
      return {
        type: Duck.INTERVAL,
        read: (cell) => new Duck.DuckDBIntervalValue(0, 0, micros(cell, type.unit))
      }
    case code.text:
    case code.largeText:
      return { ...text, copy: SuppliedColumn.texts }
    case code.textView:
      return text
    case code.binary:
    case code.largeBinary:
      return { ...bytes, copy: SuppliedColumn.binary }
    case code.binaryView:
    case code.fixedBinary:
      return bytes
    case code.dictionary:
      return apart(kept(type.dictionary), SuppliedColumn.chosen)
    case code.runEnd:
      return apart(kept(type.children[1].type))
    case code.list:
    case code.largeList:
    case code.listView:
    case code.largeListView:
    case code.fixedList:
    case code.struct:
    case code.map:
    case code.union:
      return json
    default:
      return undefined
  }
}

const parsed = (name: string, content: Uint8Array): Table => {
  try {
    // A copy, because Arrow reads its columns in place and needs them aligned.
    return tableFromIPC(new Uint8Array(content), { useBigInt: true, useBigIntTimestamp: true, useDecimalInt: true })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new EngineFailure("unreadable", `the table ${JSON.stringify(name)} is no Arrow IPC stream: ${reason}`)
  }
}

/** The engine tells columns apart without regard to case, and has none without a name. */
const columnNames = (names: ReadonlyArray<unknown>): ReadonlyArray<string> => {
  const written = names.map((name, index) => (String(name) === "" ? `column_${index + 1}` : String(name)))
  const distinct = ColumnNames.distinct(written.map((name) => name.toLowerCase()))
  return written.map((name, index) => {
    const free = distinct[index] ?? name
    return free === name.toLowerCase() ? name : free
  })
}

const chunksPerTurn = 16

/** Lets what came in meanwhile be seen: a request to stop, most of all. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/**
 * Creates the table `name` and fills it with the rows of a stream.
 *
 * @param stopped says whether the request was cancelled meanwhile
 */
export const load = async (
  connection: Duck.DuckDBConnection,
  name: string,
  content: Uint8Array,
  stopped: () => boolean
): Promise<void> => {
  const arrow = parsed(name, content)
  const { schema } = arrow
  const columns: ReadonlyArray<Column<unknown>> = schema.fields.map((_, index) => arrow.getChildAt(index))
  if (columns.length === 0) {
    throw new EngineFailure("unreadable", `the table ${JSON.stringify(name)} has no columns`)
  }
  const ways = schema.fields.map((field) => {
    const way = kept(field.type)
    if (way !== undefined) return way
    const column = JSON.stringify(field.name)
    throw new EngineFailure(
      "unreadable",
      `the column ${column} of the table ${JSON.stringify(name)} has a type that is not supported`
    )
  })
  const names = columnNames(schema.fields.map((field) => field.name))
  const definitions = names.map((column, index) => `${identifier(column)} ${String(ways[index]?.type)}`)
  await connection.run(`CREATE TABLE ${identifier(name)} (${definitions.join(", ")})`)
  const appender = await connection.createAppender(name)
  await append(appender, name, columns, ways, stopped)
  appender.closeSync()
}

const append = async (
  appender: Duck.DuckDBAppender,
  name: string,
  columns: ReadonlyArray<Column<unknown>>,
  ways: ReadonlyArray<Kept>,
  stopped: () => boolean
): Promise<void> => {
  let chunks = 0
  for await (const { batches, end, start } of parts(name, columns)) {
    appender.appendDataChunk(chunkOf(batches, ways, start, end))
    chunks++
    if (chunks % chunksPerTurn === 0) await turn()
    if (stopped()) throw new EngineFailure("cancelled", "the statement was stopped")
  }
}

interface Part {
  readonly batches: ReadonlyArray<Batch<unknown>>
  readonly start: number
  readonly end: number
}

/** The rows of a stream in parts that the engine takes at once. */
const parts = function* (name: string, columns: ReadonlyArray<Column<unknown>>): Generator<Part> {
  const [first] = columns
  for (let index = 0; index < (first?.data.length ?? 0); index++) {
    const batches = columns.flatMap(({ data }) => data[index] ?? [])
    const length = batches[0]?.length ?? 0
    if (batches.length !== columns.length || batches.some((batch) => batch.length !== length)) {
      throw new EngineFailure("unreadable", `the columns of the table ${JSON.stringify(name)} are not equally long`)
    }
    for (let start = 0; start < length; start += SuppliedColumn.rowsPerChunk) {
      yield { batches, start, end: Math.min(start + SuppliedColumn.rowsPerChunk, length) }
    }
  }
}

/**
 * What the reader of Arrow leaves out of a text: it takes a byte order mark that begins one for a sign of its encoding.
 * Only texts that stand in their column themselves are looked at, not those of a dictionary, a list or a view.
 */
const markBefore = ({ offsets, type, values }: Batch<unknown>, row: number): string => {
  if (type.typeId !== code.text && type.typeId !== code.largeText) return ""
  const at = Number(offsets[row])
  const isMark = values[at] === 0xef && values[at + 1] === 0xbb && values[at + 2] === 0xbf
  return isMark && Number(offsets[row + 1]) >= at + 3 ? "\ufeff" : ""
}

const chunkOf = (
  batches: ReadonlyArray<Batch<unknown>>,
  ways: ReadonlyArray<Kept>,
  start: number,
  end: number
): Duck.DuckDBDataChunk => {
  const chunk = Duck.DuckDBDataChunk.create(
    ways.map(({ type }) => type),
    end - start
  )
  for (const [index, way] of ways.entries()) {
    const batch = batches[index]
    if (batch !== undefined && way.copy?.(batch, start, end, { chunk, index }) === true) continue
    const values: Array<Duck.DuckDBValue> = []
    for (let row = start; row < end; row++) {
      const cell: unknown = batch?.at(row)
      if (batch === undefined || cell === null || cell === undefined) values.push(null)
      else values.push(way.read(typeof cell === "string" ? markBefore(batch, row) + cell : cell))
    }
    chunk.setColumnValues(index, values)
  }
  return chunk
}
