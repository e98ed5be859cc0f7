/**
 * The memory of the host that the files of all sessions together may take: each has a quota of its own, but many
 * sessions that fill theirs would fill the host.
 */

/** Room that is taken and given back, in bytes. */
export class FileRoom {
  #left: number

  constructor(bytes: number) {
    this.#left = bytes
  }

  /** Bytes that are free. */
  get left(): number {
    return this.#left
  }

  /** Takes room, or nothing where there is less; a negative number gives it back. */
  take(bytes: number): boolean {
    if (bytes > this.#left) return false
    this.#left -= bytes
    return true
  }
}
