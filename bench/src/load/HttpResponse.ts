/**
 * Reads HTTP/1.1 responses out of the bytes of a connection, as far as benchmarks need it.
 */

/** The head of a response, and where its body begins. */
export interface Head {
  readonly status: number
  /** The head's lines in lower case, the first one included. */
  readonly text: string
  readonly bodyStart: number
}

const headEnd = Buffer.from("\r\n\r\n")

/** The head that the bytes begin with; nothing when it is not there in full. */
export const headOf = (bytes: Buffer): Head | undefined => {
  const end = bytes.indexOf(headEnd)
  if (end === -1) return undefined
  const text = bytes.toString("latin1", 0, end).toLowerCase()
  return { status: Number(text.slice(9, 12)), text, bodyStart: end + headEnd.length }
}

/** The length of the body as the head says it; nothing when it does not. */
export const contentLength = (head: Head): number | undefined => {
  const field = "\r\ncontent-length:"
  const start = head.text.indexOf(field)
  if (start === -1) return undefined
  // `parseInt` stops at the end of the line by itself.
  return Number.parseInt(head.text.slice(start + field.length), 10)
}

/** Whether the body comes in chunks. */
export const isChunked = (head: Head): boolean => head.text.includes("\r\ntransfer-encoding: chunked")

/** A body that came in chunks. */
export interface ChunkedBody {
  readonly body: Buffer
  /** How many chunks: how often the server wrote. */
  readonly chunks: number
  /** Whether the chunk that ends a body was there. */
  readonly complete: boolean
}

/** Joins the chunks of a body. */
export const joinChunks = (bytes: Buffer): ChunkedBody => {
  const parts: Array<Buffer> = []
  let position = 0
  for (;;) {
    const lineEnd = bytes.indexOf("\r\n", position)
    const size = lineEnd === -1 ? Number.NaN : Number.parseInt(bytes.toString("latin1", position, lineEnd), 16)
    const end = lineEnd + 2 + size
    const complete = size === 0
    if (complete || Number.isNaN(size) || end + 2 > bytes.length) {
      return { body: Buffer.concat(parts), chunks: parts.length, complete }
    }
    parts.push(bytes.subarray(lineEnd + 2, end))
    position = end + 2
  }
}
