/**
 * What came in pieces, as one.
 */

/** The bytes of all parts, as a copy: what came is a part of larger buffers, which need not be kept for it. */
export const joined = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const bytes = new Uint8Array(parts.reduce((size, part) => size + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

/** Bytes of a piece that is worth its own keeping, and of a block of smaller ones. */
const worthwhile = 4 * 1024
const block = 64 * 1024

/**
 * Pieces that are kept until they are whole. Whoever sends them chooses their size, and a piece of one byte costs a
 * hundred times what is in it: small ones are copied together.
 */
export class Pieces {
  #parts: Array<Uint8Array> = []
  #block: Uint8Array | undefined
  #used = 0

  /** Keeps another piece. */
  push(piece: Uint8Array): void {
    if (piece.length === 0) return
    if (piece.length >= worthwhile) {
      this.#close()
      this.#parts.push(piece)
      return
    }
    if (this.#used + piece.length > block) this.#close()
    this.#block ??= new Uint8Array(block)
    this.#block.set(piece, this.#used)
    this.#used += piece.length
  }

  /** All that was kept, in order; nothing is kept any more. */
  take(): ReadonlyArray<Uint8Array> {
    this.#close()
    const parts = this.#parts
    this.#parts = []
    this.#block = undefined
    return parts
  }

  #close(): void {
    if (this.#block === undefined || this.#used === 0) return
    this.#parts.push(this.#block.slice(0, this.#used))
    this.#used = 0
  }
}
