/**
 * Cells of a table as the buffers of Arrow columns. A column whose cells are not all what its type says becomes text, so
 * that nothing is lost and nothing made up.
 */
import type { ColumnType, Value } from "@castellan/core/connector/ResultTable"
import {
  Batch,
  bool,
  type DataType,
  dateDay,
  decimal128,
  float64,
  int64,
  timestamp,
  TimeUnit,
  utf8
} from "@uwdata/flechette"

type Cells = ReadonlyArray<Value>

/** A batch of a column, and its type. */
export interface ColumnBatch {
  readonly type: DataType
  readonly batch: Batch<unknown>
}

type Typed = BigInt64Array | BigUint64Array | Float64Array | Int32Array | Uint8Array

const setBit = (bits: Uint8Array, index: number): void => {
  bits[index >> 3] = (bits[index >> 3] ?? 0) | (1 << (index & 7))
}

const bitmap = (length: number): Uint8Array => new Uint8Array((length + 7) >> 3)

/** Which cells are there, where some are not. */
const validityOf = (cells: Cells): { readonly nullCount: number; readonly validity: Uint8Array } => {
  const validity = bitmap(cells.length)
  let nullCount = 0
  for (let index = 0; index < cells.length; index++) {
    if (cells[index] === null) nullCount += 1
    else setBit(validity, index)
  }
  return { nullCount, validity: nullCount === 0 ? new Uint8Array(0) : validity }
}

const batchOf = (cells: Cells, type: DataType, values: Typed, offsets?: Int32Array): ColumnBatch => ({
  type,
  batch: new Batch({
    length: cells.length,
    type,
    ...validityOf(cells),
    values,
    ...(offsets === undefined ? {} : { offsets })
  })
})

/** Text: the bytes of all cells one after another. */
const textOf = (cells: Cells): ColumnBatch => {
  const offsets = new Int32Array(cells.length + 1)
  let bytes = Buffer.allocUnsafe(Math.max(64, cells.length * 16))
  let at = 0
  for (let index = 0; index < cells.length; index++) {
    const cell = cells[index]
    if (cell !== null && cell !== undefined) {
      const text = typeof cell === "string" ? cell : String(cell)
      // UTF-8 has at most three bytes for each unit of UTF-16.
      if (at + text.length * 3 > bytes.length) {
        const larger = Buffer.allocUnsafe(bytes.length * 2 + text.length * 3)
        bytes.copy(larger, 0, 0, at)
        bytes = larger
      }
      at += bytes.write(text, at)
    }
    offsets[index + 1] = at
  }
  return batchOf(cells, utf8(), bytes.subarray(0, at), offsets)
}

const numbersOf = (cells: Cells): ColumnBatch | undefined => {
  const values = new Float64Array(cells.length)
  for (let index = 0; index < cells.length; index++) {
    const cell = cells[index] ?? null
    if (cell === null) continue
    if (typeof cell !== "number") return undefined
    values[index] = cell
  }
  return batchOf(cells, float64(), values)
}

const integersOf = (cells: Cells): ColumnBatch | undefined => {
  // The two halves of each integer: far cheaper than a BigInt for each.
  const halves = new Int32Array(cells.length * 2)
  for (let index = 0; index < cells.length; index++) {
    const cell = cells[index] ?? null
    if (cell === null) continue
    if (typeof cell !== "number") return undefined
    const low = cell | 0
    if (low === cell) {
      halves[index * 2] = low
      halves[index * 2 + 1] = low < 0 ? -1 : 0
      continue
    }
    if (!Number.isSafeInteger(cell)) return undefined
    // The conversion to 32 bits takes the number modulo 2^32, and what is left is a multiple of it.
    halves[index * 2] = low
    halves[index * 2 + 1] = Math.floor(cell / 4_294_967_296)
  }
  return batchOf(cells, int64(), new BigInt64Array(halves.buffer))
}

const booleansOf = (cells: Cells): ColumnBatch | undefined => {
  const values = bitmap(cells.length)
  for (let index = 0; index < cells.length; index++) {
    const cell = cells[index] ?? null
    if (cell === null) continue
    if (typeof cell !== "boolean") return undefined
    if (cell) setBit(values, index)
  }
  return batchOf(cells, bool(), values)
}

const dayMilliseconds = 86_400_000

const lengths: ReadonlyArray<number> = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

const isLeap = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)

