/**
 * Markdown for a terminal, piece by piece as it streams: words appear at once, a table when its last row has come,
 * with its columns aligned.
 */

/** How a terminal shows emphasis; without one, both leave the text as it is. */
export interface Emphasis {
  readonly strong: (text: string) => string
  readonly heading: (text: string) => string
  /** A line between single stars: an aside. */
  readonly light: (text: string) => string
}

/** No emphasis, for output that is not a terminal. */
export const plain: Emphasis = { strong: (text) => text, heading: (text) => text, light: (text) => text }

const cellsOf = (row: string): ReadonlyArray<string> =>
  row
    .trim()
    .replace(/^\|/, "")
    .replace(/\|$/, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"))

const isRule = (row: string): boolean => cellsOf(row).every((cell) => /^:?-+:?$/.test(cell))

/** A Markdown table with its columns aligned. */
export const alignTable = (rows: ReadonlyArray<string>): ReadonlyArray<string> => {
  const rule = rows.find(isRule)
  const right = rule === undefined ? [] : cellsOf(rule).map((cell) => cell.endsWith(":"))
  const cells = rows.filter((row) => !isRule(row)).map(cellsOf)
  const widths: Array<number> = []
  for (const row of cells) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, cell.length)
    })
  }
  const lines = cells.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0
        return right[column] === true ? cell.padStart(width) : cell.padEnd(width)
      })
      .join("  ")
      .trimEnd()
  )
  const [header, ...body] = lines
  if (header === undefined || rule === undefined) return lines
  return [header, widths.map((width) => "─".repeat(width)).join("  "), ...body]
}

/** A stream of Markdown on its way to a terminal. */
export class MarkdownText {
  #line = ""
  #shown = 0
  #table: Array<string> = []
  readonly #write: (text: string) => void
  readonly #emphasis: Emphasis

  constructor(write: (text: string) => void, emphasis: Emphasis) {
    this.#write = write
    this.#emphasis = emphasis
  }

  /** Adds a piece of text. */
  push(piece: string): void {
    for (const part of piece.split(/(?<=\n)/)) {
      this.#line += part
      if (this.#line.endsWith("\n")) this.#endLine()
      else if (this.#isProse()) this.#showWords()
    }
  }

  /** Shows whatever is still held back. */
  end(): void {
    if (this.#line !== "") this.#endLine()
    this.#endTable()
  }

  /** Whether the line can be shown as it grows: it is no table row, and holds no emphasis that is still open. */
  #isProse(): boolean {
    return !/^\s*(\||#|\*(?!\*|\s)|$)/.test(this.#line)
  }

  /** Shows the line up to its last word boundary outside of emphasis. */
  #showWords(): void {
    this.#endTable()
    const words = this.#line.slice(0, this.#line.lastIndexOf(" ") + 1)
    const isOpen = words.split("**").length % 2 === 0
    const until = isOpen ? words.lastIndexOf("**") : words.length
    if (until <= this.#shown) return
    this.#write(this.#inline(this.#line.slice(this.#shown, until)))
    this.#shown = until
  }

  #endLine(): void {
    const line = this.#line.replace(/\n$/, "")
    if (/^\s*\|/.test(line)) {
      this.#table.push(line)
    } else {
      this.#endTable()
      this.#write(`${this.#whole(line) ?? this.#inline(line.slice(this.#shown))}\n`)
    }
    this.#line = ""
    this.#shown = 0
  }

  /** A line that is shown as one thing: a heading, or an aside. */
  #whole(line: string): string | undefined {
    const heading = /^#+\s+(.*)$/.exec(line)?.[1]
    if (heading !== undefined) return this.#emphasis.heading(heading)
    const aside = /^\*((?:[^*]|\*\*)+)\*(?!\*)(.*)$/.exec(line)
    return aside === null
      ? undefined
      : `${this.#emphasis.light(this.#inline(aside[1] ?? ""))}${this.#inline(aside[2] ?? "")}`
  }

  #endTable(): void {
    if (this.#table.length === 0) return
    for (const line of alignTable(this.#table)) this.#write(`${this.#inline(line)}\n`)
    this.#table = []
  }

  #inline(text: string): string {
    return text.replaceAll(/\*\*([^*]+)\*\*/g, (_, strong: string) => this.#emphasis.strong(strong))
  }
}
