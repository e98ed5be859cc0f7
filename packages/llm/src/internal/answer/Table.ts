/**
 * A small table in Markdown.
 */
import { escaped } from "./Format.ts"

/** Rows that a table in the text has at most; longer ones are a table of their own. */
export const tableRows = 12

/** A heading and whether its column holds numbers, which stand to the right. */
export interface Heading {
  readonly text: string
  readonly numeric: boolean
}

/** Rows as a Markdown table. */
export const table = (headings: ReadonlyArray<Heading>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const line = (cells: ReadonlyArray<string>): string => `| ${cells.map(escaped).join(" | ")} |`
  return [
    line(headings.map((heading) => heading.text)),
    `| ${headings.map((heading) => (heading.numeric ? "---:" : "---")).join(" | ")} |`,
    ...rows.map(line)
  ].join("\n")
}
