/**
 * How values of a question are written in Python: whatever they contain, they stay inside their quotes.
 */

/** A text or a number, or a list of them, as a Python literal: JSON's are the same, but for what ends a line. */
export const literal = (value: string | number | ReadonlyArray<string>): string =>
  JSON.stringify(value).replace(/[\u007f-\uffff]/g, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** Some lines of a program as one text; what is absent is left out. */
export const lines = (...parts: ReadonlyArray<string | undefined>): string =>
  parts.flatMap((part) => (part === undefined ? [] : [part.trim()])).join("\n\n")
