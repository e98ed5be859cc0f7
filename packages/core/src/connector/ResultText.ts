/**
 * A result as text: CSV for spreadsheets, JSON for programs, Markdown for readers.
 */
import type { ResultTable, Value } from "./ResultTable.ts"
import { records } from "./ResultTable.ts"

const csvField = (value: Value): string => {
  if (value === null) return ""
  const text = String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** The whole result as CSV (RFC 4180, with a header line and CRLF line ends). A null is an empty field. */
export const csv = (table: ResultTable): string => {
  const lines = [table.columns.map((column) => csvField(column.name)).join(",")]
  for (const row of table.rows) lines.push(row.map(csvField).join(","))
  return `${lines.join("\r\n")}\r\n`
}

/** The whole result as JSON: an array with an object for each row. */
export const json = (table: ResultTable): string => JSON.stringify(records(table))

const markdownCell = (value: Value): string => {
  if (value === null) return ""
  const text = String(value).replaceAll("\\", "\\\\").replaceAll("|", "\\|").replaceAll(/\s+/g, " ")
  return text.length > 200 ? `${text.slice(0, 199)}…` : text
}

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
  if (more > 0) lines.push("", `… and ${more} more rows${table.truncated ? ", cut at the limit" : ""}`)
  else if (table.truncated) lines.push("", "… cut at the limit")
  return lines.join("\n")
}
