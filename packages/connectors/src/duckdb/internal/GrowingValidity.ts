/**
 * Which cells of a column there are, as it grows: a bit for each, as Arrow has them. Nothing is kept as long as there
 * are all.
 */
import { GrowingBytes } from "./GrowingBytes.ts"

const whole = 0xff

/** Calls `found` with each of `count` rows of which a vector says that there is no cell. */
export const eachNull = (validity: Uint8Array | undefined, count: number, found: (row: number) => void): void => {
  if (validity === undefined) return
  for (let start = 0; start < count; start += 8) {
    const byte = validity[start >> 3] ?? whole
    if (byte === whole) continue
    const end = Math.min(start + 8, count)
    for (let row = start; row < end; row++) if ((byte & (1 << (row & 7))) === 0) found(row)
  }
}

/** The bits of a column. */
export class GrowingValidity {
  length = 0
  nullCount = 0
  /** A set bit is a null here, so that what is not written means nothing. */
  readonly #nulls = new GrowingBytes()

  /** Says that a row of those that were added, or will be next, has no cell. */
  remove(row: number): void {
    const byte = row >> 3
    if (byte >= this.#nulls.length) this.#nulls.extend(byte + 1 - this.#nulls.length)
    const before = this.#nulls.bytes[byte] ?? 0
    const after = before | (1 << (row & 7))
    if (after === before) return
    this.#nulls.bytes[byte] = after
    this.nullCount++
  }

  /** Hands out what there is, and begins anew: no bytes where all cells are there. */
  take(): { readonly length: number; readonly nullCount: number; readonly validity: Uint8Array } {
    const { length, nullCount } = this
    if (nullCount > 0) this.#nulls.extend(Math.ceil(length / 8) - this.#nulls.length)
    const validity = this.#nulls.take()
    for (let byte = 0; byte < validity.length; byte++) validity[byte] = ~(validity[byte] ?? 0)
    this.length = 0
    this.nullCount = 0
    return { length, nullCount, validity }
  }
}
