/**
 * How values of a question are written in Python: whatever they contain, they stay inside their quotes.
 */

/** A letter as Python escapes it: eight digits name one that JSON needs two halves for, four any other. */
const escaped = (letter: string): string => {
  const digits = (letter.codePointAt(0) ?? 0).toString(16)
  return letter.length > 1 ? `\\U${digits.padStart(8, "0")}` : `\\u${digits.padStart(4, "0")}`
}

/** A text or a number, or a list of them, as a Python literal: JSON's are the same, but for letters beyond ASCII. */
export const literal = (value: string | number | ReadonlyArray<string>): string =>
  JSON.stringify(value).replace(/[\u007f-\u{10ffff}]/gu, escaped)

/** Some lines of a program as one text; what is absent is left out. */
export const lines = (...parts: ReadonlyArray<string | undefined>): string =>
  parts.flatMap((part) => (part === undefined ? [] : [part.trim()])).join("\n\n")
