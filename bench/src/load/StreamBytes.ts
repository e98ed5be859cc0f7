/**
 * The bytes of one streamed answer. They are gathered as they come, which has to be cheap, and read afterwards.
 */
import { type ChunkedBody, headOf, isChunked, joinChunks } from "./HttpResponse.ts"

/** A stream that has come to its end. */
export interface EndedStream extends ChunkedBody {
  readonly status: number
}

/** What ends a body in chunks; the line break before it ends the last chunk, so that no header can look like it. */
const terminator = Buffer.from("\r\n0\r\n\r\n")

/** What one connection has received of one answer. */
export class StreamBytes {
  private readonly pieces: Array<Buffer> = []

  /** Adds what came; `refused` is the status of an answer that is no stream. */
  add(piece: Buffer): { readonly ended: boolean; readonly refused: number | undefined } {
    this.pieces.push(piece)
    const status = this.pieces.length === 1 ? headOf(piece)?.status : undefined
    return { ended: this.tail().equals(terminator), refused: status === 200 ? undefined : status }
  }

  /** Whether it is among what came. */
  includes(text: Buffer): boolean {
    const [first] = this.pieces
    const bytes = this.pieces.length === 1 && first !== undefined ? first : Buffer.concat(this.pieces)
    return bytes.includes(text)
  }

  /** The stream; nothing when what came is not an answer in chunks. */
  read(): EndedStream | undefined {
    const bytes = Buffer.concat(this.pieces)
    const head = headOf(bytes)
    if (head === undefined || !isChunked(head)) return undefined
    return { status: head.status, ...joinChunks(bytes.subarray(head.bodyStart)) }
  }

  /** The last bytes that came, as many as the terminator has. */
  private tail(): Buffer {
    const last = this.pieces.at(-1) ?? Buffer.alloc(0)
    const bytes = last.length >= terminator.length ? last : Buffer.concat(this.pieces.slice(-terminator.length))
    return bytes.subarray(-terminator.length)
  }
}
