/**
 * Frames on a pipe: the length of the rest (4 bytes), the length of the header (4 bytes), the header (JSON text in
 * UTF-8), and the payload. Lengths are unsigned and little-endian.
 */

const prefix = 8

/** A message with its payload, which is empty for most. */
export interface Frame {
  readonly header: string
  readonly payload: Uint8Array
}

/** A frame that breaks the rules: too long, or a header longer than its frame. */
export class FrameError extends Error {
  override readonly name = "FrameError"
}

/**
 * The bytes of a frame, as parts to write one after the other, so that a large payload is not copied. The payload is
 * all of `payloads`, one after another.
 */
export const encode = (header: string, ...payloads: ReadonlyArray<Uint8Array>): ReadonlyArray<Uint8Array> => {
  const text = Buffer.from(header, "utf8")
  const head = Buffer.alloc(prefix + text.length)
  head.writeUInt32LE(4 + text.length + payloads.reduce((sum, { length }) => sum + length, 0), 0)
  head.writeUInt32LE(text.length, 4)
  text.copy(head, prefix)
  return [head, ...payloads.filter(({ length }) => length > 0)]
}

/**
 * Reads frames out of chunks of any size. A frame longer than `limit()` bytes throws `FrameError` as soon as its
 * length is known, before anything is kept of it.
 */
export const makeReader = (limit: () => number): ((chunk: Uint8Array) => ReadonlyArray<Frame>) => {
  let parts: Array<Uint8Array> = []
  let size = 0
  return (chunk) => {
    parts.push(chunk)
    size += chunk.length
    const frames: Array<Frame> = []
    while (size >= 4) {
      const needed = lengthOf(parts)
      if (needed > limit()) throw new FrameError(`a frame of ${needed} bytes, where ${limit()} are allowed`)
      if (size < 4 + needed) break
      const bytes = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts, size)
      frames.push(frameOf(bytes.subarray(4, 4 + needed)))
      const rest = bytes.subarray(4 + needed)
      parts = rest.length === 0 ? [] : [rest]
      size = rest.length
    }
    return frames
  }
}

const lengthOf = (parts: ReadonlyArray<Uint8Array>): number => {
  const bytes = Buffer.alloc(4)
  let filled = 0
  for (const part of parts) {
    for (const byte of part) {
      bytes[filled++] = byte
      if (filled === 4) return bytes.readUInt32LE(0)
    }
  }
  return 0
}

const frameOf = (bytes: Uint8Array): Frame => {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (view.length < 4) throw new FrameError("a frame without a header")
  const headerLength = view.readUInt32LE(0)
  if (headerLength > view.length - 4) throw new FrameError("a header longer than its frame")
  return { header: view.toString("utf8", 4, 4 + headerLength), payload: view.subarray(4 + headerLength) }
}
