/**
 * Columns of Arrow that the engine takes over as they lie in memory, or nearly so, a chunk at a time. Whatever is not as
 * it must be is left to the slower way, which reads one cell after another.
 *
 * What came may be hostile: nothing is copied that is not there, and no text is let in that is not UTF-8.
 */
import type { DuckDBDataChunk } from "@duckdb/node-api"
import type { Batch } from "@uwdata/flechette"
import { isUtf8 } from "node:buffer"
import * as VectorMemory from "./VectorMemory.ts"

/** Rows of a chunk, at most. */
export const rowsPerChunk = 2048

/** Where cells go: a column of a chunk that has as many rows as are copied, and nothing in it. */
export interface Target {
  readonly chunk: DuckDBDataChunk
  readonly index: number
}

/** Copies the cells from `start`, a multiple of the rows of a chunk, to `end`; false where they have to be read. */
export type Copy = (batch: Batch<unknown>, start: number, end: number, target: Target) => boolean

/** The widest cells of a chunk, which are made here and copied from here. */
const scratch = new Uint8Array(rowsPerChunk * VectorMemory.textWidth)
const words = new Int32Array(scratch.buffer)
const halves = new Int16Array(scratch.buffer)
const longs = new BigInt64Array(scratch.buffer)
const bits = new Uint8Array(rowsPerChunk / 8)
/** Which text of a dictionary each row has, or that it has none. */
const chosenPlaces = new Int32Array(rowsPerChunk)
const none = -1

const bytesOf = ({ values }: Batch<unknown>): Uint8Array =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength)

const viewOf = ({ buffer, byteLength, byteOffset }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength)

/** The words of the cells from `start` to `end`, of so many words each; nothing where there are fewer. */
const wordsOf = ({ values }: Batch<unknown>, start: number, end: number, each: number): Int32Array | undefined => {
  const at = values.byteOffset + start * each * 4
  return at % 4 !== 0 || values.byteLength < end * each * 4
    ? undefined
    : new Int32Array(values.buffer, at, (end - start) * each)
}

/** The same column with its nulls, which lie in memory as the engine's do. */
const withNulls =
  (copy: Copy): Copy =>
  (batch, start, end, target) => {
    const { nullCount, validity } = batch
    if (nullCount === 0) return copy(batch, start, end, target)
    const last = Math.ceil(end / 8)
    if (validity.length < last || !copy(batch, start, end, target)) return false
    VectorMemory.writeValidity(target.chunk, target.index, validity.subarray(start / 8, last))
    return true
  }

/** Writes the first bytes of what was made. */
const write = ({ chunk, index }: Target, bytes: number): true => {
  VectorMemory.write(chunk, index, scratch.subarray(0, bytes))
  return true
}

/** Cells of a width in bytes, which the engine has as Arrow does. */
export const same = (width: number): Copy =>
  withNulls((batch, start, end, { chunk, index }) => {
    const bytes = bytesOf(batch)
    if (bytes.length < end * width) return false
    VectorMemory.write(chunk, index, bytes.subarray(start * width, end * width))
    return true
  })

/** Booleans: a bit each in Arrow, a byte in the engine. */
export const booleans: Copy = withNulls((batch, start, end, target) => {
  const bytes = bytesOf(batch)
  if (bytes.length < Math.ceil(end / 8) || VectorMemory.booleanWidth !== 1) return false
  for (let row = start; row < end; row++) scratch[row - start] = ((bytes[row >> 3] ?? 0) >> (row & 7)) & 1
  return write(target, end - start)
})

/** Counts of 64 bits, so many times as large. */
export const multiplied = (factor: bigint): Copy =>
  withNulls((batch, start, end, target) => {
    const { values } = batch
    if (!(values instanceof BigInt64Array) || values.length < end) return false
    for (let row = start; row < end; row++) longs[row - start] = (values[row] ?? 0n) * factor
    return write(target, (end - start) * 8)
  })

const word = 2 ** 32

/** Counts of 64 bits, a thousandth of each, toward zero: in halves, because large integers are slow. */
export const thousandths: Copy = withNulls((batch, start, end, target) => {
  const from = wordsOf(batch, start, end, 2)
  if (from === undefined) return false
  for (let at = 0; at < from.length; at += 2) {
    const high = from[at + 1] ?? 0
    let upper = Math.floor(high / 1000)
    const rest = (high - upper * 1000) * word + ((from[at] ?? 0) >>> 0)
    let lower = Math.floor(rest / 1000)
    if (high < 0 && lower * 1000 !== rest) {
      lower += 1
      if (lower === word) {
        lower = 0
        upper += 1
      }
    }
    words[at] = lower
    words[at + 1] = upper
  }
  return write(target, (end - start) * 8)
})

/** Decimals of 128 bits, which the engine has in as many bytes as their digits need: 2, 4, 8 or 16. */
export const decimals = (precision: number): Copy => {
  if (precision > 18) return same(16)
  return withNulls((batch, start, end, target) => {
    const from = wordsOf(batch, start, end, 4)
    if (from === undefined) return false
    for (let row = 0; row < end - start; row++) {
      const at = 4 * row
      const low = from[at] ?? 0
      const next = from[at + 1] ?? 0
      const sign = next >> 31
      if (from[at + 2] !== sign || from[at + 3] !== sign) return false
      if (precision > 9) {
        words[2 * row] = low
        words[2 * row + 1] = next
      } else {
        if (next !== low >> 31) return false
        if (precision > 4) words[row] = low
        else if (low === (low << 16) >> 16) halves[row] = low
        else return false
      }
    }
    return write(target, (end - start) * (precision > 9 ? 8 : precision > 4 ? 4 : 2))
  })
}

