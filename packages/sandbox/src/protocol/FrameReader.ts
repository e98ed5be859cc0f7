/**
 * Cuts what a sandbox puts out into frames. Whoever writes there may be hostile: a line and a payload are bounded before
 * they are kept, a line is decoded strictly, and the first byte that is wrong ends the reading for good.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { maximumLine, maximumPayload } from "./Command.ts"
import { Report } from "./Report.ts"

/** A frame of a supervisor with its payload, which is empty for most. */
export interface Frame {
  readonly report: Report
  readonly payload: Uint8Array
}

/** What came is no frame of the protocol. */
export class ProtocolBreach extends Schema.TaggedError<ProtocolBreach>()("ProtocolBreach", {
  /** What was wrong, in words for a log. */
  detail: Schema.String
}) {
  override get message(): string {
    return `the sandbox broke the protocol: ${this.detail}`
  }
}

const decode = Schema.decodeUnknownResult(Schema.fromJsonString(Report), { onExcessProperty: "error" })
const newline = 0x0a
const empty = new Uint8Array(0)

/** Bytes of the payload that a report announces, or why it cannot be so. */
const payloadOf = (report: Report): number | string => {
  if (!("bytes" in report)) return 0
  if (report.bytes > maximumPayload) return "a payload is too long"
  if (report.event === "rich" && report.forms.reduce((sum, form) => sum + form.bytes, 0) !== report.bytes) {
    return "the forms of a value are not as long as its payload"
  }
  return report.bytes
}

/** Reads frames out of chunks of any size. */
export class FrameReader {
  #parts: Array<Uint8Array> = []
  #size = 0
  /** The report whose payload is still to come. */
  #open: { readonly report: Report; readonly bytes: number } | undefined
  #breach: ProtocolBreach | undefined

  /** The frames that are whole with this chunk. After a breach nothing is read any more. */
  push(chunk: Uint8Array): Result.Result<ReadonlyArray<Frame>, ProtocolBreach> {
    const frames: Array<Frame> = []
    let rest = chunk
    while (this.#breach === undefined) {
      const next: Uint8Array | undefined = this.#open === undefined ? this.#line(rest) : this.#payload(rest, frames)
      if (next === undefined) break
      rest = next
    }
    return this.#breach === undefined ? Result.succeed(frames) : Result.fail(this.#breach)
  }

  /** Reads up to the end of a line; what is left of the chunk, or nothing where the line goes on. */
  #line(chunk: Uint8Array): Uint8Array | undefined {
    if (chunk.length === 0) return undefined
    const end = chunk.indexOf(newline)
    const taken = end === -1 ? chunk : chunk.subarray(0, end)
    // The newline is a part of the line.
    if (this.#size + taken.length + 1 > maximumLine) return this.#refuse("a line is too long")
    this.#keep(taken)
    if (end === -1) return undefined
    const decoded = this.#decode(this.#take())
    if (decoded === undefined) return undefined
    this.#open = decoded
    return chunk.subarray(end + 1)
  }

  #decode(bytes: Uint8Array): { readonly report: Report; readonly bytes: number } | undefined {
    let text: string
    try {
      text = new TextDecoder("utf-8", { fatal: true }).decode(bytes)
    } catch {
      // The platform tells by an exception that the bytes are no UTF-8.
      return this.#refuse("a line is not UTF-8")
    }
    const report = decode(text)
    if (Result.isFailure(report)) return this.#refuse("a line is no report")
    const size = payloadOf(report.success)
    return typeof size === "string" ? this.#refuse(size) : { report: report.success, bytes: size }
  }

  /** Reads up to the end of a payload; what is left of the chunk, or nothing where the payload goes on. */
  #payload(chunk: Uint8Array, frames: Array<Frame>): Uint8Array | undefined {
    const open = this.#open
    if (open === undefined) return chunk
    const missing = open.bytes - this.#size
    this.#keep(chunk.subarray(0, missing))
    if (chunk.length < missing) return undefined
    frames.push({ report: open.report, payload: open.bytes === 0 ? empty : this.#take() })
    this.#open = undefined
    return chunk.subarray(missing)
  }

  #keep(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.#parts.push(bytes)
    this.#size += bytes.length
  }

  #take(): Uint8Array {
    const [only] = this.#parts
    const whole = this.#parts.length === 1 && only !== undefined ? only : Buffer.concat(this.#parts, this.#size)
    this.#parts = []
    this.#size = 0
    return whole
  }

  #refuse(detail: string): undefined {
    this.#breach = new ProtocolBreach({ detail })
    this.#parts = []
    this.#size = 0
    return undefined
  }
}
