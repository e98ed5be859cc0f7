/**
 * Sizes of texts as UTF-8, counted without encoding them.
 */

/** Bytes of a character, by its code point. A lone surrogate is written as the replacement character: three bytes. */
const bytesOf = (codePoint: number): number =>
  codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4

/** How many bytes a text has as UTF-8. */
export const utf8Length = (text: string): number => {
  let bytes = 0
  for (const character of text) bytes += bytesOf(character.codePointAt(0) ?? 0)
  return bytes
}

/** The beginning of a text that has at most so many bytes as UTF-8. A character is never broken. */
export const utf8Prefix = (text: string, maxBytes: number): string => {
  let bytes = 0
  let end = 0
  for (const character of text) {
    bytes += bytesOf(character.codePointAt(0) ?? 0)
    if (bytes > maxBytes) return text.slice(0, end)
    end += character.length
  }
  return text
}
