/**
 * What a client of PostgreSQL sends, cut where messages of the wire protocol end: PGlite takes whole ones only.
 *
 * Source: PostgreSQL documentation, "Message Formats".
 */

/** The packet with which a client asks that the statement of another session be cancelled. */
const cancelRequest = 80_877_102

/** Whether a first packet is a request to cancel. */
export const isCancelRequest = (packet: Uint8Array): boolean =>
  packet.length >= 8 && new DataView(packet.buffer, packet.byteOffset).getUint32(4) === cancelRequest

/** Whether a message is the client's goodbye. */
export const isTerminate = (bytes: Uint8Array): boolean => bytes[0] === 0x58

const joined = (one: Uint8Array, other: Uint8Array): Uint8Array => {
  const bytes = new Uint8Array(one.length + other.length)
  bytes.set(one)
  bytes.set(other, one.length)
  return bytes
}

/** Collects what a client sends until it is whole. */
export class FrontendMessages {
  #kept = new Uint8Array(0)
  #hasStarted = false

  /**
   * Takes a chunk. Answers the messages that are whole by now, in memory of their own; the first packet of all is on its
   * own. What is long comes as one chunk: it is copied once.
   */
  take(chunk: Uint8Array): ReadonlyArray<Uint8Array<ArrayBuffer>> {
    const all = this.#kept.length === 0 ? chunk : joined(this.#kept, chunk)
    const view = new DataView(all.buffer, all.byteOffset, all.byteLength)
    const whole: Array<Uint8Array<ArrayBuffer>> = []
    let start = 0
    let end = 0
    for (;;) {
      // The first packet alone has no letter before its length.
      const letter = this.#hasStarted ? 1 : 0
      if (all.length < end + letter + 4) break
      const next = end + letter + view.getUint32(end + letter)
      if (all.length < next) break
      end = next
      if (!this.#hasStarted) {
        this.#hasStarted = true
        whole.push(Uint8Array.from(all.subarray(start, end)))
        start = end
      }
    }
    if (end > start) whole.push(Uint8Array.from(all.subarray(start, end)))
    this.#kept = Uint8Array.from(all.subarray(end))
    return whole
  }
}