/** Where the cells from `start` begin, and the last ends, within the values. Nothing where that cannot be. */
const spansOf = (
  { offsets, values }: Batch<unknown>,
  start: number,
  end: number
): Int32Array | Float64Array | undefined => {
  if (offsets.length <= end) return undefined
  const spans =
    offsets instanceof Int32Array
      ? offsets.subarray(start, end + 1)
      : Float64Array.from(offsets.subarray(start, end + 1), Number)
  let before = 0
  for (const at of spans) {
    if (at < before) return undefined
    before = at
  }
  return before <= values.byteLength ? spans : undefined
}

/** Whether all texts of a batch together are UTF-8, which is asked once. */
const checked = new WeakMap<Batch<unknown>, boolean>()
const isText = (batch: Batch<unknown>, bytes: Uint8Array): boolean => {
  const known = checked.get(batch)
  if (known !== undefined) return known
  const { length, offsets } = batch
  const found = isUtf8(bytes.subarray(Number(offsets[0]), Number(offsets[length])))
  checked.set(batch, found)
  return found
}

/** Where bytes are that a column keeps, as the halves of an address. */
type Address = ReturnType<typeof VectorMemory.keep>

const nowhere: Address = { low: 0, high: 0 }

/** A word of bytes that end after so many more; what is beyond them is zero. */
const wordAt = (view: DataView, at: number, length: number): number => {
  if (at + 4 <= view.byteLength) {
    const found = view.getInt32(at, true)
    return length >= 4 ? found : length <= 0 ? 0 : found & ((1 << (8 * length)) - 1)
  }
  let found = 0
  for (let byte = Math.min(length, view.byteLength - at) - 1; byte >= 0; byte--) {
    found = (found << 8) | view.getUint8(at + byte)
  }
  return found
}

/** Writes the cell of bytes that begin at a place: they are in it, or `distance` bytes behind an address. */
const writeCell = (row: number, view: DataView, at: number, length: number, kept: Address, distance: number): void => {
  const cell = 4 * row
  words[cell] = length
  words[cell + 1] = wordAt(view, at, length)
  if (length <= VectorMemory.inlineText) {
    words[cell + 2] = length > 4 ? wordAt(view, at + 4, length - 4) : 0
    words[cell + 3] = length > 8 ? wordAt(view, at + 8, length - 8) : 0
    return
  }
  const low = kept.low + distance
  words[cell + 2] = low
  words[cell + 3] = kept.high + (low >= word ? 1 : 0)
}

const copied = (isCut: (batch: Batch<unknown>, bytes: Uint8Array, spans: ArrayLike<number>) => boolean): Copy =>
  withNulls((batch, start, end, target) => {
    const spans = spansOf(batch, start, end)
    if (spans === undefined) return false
    const bytes = bytesOf(batch)
    if (isCut(batch, bytes, spans)) return false
    const count = end - start
    const first = spans[0] ?? 0
    const last = spans[count] ?? 0
    let longest = 0
    for (let row = 0; row < count; row++) longest = Math.max(longest, (spans[row + 1] ?? 0) - (spans[row] ?? 0))
    const kept =
      longest > VectorMemory.inlineText
        ? VectorMemory.keep(target.chunk, target.index, bytes.subarray(first, last))
        : nowhere
    const view = viewOf(bytes)
    for (let row = 0; row < count; row++) {
      const at = spans[row] ?? 0
      writeCell(row, view, at, (spans[row + 1] ?? 0) - at, kept, at - first)
    }
    return write(target, count * VectorMemory.textWidth)
  })

/** Bytes of different lengths. */
export const binary: Copy = copied(() => false)

/** Texts. None is let in that is not UTF-8, or begins within a character of what lies before it. */
export const texts: Copy = copied((batch, bytes, spans) => {
  if (!isText(batch, bytes)) return true
  for (let row = 0; row < spans.length; row++) {
    const at = spans[row] ?? 0
    if (at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) return true
  }
  return false
})

/** Texts of a dictionary: each that is there is encoded once in a chunk, however often it is. */
export const chosen: Copy = (batch, start, end, target) => {
  const count = end - start
  const { values } = batch
  if (values.length < end) return false
  const places = new Map<number | bigint, number>()
  const parts: Array<Uint8Array> = []
  /** Where the texts begin, one after another, and where the last ends. */
  const ends = [0]
  let longest = 0
  let nulls = 0
  bits.fill(0)
  for (let row = 0; row < count; row++) {
    const key = values[start + row] ?? 0
    let place = batch.isValid(start + row) || batch.nullCount === 0 ? places.get(key) : none
    if (place === undefined) {
      const text = batch.at(start + row)
      if (typeof text === "string") {
        const encoded = Buffer.from(text)
        place = parts.length
        parts.push(encoded)
        ends.push((ends[place] ?? 0) + encoded.length)
        longest = Math.max(longest, encoded.length)
      } else if (text === null || text === undefined) place = none
      else return false
      places.set(key, place)
    }
    chosenPlaces[row] = place
    if (place === none) nulls += 1
    else bits[row >> 3] = (bits[row >> 3] ?? 0) | (1 << (row & 7))
  }
  const bytes = Buffer.concat(parts)
  const kept = longest > VectorMemory.inlineText ? VectorMemory.keep(target.chunk, target.index, bytes) : nowhere
  const view = viewOf(bytes)
  for (let row = 0; row < count; row++) {
    const place = chosenPlaces[row] ?? none
    const at = ends[place] ?? 0
    writeCell(row, view, at, place === none ? 0 : (ends[place + 1] ?? 0) - at, kept, at)
  }
  write(target, count * VectorMemory.textWidth)
  if (nulls > 0) VectorMemory.writeValidity(target.chunk, target.index, bits.subarray(0, Math.ceil(count / 8)))
  return true
}
