/**
 * Booleans: a byte each in the engine, a bit in Arrow.
 */
import { bool } from "@uwdata/flechette"
import { type ArrowColumn, columnOf, type Sealed } from "./ArrowColumn.ts"
import { GrowingBytes } from "./GrowingBytes.ts"
import { eachNull, GrowingValidity } from "./GrowingValidity.ts"
import * as VectorMemory from "./VectorMemory.ts"

/** A column of booleans. They count as a byte each. */
export const make = (): ArrowColumn => {
  const sealed: Array<Sealed> = []
  const bits = new GrowingBytes()
  const kept = new GrowingValidity()
  return {
    add: (chunk, index, count, room) => {
      if (count > room) return count
      const { cells, validity } = VectorMemory.of(chunk, index, count, VectorMemory.booleanWidth)
      const start = kept.length
      kept.length += count
      bits.extend(Math.ceil(kept.length / 8) - bits.length)
      const { bytes } = bits
      for (let row = 0; row < count; row++) {
        if (cells[row * VectorMemory.booleanWidth] === 0) continue
        const at = start + row
        bytes[at >> 3] = (bytes[at >> 3] ?? 0) | (1 << (at & 7))
      }
      eachNull(validity, count, (row) => {
        const at = start + row
        kept.remove(at)
        bytes[at >> 3] = (bytes[at >> 3] ?? 0) & ~(1 << (at & 7))
      })
      return count
    },
    seal: () => sealed.push({ ...kept.take(), values: bits.take() }),
    finish: () => columnOf(sealed, bool())
  }
}
