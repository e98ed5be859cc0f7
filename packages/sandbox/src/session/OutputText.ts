/**
 * Text that comes out of a sandbox, made harmless to show: bytes that are no UTF-8 become replacement characters, and
 * control characters, which a terminal would obey, are written as escapes.
 */

// Tabulators and ends of lines stay; what is left begins escape sequences, rings, deletes.
// oxlint-disable-next-line no-control-regex
const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/gu

const escape = (character: string): string => `\\x${(character.codePointAt(0) ?? 0).toString(16).padStart(2, "0")}`

/** A text without control characters but tabulators and ends of lines, and without halves of surrogate pairs. */
export const harmless = (text: string): string => text.replaceAll(control, escape).toWellFormed()

// Controls, halves of surrogate pairs, which no UTF-8 has, and what is not seen or turns the direction of a line around:
// none of them is in a path of ours.
const misleading = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

const escapeLong = (character: string): string => {
  const code = character.codePointAt(0) ?? 0
  if (code <= 0xff) return escape(character)
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, "0")}`
}

/** The name of a file as it can be shown in a line: what steers a terminal or deceives a reader is written as escapes. */
export const harmlessName = (name: string): string => name.replaceAll(misleading, escapeLong)

/** A text of bytes that need not be UTF-8. */
export const lossy = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

/** Decodes a stream of output whose pieces may end within a character. */
export class OutputDecoder {
  readonly #decoder = new TextDecoder()

  /** The text that is whole with these bytes. */
  push(bytes: Uint8Array): string {
    return harmless(this.#decoder.decode(bytes, { stream: true }))
  }

  /** What is left at the end: a replacement character where the last one was cut. */
  end(): string {
    return harmless(this.#decoder.decode())
  }
}
