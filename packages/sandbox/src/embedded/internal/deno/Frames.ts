/**
 * Frames on the pipes between the host and its child processes, for both ends: one line of JSON in UTF-8, ended by a
 * newline, and, where the line has `bytes`, that many raw bytes after it. As the protocol of `protocol/Command.ts`, but
 * free of imports, so that a process without permissions can load it.
 */

/** A frame: what its line says, and the bytes that follow. */
export interface Frame<Head> {
  readonly head: Head
  readonly payload: Uint8Array<ArrayBuffer>
}

/** Bytes that a frame may have; the line's are counted without its newline. */
export interface FrameLimits {
  readonly line: number
  readonly payload: number
}

/** Bytes that are no frame. */
export class FrameBroken extends Error {
  override readonly name = "FrameBroken"
}

const newline = 10
const nothing = new Uint8Array(0)
const utf8 = new TextEncoder()
const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** The bytes of a frame. `bytes` is told where there is a payload; where there may be one, the head says 0. */
export const encodeFrame = (head: Readonly<Record<string, unknown>>, payload: Uint8Array = nothing): Uint8Array => {
  const line = utf8.encode(`${JSON.stringify(payload.length === 0 ? head : { ...head, bytes: payload.length })}\n`)
  if (payload.length === 0) return line
  const frame = new Uint8Array(line.length + payload.length)
  frame.set(line)
  frame.set(payload, line.length)
  return frame
}

const lengthOf = (head: object, limit: number): number => {
  const bytes: unknown = Reflect.get(head, "bytes")
  if (bytes === undefined) return 0
  if (typeof bytes !== "number" || !Number.isSafeInteger(bytes) || bytes < 0 || bytes > limit) {
    throw new FrameBroken("a payload of a length that none may have")
  }
  return bytes
}

/**
 * Reads frames out of chunks of any size. What breaks the rules throws `FrameBroken`, before more is kept of it than a
 * frame may have; nothing can be read afterwards.
 */
export class FrameReader<Head extends object> {
  readonly #limits: FrameLimits
  readonly #parse: (line: string) => Head
  /** The line as far as it came: one piece of memory, however small the chunks are that it comes in. */
  #line = nothing
  #lineBytes = 0
  #head: Head | undefined
  #payload: Uint8Array<ArrayBuffer> = nothing
  #filled = 0

  /** `parse` makes of a line what it says, and throws where it says nothing. */
  constructor(limits: FrameLimits, parse: (line: string) => Head) {
    this.#limits = limits
    this.#parse = parse
  }

  /** The frames that are complete with this chunk. */
  push(chunk: Uint8Array): ReadonlyArray<Frame<Head>> {
    const frames: Array<Frame<Head>> = []
    let rest = chunk
    while (rest.length > 0) {
      rest = this.#head === undefined ? this.#readLine(rest) : this.#readPayload(rest)
      if (this.#head !== undefined && this.#filled === this.#payload.length) {
        frames.push({ head: this.#head, payload: this.#payload })
        this.#head = undefined
      }
    }
    return frames
  }

  #readLine(chunk: Uint8Array): Uint8Array {
    const end = chunk.indexOf(newline)
    const part = end === -1 ? chunk : chunk.subarray(0, end)
    const bytes = this.#lineBytes + part.length
    if (bytes > this.#limits.line) throw new FrameBroken("a line that is too long")
    if (end === -1) {
      // A copy: whoever gave the chunk may use its memory again.
      this.#keep(part, bytes)
      return nothing
    }
    if (this.#lineBytes > 0) this.#keep(part, bytes)
    const line = this.#lineBytes > 0 ? this.#line.subarray(0, bytes) : part
    this.#line = nothing
    this.#lineBytes = 0
    this.#head = this.#said(line)
    this.#payload = new Uint8Array(lengthOf(this.#head, this.#limits.payload))
    this.#filled = 0
    return chunk.subarray(end + 1)
  }

  #keep(part: Uint8Array, bytes: number): void {
    if (bytes > this.#line.length) {
      const longer = new Uint8Array(Math.max(bytes, 2 * this.#line.length))
      longer.set(this.#line.subarray(0, this.#lineBytes))
      this.#line = longer
    }
    this.#line.set(part, this.#lineBytes)
    this.#lineBytes = bytes
  }

  #said(line: Uint8Array): Head {
    try {
      return this.#parse(text.decode(line))
    } catch {
      throw new FrameBroken("a line that says nothing that can be said")
    }
  }

  #readPayload(chunk: Uint8Array): Uint8Array {
    const part = chunk.subarray(0, this.#payload.length - this.#filled)
    this.#payload.set(part, this.#filled)
    this.#filled += part.length
    return chunk.subarray(part.length)
  }
}
