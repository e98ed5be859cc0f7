/**
 * Bytes that grow at their end, in one piece, outside of JavaScript's heap.
 */

const smallest = 64

/** Bytes that grow. What was not written yet is zero. */
export class GrowingBytes {
  bytes = new Uint8Array(0)
  length = 0
  /** What it had the last time it was taken: the next is likely to be as long. */
  #usual = smallest

  /** Adds so many zero bytes, and answers where they begin. Whoever had `bytes` before gets them anew. */
  extend(count: number): number {
    const start = this.length
    this.length += count
    if (this.length > this.bytes.length) {
      const larger = new Uint8Array(Math.max(this.length, 2 * this.bytes.length, start === 0 ? this.#usual : 0))
      larger.set(this.bytes.subarray(0, start))
      this.bytes = larger
    }
    return start
  }

  /** Hands out what there is, and begins anew. */
  take(): Uint8Array {
    const { bytes, length } = this
    this.bytes = new Uint8Array(0)
    this.length = 0
    this.#usual = Math.max(smallest, length)
    // What is handed out is kept as long as its result: not with half as much again that is empty.
    return length > 0.75 * bytes.length ? bytes.subarray(0, length) : bytes.slice(0, length)
  }
}
