/**
 * A result as text: CSV for spreadsheets, JSON for programs, Markdown for readers.
 */
import { excerpt } from "../text/Excerpt.ts"
import type { ResultTable, Value } from "./ResultTable.ts"
import { records } from "./ResultTable.ts"

/** An empty text is quoted, so that it is told from a null, which is an empty field. */
const csvField = (value: Value): string => {
  if (value === null) return ""
  const text = String(value)
  return text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A line without a sign is no row to many readers: a null that is alone in its row is written as an empty text. */
const csvLine = (fields: ReadonlyArray<Value>): string => fields.map(csvField).join(",") || '""'

/** The whole result as CSV (RFC 4180, with a header line and CRLF line ends). */
export const csv = (table: ResultTable): string => {
  const lines = [csvLine(table.columns.map((column) => column.name))]
  for (const row of table.rows) lines.push(csvLine(row))
  return `${lines.join("\r\n")}\r\n`
}

/** The whole result as JSON: an array with an object for each row. */
export const json = (table: ResultTable): string => JSON.stringify(records(table))

/** Characters of one cell of a Markdown table. */
const cellLength = 200

/**
 * Text from data stays text: whatever would be markup, a picture or a link, or end the cell, is escaped. An
 * underscore inside a word is none of these.
 */
const markdownCell = (value: Value): string =>
  value === null
    ? ""
    : excerpt(String(value).replaceAll(/\s+/g, " "), cellLength)
        .replaceAll(/[\\|`*[\]<~&]/g, "\\$&")
        .replaceAll(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, "\\_")

const isNumeric = (type: string): boolean => type === "integer" || type === "number" || type === "decimal"

/** The first rows as a Markdown table, numbers to the right, with a line that says how many more there are. */
export const markdown = (table: ResultTable, maxRows: number): string => {
  const line = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`
  const lines = [
    line(table.columns.map((column) => markdownCell(column.name))),
    line(table.columns.map((column) => (isNumeric(column.type) ? "---:" : "---")))
  ]
  for (const row of table.rows.slice(0, maxRows)) lines.push(line(row.map(markdownCell)))
  const more = table.rows.length - maxRows
  if (more > 0)
    lines.push("", `… and ${more} more ${more === 1 ? "row" : "rows"}${table.truncated ? ", cut at the limit" : ""}`)
  else if (table.truncated) lines.push("", "… cut at the limit")
  return lines.join("\n")
}
