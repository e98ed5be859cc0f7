/**
 * Columns whose cells have different lengths: text and binary. The engine's are UTF-8 already, and copied without
 * being read.
 */
import type * as Duck from "@duckdb/node-api"
import { DuckDBTypeId } from "@duckdb/node-api"
import * as Arrow from "@uwdata/flechette"
import { type ArrowColumn, columnOf, type Sealed } from "./ArrowColumn.ts"
import { cellReader } from "./CellValue.ts"
import { GrowingBytes } from "./GrowingBytes.ts"
import { eachNull, GrowingValidity } from "./GrowingValidity.ts"
import * as VectorMemory from "./VectorMemory.ts"

/** Bytes that tell where a cell begins. */
export const offsetWidth = 4

/** Cells of different lengths, batch by batch. */
export class TextCells {
  readonly sealed: Array<Sealed> = []
  readonly #values = new GrowingBytes()
  readonly #ends = new GrowingBytes()
  readonly #validity = new GrowingValidity()

  /** Adds `count` cells of the lengths that are written into what it answers next, as an end after each. */
  extend(count: number, bytes: number): { readonly ends: Int32Array; readonly start: number; readonly to: Uint8Array } {
    this.#validity.length += count
    const at = this.#ends.extend(count * offsetWidth)
    const start = this.#values.extend(bytes)
    return {
      ends: new Int32Array(this.#ends.bytes.buffer, at, count),
      start,
      to: this.#values.bytes.subarray(start, start + bytes)
    }
  }

  /** Makes one of the `count` cells that were added last a null. */
  remove(row: number, count: number): void {
    this.#validity.remove(this.#validity.length - count + row)
  }

  /** Adds one cell. */
  push(bytes: Uint8Array | null): void {
    const { ends, start, to } = this.extend(1, bytes?.length ?? 0)
    if (bytes === null) this.remove(0, 1)
    else to.set(bytes)
    ends[0] = start + to.length
  }

  seal(): void {
    const kept = this.#validity.take()
    const ends = this.#ends.take()
    const offsets = new Int32Array(kept.length + 1)
    offsets.set(new Int32Array(ends.buffer, ends.byteOffset, kept.length), 1)
    this.sealed.push({ ...kept, offsets, values: this.#values.take() })
  }
}

/** A column of the engine's own text or binary. */
export const copied = (type: Arrow.DataType): ArrowColumn => {
  const kept = new TextCells()
  return {
    add: (chunk, index, count, room) => {
      const { cells, validity } = VectorMemory.of(chunk, index, count, VectorMemory.textWidth)
      const view = new DataView(cells.buffer, cells.byteOffset, cells.length)
      const lengths = new Uint32Array(count)
      for (let row = 0; row < count; row++) lengths[row] = view.getUint32(row * VectorMemory.textWidth, true)
      eachNull(validity, count, (row) => (lengths[row] = 0))
      const bytes = lengths.reduce((sum, length) => sum + length, 0)
      const size = count * offsetWidth + bytes
      if (size > room) return size
      const { ends, start, to } = kept.extend(count, bytes)
      copyTexts(cells, view, lengths, to)
      let end = start
      for (let row = 0; row < count; row++) ends[row] = end += lengths[row] ?? 0
      eachNull(validity, count, (row) => kept.remove(row, count))
      return size
    },
    seal: () => kept.seal(),
    finish: () => columnOf(kept.sealed, type)
  }
}

/**
 * Copies the texts of cells one after another. The engine often lays longer ones down one after another as well: those
 * are copied at once, because each look outside of the cells costs as much as hundreds of bytes.
 */
const copyTexts = (cells: Uint8Array, view: DataView, lengths: Uint32Array, to: Uint8Array): void => {
  const width = VectorMemory.textWidth
  let at = 0
  for (let row = 0; row < lengths.length; row++) {
    const length = lengths[row] ?? 0
    if (length <= VectorMemory.inlineText) {
      const from = row * width + 4
      for (let byte = 0; byte < length; byte++) to[at + byte] = cells[from + byte] ?? 0
      at += length
      continue
    }
    const first = row
    let bytes = length
    for (;;) {
      const next = row + 1
      const nextLength = next < lengths.length ? (lengths[next] ?? 0) : 0
      if (nextLength <= VectorMemory.inlineText) break
      const expected = view.getUint32(row * width + 8, true) + (lengths[row] ?? 0)
      const follows =
        expected === view.getUint32(next * width + 8, true) &&
        view.getUint32(row * width + 12, true) === view.getUint32(next * width + 12, true)
      if (!follows) break
      bytes += nextLength
      row = next
    }
    to.set(VectorMemory.pointedAt(cells, first, bytes), at)
    at += bytes
  }
}

/** A column of one of a few texts, each of which is encoded once. */
export const enumerated = ({ internalTypeId, values }: Duck.DuckDBEnumType): ArrowColumn => {
  const kept = new TextCells()
  const members = values.map((value) => Buffer.from(value))
  const width = internalTypeId === DuckDBTypeId.UTINYINT ? 1 : internalTypeId === DuckDBTypeId.USMALLINT ? 2 : 4
  return {
    add: (chunk, index, count, room) => {
      const { cells, validity } = VectorMemory.of(chunk, index, count, width)
      const chosen = Array.from({ length: count }, (_, row): Uint8Array | null => {
        let member = 0
        for (let byte = width - 1; byte >= 0; byte--) member = member * 256 + (cells[row * width + byte] ?? 0)
        return members[member] ?? null
      })
      eachNull(validity, count, (row) => (chosen[row] = null))
      return pushAll(kept, chosen, room)
    },
    seal: () => kept.seal(),
    finish: () => columnOf(kept.sealed, Arrow.utf8())
  }
}

/** Adds cells one by one as long as there is room, and answers their size. */
export const pushAll = (kept: TextCells, cells: Iterable<Uint8Array | null>, room: number): number => {
  let size = 0
  for (const cell of cells) {
    size += offsetWidth + (cell?.length ?? 0)
    if (size > room) return size
    kept.push(cell)
  }
  return size
}

/** A column of any type as text, through its values. */
export const written = (type: Duck.DuckDBType): ArrowColumn => {
  const kept = new TextCells()
  const read = cellReader(type)
  const texts = function* (vector: Duck.DuckDBVector, count: number): Generator<Uint8Array | null> {
    for (let row = 0; row < count; row++) {
      const value = vector.getItem(row)
      const cell = value === null ? null : read(value)
      yield cell === null ? null : Buffer.from(String(cell))
    }
  }
  return {
    add: (chunk, index, count, room) => pushAll(kept, texts(chunk.getColumnVector(index), count), room),
    seal: () => kept.seal(),
    finish: () => columnOf(kept.sealed, Arrow.utf8())
  }
}