/** Milliseconds since 1970 of a day of the Gregorian calendar, where there is such a day. */
const millisecondsOf = (year: number, month: number, day: number): number | undefined => {
  const length = (lengths[month - 1] ?? 0) + (month === 2 && isLeap(year) ? 1 : 0)
  if (day < 1 || day > length) return undefined
  // Years that begin in March have their leap day last, so that the days before a month follow one formula.
  const shifted = month > 2 ? year : year - 1
  const era = Math.floor(shifted / 400)
  const ofEra = shifted - era * 400
  const ofYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1
  const days = era * 146_097 + ofEra * 365 + Math.floor(ofEra / 4) - Math.floor(ofEra / 100) + ofYear - 719_468
  return days * dayMilliseconds
}

/** Days since 1970 of a date, where there is such a date. */
const daysOf = (text: string): number | undefined => {
  const parts = /^(\d{4})-(\d\d)-(\d\d)$/u.exec(text)
  const time = parts === null ? undefined : millisecondsOf(Number(parts[1]), Number(parts[2]), Number(parts[3]))
  return time === undefined ? undefined : time / dayMilliseconds
}

const datesOf = (cells: Cells): ColumnBatch | undefined => {
  const values = new Int32Array(cells.length)
  // A column has few days and many rows.
  const known = new Map<string, number>()
  for (let index = 0; index < cells.length; index++) {
    const cell = cells[index] ?? null
    if (cell === null) continue
    if (typeof cell !== "string") return undefined
    let days = known.get(cell)
    if (days === undefined) {
      days = daysOf(cell)
      if (days === undefined) return undefined
      if (known.size < 50_000) known.set(cell, days)
    }
    values[index] = days
  }
  return batchOf(cells, dateDay(), values)
}

const instant = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6})\d*)?)?(Z|[+-]\d\d(?::?\d\d)?)?$/u

/** Minutes that a zone is ahead of UTC. */
const minutesOf = (zone: string): number => {
  if (zone === "Z") return 0
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3).replace(":", "") || "0")
  return zone.startsWith("-") ? -minutes : minutes
}

const timestampsOf = (cells: Cells): ColumnBatch | undefined => {
  const values = new BigInt64Array(cells.length)
  let zoned: boolean | undefined
  for (let index = 0; index < cells.length; index++) {
    const cell = cells[index] ?? null
    if (cell === null) continue
    const parts = typeof cell === "string" ? instant.exec(cell) : null
    if (parts === null) return undefined
    const [, year, month, day, hour, minute, second = "0", fraction = "", zone] = parts
    const date = millisecondsOf(Number(year), Number(month), Number(day))
    if (date === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined
    const hasZone = zone !== undefined
    // Times of a zone and times of none are not the same kind of thing.
    if (zoned !== undefined && zoned !== hasZone) return undefined
    zoned = hasZone
    const minutes = Number(hour) * 60 + Number(minute) - (zone === undefined ? 0 : minutesOf(zone))
    const milliseconds = date + (minutes * 60 + Number(second)) * 1000
    values[index] = BigInt(milliseconds) * 1000n + BigInt(fraction.padEnd(6, "0"))
  }
  return batchOf(cells, timestamp(TimeUnit.MICROSECOND, zoned === true ? "UTC" : null), values)
}

/** Digits of an Arrow decimal of 128 bits. */
const decimalDigits = 38

const decimalsOf = (cells: Cells): ColumnBatch | undefined => {
  let scale = 0
  let whole = 1
  for (const cell of cells) {
    if (cell === null) continue
    const parts = typeof cell === "string" ? /^[+-]?(\d+)(?:\.(\d+))?$/u.exec(cell) : null
    if (parts === null) return undefined
    scale = Math.max(scale, parts[2]?.length ?? 0)
    whole = Math.max(whole, (parts[1] ?? "").replace(/^0+/u, "").length)
  }
  if (scale + whole > decimalDigits) return undefined
  const values = new BigUint64Array(cells.length * 2)
  for (const [index, cell] of cells.entries()) {
    if (typeof cell !== "string") continue
    const [integer = "", fraction = ""] = cell.split(".")
    const value = BigInt(`${integer.replace("+", "")}${fraction.padEnd(scale, "0")}`)
    values[index * 2] = BigInt.asUintN(64, value)
    values[index * 2 + 1] = BigInt.asUintN(64, value >> 64n)
  }
  return batchOf(cells, decimal128(scale + whole, scale), values)
}

const builders: { readonly [Type in ColumnType]?: (cells: Cells) => ColumnBatch | undefined } = {
  boolean: booleansOf,
  date: datesOf,
  decimal: decimalsOf,
  integer: integersOf,
  number: numbersOf,
  timestamp: timestampsOf
}

/** The batch of a column. */
export const batch = (type: ColumnType, cells: Cells): ColumnBatch => builders[type]?.(cells) ?? textOf(cells)
