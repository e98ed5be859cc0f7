/**
 * Markdown as answers have it, read into blocks: headings, paragraphs, lists, tables, code, quotes, rules and pictures.
 * Each remembers its source, so that a report can keep it.
 */
import type { TableColumn } from "./Block.ts"
import * as Inline from "./Inline.ts"

/** A block of Markdown. */
export type MarkdownBlock = { readonly source: string } & (
  | { readonly _tag: "Heading"; readonly level: number; readonly text: string }
  | { readonly _tag: "Paragraph"; readonly text: string }
  | { readonly _tag: "List"; readonly ordered: boolean; readonly items: ReadonlyArray<string> }
  | { readonly _tag: "Quote"; readonly text: string }
  | { readonly _tag: "Code"; readonly text: string }
  | {
      readonly _tag: "Table"
      readonly columns: ReadonlyArray<TableColumn>
      readonly rows: ReadonlyArray<ReadonlyArray<string>>
    }
  | { readonly _tag: "Rule" }
  /** A picture that stands alone. */
  | { readonly _tag: "Picture"; readonly url: string; readonly alt: string }
)

// Whatever follows the blanks is taken as a whole: looking for the end of a line in it would take the square of them.
const heading = /^ {0,3}(#{1,6})\s+(.*)$/s
const rule = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/
const fence = /^ {0,3}(`{3,}|~{3,})/
const quote = /^ {0,3}>\s?/
const bullet = /^ {0,3}[-*+]\s+/
const numeral = /^ {0,3}\d{1,9}[.)]\s+/
const picture = /^!\[([^\]]*)\]\(\s*(\S+?)\s*\)$/
const delimiter = /^\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?$/

/** The cells of a line of a table. An escaped bar is no border, and stays escaped for whoever reads the cell. */
const cells = (line: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  let cell = ""
  for (let index = 0; index < line.length; index++) {
    const character = line[index] ?? ""
    if (character === "\\") {
      cell += character + (line[index + 1] ?? "")
      index += 1
    } else if (character === "|") {
      found.push(cell.trim())
      cell = ""
    } else cell += character
  }
  if (cell.trim() !== "") found.push(cell.trim())
  return line.trimStart().startsWith("|") ? found.slice(1) : found
}

const plainCell = (cell: string): string => Inline.plain(Inline.parse(cell))

/** Whether a line begins something other than a paragraph. */
const begins = (line: string): boolean =>
  heading.test(line) ||
  rule.test(line) ||
  fence.test(line) ||
  quote.test(line) ||
  bullet.test(line) ||
  numeral.test(line) ||
  picture.test(line.trim())

/** A line ends as CommonMark says: a carriage return alone ends one as well. */
const lineEnd = /\r\n|\r|\n/

/** Reads Markdown into its blocks. Whatever it does not know is a paragraph: nothing is lost. */
export const parse = (markdown: string): ReadonlyArray<MarkdownBlock> => {
  const lines = markdown.split(lineEnd)
  const blocks: Array<MarkdownBlock> = []
  let index = 0

  const at = (offset: number): string => lines[index + offset] ?? ""
  /** How many lines from here on, after the first, go on with what the first began. */
  const run = (goesOn: (line: string) => boolean): number => {
    let count = 1
    while (index + count < lines.length && goesOn(at(count))) count += 1
    return count
  }
  const take = (count: number): { readonly source: string; readonly taken: ReadonlyArray<string> } => {
    const taken = lines.slice(index, index + count)
    index += count
    return { source: taken.join("\n"), taken }
  }

  while (index < lines.length) {
    const line = at(0)
    if (line.trim() === "") {
      index += 1
      continue
    }
    const title = heading.exec(line)
    if (title !== null) {
      blocks.push({
        _tag: "Heading",
        level: title[1]?.length ?? 1,
        text: (title[2] ?? "").trim(),
        source: take(1).source
      })
      continue
    }
    if (rule.test(line)) {
      blocks.push({ _tag: "Rule", source: take(1).source })
      continue
    }
    const mark = fence.exec(line)?.[1]
    if (mark !== undefined) {
      const body = run((other) => !other.trimStart().startsWith(mark))
      const closed = index + body < lines.length ? 1 : 0
      const { source, taken } = take(body + closed)
      blocks.push({ _tag: "Code", text: taken.slice(1, body).join("\n"), source })
      continue
    }
    if (quote.test(line)) {
      const { source, taken } = take(run((other) => quote.test(other)))
      blocks.push({ _tag: "Quote", text: taken.map((one) => one.replace(quote, "")).join("\n"), source })
      continue
    }
    const image = picture.exec(line.trim())
    if (image !== null) {
      blocks.push({ _tag: "Picture", alt: image[1] ?? "", url: image[2] ?? "", source: take(1).source })
      continue
    }
    const item = bullet.test(line) ? bullet : numeral.test(line) ? numeral : undefined
    if (item !== undefined) {
      const { source, taken } = take(run((other) => other.trim() !== "" && (item.test(other) || !begins(other))))
      const items: Array<string> = []
      for (const one of taken) {
        if (item.test(one)) items.push(one.replace(item, ""))
        else items.push(`${items.pop() ?? ""} ${one.trim()}`)
      }
      blocks.push({ _tag: "List", ordered: item === numeral, items, source })
      continue
    }
    if (line.includes("|") && at(1).includes("|") && delimiter.test(at(1).trim())) {
      const sides = cells(at(1))
      const { source, taken } = take(run((other) => other.includes("|")))
      const columns = cells(taken[0] ?? "").map((name, column) => ({
        name: plainCell(name),
        numeric: sides[column]?.endsWith(":") === true && !sides[column].startsWith(":")
      }))
      const rows = taken.slice(2).map((row) => {
        const found = cells(row)
        return columns.map((_, column) => plainCell(found[column] ?? ""))
      })
      blocks.push({ _tag: "Table", columns, rows, source })
      continue
    }
    const { source } = take(run((other) => other.trim() !== "" && !begins(other)))
    blocks.push({ _tag: "Paragraph", text: source.trim(), source })
  }
  return blocks
}
