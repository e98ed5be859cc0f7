/**
 * Tables in Markdown, padded so that they read as well in a terminal as on a page.
 */

/** A table: its column titles and its rows. The first column is text, the others are figures. */
export interface Table {
  readonly columns: ReadonlyArray<string>
  readonly rows: ReadonlyArray<ReadonlyArray<string>>
}

/** A cell cannot hold what ends it. */
const escaped = (cell: string): string => cell.replaceAll("|", "\\|")

/** The table as Markdown, without a line break at its end. */
export const render = ({ columns, rows }: Table): string => {
  for (const row of rows) {
    if (row.length !== columns.length) throw new Error(`a row has ${row.length} cells for ${columns.length} columns`)
  }
  const lines = [columns, ...rows].map((row) => row.map(escaped))
  const widths = columns.map((_, column) => Math.max(3, ...lines.map((line) => line[column]?.length ?? 0)))
  const pad = (cell: string, column: number): string => {
    const width = widths[column] ?? 0
    return column === 0 ? cell.padEnd(width) : cell.padStart(width)
  }
  const [head = [], ...body] = lines.map((line) => `| ${line.map(pad).join(" | ")} |`)
  const rule = widths.map((width, column) => (column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`))
  return [head, `| ${rule.join(" | ")} |`, ...body].join("\n")
}
