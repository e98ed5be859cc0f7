/**
 * Tables from CSV, as programs write them: enough of RFC 4180 to show the first rows of a file.
 */
import type { Column, ResultTable, Value } from "../../connector/ResultTable.ts"

/** A field: quoted, with doubled quotes inside, or plain; and what ends it. */
const field = /(?:"([^"]*(?:""[^"]*)*)"|([^",\r\n]*))(,|\r\n|\n|\r|$)/gy

const isNumber = (text: string): boolean => /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)

/** Characters of a text that are read: enough for the rows that are shown. */
const readCharacters = 200_000

/** The lines of fields of a CSV text, at most so many; nothing where it is none. */
const linesOf = (text: string, maxLines: number): ReadonlyArray<ReadonlyArray<string>> | undefined => {
  const lines: Array<ReadonlyArray<string>> = []
  let line: Array<string> = []
  const begun = text.slice(0, readCharacters)
  field.lastIndex = 0
  while (field.lastIndex < begun.length && lines.length < maxLines) {
    const found = field.exec(begun)
    if (found === null) return undefined
    const [, quoted, plain = "", end] = found
    line.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === ",") continue
    lines.push(line)
    line = []
  }
  // A comma at the very end is followed by an empty field.
  if (line.length > 0) lines.push([...line, ""])
  // The last line that was read of a longer text may be a part of one.
  return begun.length < text.length && lines.length < maxLines ? lines.slice(0, -1) : lines
}

/**
 * The first rows of a CSV text with a header, where each has the header's fields; nothing where it is no such text. A
 * column of numbers alone is one of numbers; what is empty is null.
 */
export const tableOf = (text: string, maxRows: number): ResultTable | undefined => {
  const lines = linesOf(text.startsWith("\ufeff") ? text.slice(1) : text, maxRows + 2)
  const [header, ...rest] = lines ?? []
  if (header === undefined || rest.some((line) => line.length !== header.length)) return undefined
  const shown = rest.slice(0, maxRows)
  const columns = header.map((name, index): Column => {
    const values = shown.map((line) => line[index] ?? "").filter((value) => value !== "")
    return { name, type: values.length > 0 && values.every(isNumber) ? "decimal" : "text" }
  })
  const rows = shown.map((line) => line.map((value): Value => (value === "" ? null : value)))
  return { columns, rows, truncated: rest.length > maxRows }
}
