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
