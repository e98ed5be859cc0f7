/**
 * Text of ASCII characters alone as bytes, such as base64 is.
 */

/** The bytes of a text: one for each of its characters. */
export const asciiBytes = (text: string): Uint8Array => {
  const bytes = new Uint8Array(text.length)
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index)
  return bytes
}
