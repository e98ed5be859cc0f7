/**
 * Columns whose cells all have the same size: copied from the engine's memory as they are, or, where Arrow has them
 * wider or narrower, a vector at a time.
 */
import type * as Arrow from "@uwdata/flechette"
import { type ArrowColumn, columnOf, type Sealed } from "./ArrowColumn.ts"
import { GrowingBytes } from "./GrowingBytes.ts"
import { eachNull, GrowingValidity } from "./GrowingValidity.ts"
import * as VectorMemory from "./VectorMemory.ts"

/** Cells of a width in bytes, batch by batch. */
export class FixedCells {
  readonly sealed: Array<Sealed> = []
  readonly #values = new GrowingBytes()
  readonly #validity = new GrowingValidity()
  readonly #width: number

  constructor(width: number) {
    this.#width = width
  }

  /** Adds so many cells, all zero, and answers their bytes. */
  extend(count: number): Uint8Array {
    this.#validity.length += count
    const start = this.#values.extend(count * this.#width)
    return this.#values.bytes.subarray(start, this.#values.length)
  }

  /** Makes one of the `count` cells that were added last a null, zero as it was. */
  remove(row: number, count: number): void {
    const at = this.#validity.length - count + row
    this.#validity.remove(at)
    this.#values.bytes.fill(0, at * this.#width, (at + 1) * this.#width)
  }

  seal(): void {
    this.sealed.push({ ...this.#validity.take(), values: this.#values.take() })
  }
}

/** How the cells of a vector become Arrow's. */
export interface Copying {
  /** Bytes of a cell of the engine's, and of Arrow's. */
  readonly width: number
  readonly arrowWidth: number
  readonly type: Arrow.DataType
  /** Copies all cells of a vector; as they are where it is absent. */
  readonly copy?: (from: Uint8Array, to: Uint8Array) => void
  /** Which of the copied cells mean nothing that Arrow has. */
  readonly isNothing?: (copied: Uint8Array) => (row: number) => boolean
}

/** A column that is copied. */
export const make = ({ arrowWidth, copy, isNothing, type, width }: Copying): ArrowColumn => {
  const kept = new FixedCells(arrowWidth)
  return {
    add: (chunk, index, count, room) => {
      const size = count * arrowWidth
      if (size > room) return size
      const { cells, validity } = VectorMemory.of(chunk, index, count, width)
      const to = kept.extend(count)
      if (copy === undefined) to.set(cells)
      else copy(cells, to)
      eachNull(validity, count, (row) => kept.remove(row, count))
      if (isNothing !== undefined) {
        const nothing = isNothing(to)
        for (let row = 0; row < count; row++) if (nothing(row)) kept.remove(row, count)
      }
      return size
    },
    seal: () => kept.seal(),
    finish: () => columnOf(kept.sealed, type)
  }
}

/** A column whose cells Arrow has as the engine does. */
export const same = (width: number, type: Arrow.DataType): ArrowColumn => make({ width, arrowWidth: width, type })

const words = (bytes: Uint8Array): Int32Array => new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2)

const mostDays = 2 ** 31 - 1

/** Days of which the last and the first are the infinities. */
export const days = (type: Arrow.DataType): ArrowColumn =>
  make({
    width: 4,
    arrowWidth: 4,
    type,
    isNothing: (copied) => {
      const cells = words(copied)
      return (row) => cells[row] === mostDays || cells[row] === -mostDays
    }
  })

/** Moments: whole numbers of 64 bits, of which the last and the first are the infinities. */
export const moments = (type: Arrow.DataType): ArrowColumn =>
  make({
    width: 8,
    arrowWidth: 8,
    type,
    isNothing: (copied) => {
      const cells = words(copied)
      return (row) => {
        const high = cells[2 * row + 1]
        return (high === 0x7f_ff_ff_ff && cells[2 * row] === -1) || (high === -0x80_00_00_00 && cells[2 * row] === 1)
      }
    }
  })

/** Decimals: the engine has them in 2, 4, 8 or 16 bytes by their digits, Arrow in 16. */
export const decimals = (digits: number, type: Arrow.DataType): ArrowColumn => {
  const width = digits <= 4 ? 2 : digits <= 9 ? 4 : digits <= 18 ? 8 : 16
  if (width === 16) return same(16, type)
  return make({
    width,
    arrowWidth: 16,
    type,
    copy: (from, to) => {
      const source = new DataView(from.buffer, from.byteOffset, from.length)
      const target = words(to)
      for (let cell = 0; cell < target.length >> 2; cell++) {
        const low = width === 2 ? source.getInt16(2 * cell, true) : source.getInt32(width * cell, true)
        const high = width === 8 ? source.getInt32(8 * cell + 4, true) : low >> 31
        target[4 * cell] = low
        target[4 * cell + 1] = high
        target[4 * cell + 2] = high >> 31
        target[4 * cell + 3] = high >> 31
      }
    }
  })
}
