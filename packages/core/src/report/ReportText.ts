/**
 * A report as plain text: the other half of a mail, and what a chat channel's notification says. Its Markdown is read
 * well as it is.
 */
import type { Block } from "./Block.ts"
import * as Inline from "./Inline.ts"
import type { Report } from "./Report.ts"

const headed = (heading: string | undefined, ...lines: ReadonlyArray<string>): string =>
  [heading ?? "", ...lines].filter((line) => line !== "").join("\n")

const tableText = ({ columns, note, rows }: Extract<Block, { readonly _tag: "Table" }>): string => {
  const lines = [columns.map((column) => column.name), ...rows]
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => (line[index] ?? "").length)))
  const text = lines
    .map((line) =>
      columns
        .map(({ numeric }, index) => {
          const room = widths[index] ?? 0
          return numeric ? (line[index] ?? "").padStart(room) : (line[index] ?? "").padEnd(room)
        })
        .join("  ")
        .trimEnd()
    )
    .join("\n")
  return note === undefined ? text : `${text}\n${note}`
}

const blockText = (block: Block): string => {
  switch (block._tag) {
    case "Hero":
      return headed(block.heading, block.content ?? "")
    case "Text":
      return headed(block.heading, block.content)
    case "Image":
    case "Chart":
      return headed(block.heading, block.alt === block.heading ? "" : block.alt)
    case "List":
      return headed(block.heading, ...block.items.map((item) => `- ${Inline.plain(Inline.parse(item))}`))
    case "ImageText":
      return headed(block.heading, block.content)
    case "Divider":
      return "----"
    case "Spacer":
      return ""
    case "Table":
      return headed(block.heading, tableText(block))
    case "Metric":
      return `${block.heading}: ${block.content}`
    case "Card":
      return headed(block.heading, block.content ?? "", ...block.blocks.map(blockText))
  }
}

/** A report as plain text. */
export const render = (report: Pick<Report, "blocks">): string =>
  `${report.blocks
    .map(blockText)
    .filter((text) => text !== "")
    .join("\n\n")}\n`
