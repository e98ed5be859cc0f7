/**
 * The report of a finished run: what its answer says, as sections, and what it made, as charts, tables and numbers.
 *
 * Source: decisions.md §6 ("A finished run without a report is `no_report`", "Block `type`").
 */
import * as Option from "effect/Option"
import type { Asset } from "../asset/Asset.ts"
import type { Transcript } from "../chat/Transcript.ts"
import { excerpt } from "../text/Excerpt.ts"
import type { Block } from "./Block.ts"
import * as Inline from "./Inline.ts"
import * as Markdown from "./Markdown.ts"

/** What a report says, before it is kept. */
export interface ReportContent {
  readonly subject: string
  readonly summary: string
  readonly blocks: ReadonlyArray<Block>
}

/** Characters of a subject, and of a summary, at most. */
const subjectLength = 150
const summaryLength = 300

/** A table of one row with few numbers in it is read as numbers. */
const maximumMetrics = 4

/** Sections and assets at most, so that a report keeps within the bounds of its blocks whatever a run brings. */
const maximumSections = 100
const maximumAssets = 75

const oneSpace = (text: string): string => text.replaceAll(/\s+/g, " ").trim()

const oneLine = (text: string): string => oneSpace(Inline.plain(Inline.parse(text)))

/** The sections of an answer: a heading begins one, and whatever is no prose stands alone. */
const sectionsOf = (answer: ReadonlyArray<Markdown.MarkdownBlock>): ReadonlyArray<Block> => {
  const sections: Array<Block> = []
  let heading: string | undefined
  let prose: Array<string> = []
  const close = (): void => {
    if (heading !== undefined || prose.length > 0) {
      sections.push({ _tag: "Text", ...(heading === undefined ? {} : { heading }), content: prose.join("\n\n") })
    }
    heading = undefined
    prose = []
  }
  /** What is no prose takes the heading that stands right before it. */
  const alone = (block: (heading: { readonly heading?: string }) => Block): void => {
    const own = prose.length === 0 && heading !== undefined ? { heading } : {}
    if (own.heading !== undefined) heading = undefined
    close()
    sections.push(block(own))
  }
  for (const block of answer) {
    switch (block._tag) {
      case "Heading":
        close()
        heading = oneLine(block.text)
        break
      case "Rule":
        close()
        sections.push({ _tag: "Divider" })
        break
      case "Table":
        alone((own) => ({ _tag: "Table", ...own, columns: block.columns, rows: block.rows }))
        break
      case "Picture":
        // A picture of elsewhere would tell that place who reads the report; it is named, not shown.
        if (block.alt.trim() !== "") prose.push(block.alt)
        break
      default:
        prose.push(block.source)
    }
  }
  close()
  return sections
}

/** A table that a run made; its content is the Markdown of its first rows. */
const tableBlock = (asset: Asset, content: string): Block => {
  const parsed = Markdown.parse(content)
  const table = parsed.find((block) => block._tag === "Table")
  if (table === undefined) return { _tag: "Text", heading: asset.name, content }
  const [row, ...others] = table.rows
  const isMetrics =
    row !== undefined &&
    others.length === 0 &&
    table.columns.length <= maximumMetrics &&
    table.columns.every((column) => column.numeric)
  if (isMetrics) {
    const metrics = table.columns.map((column, index): Block => ({
      _tag: "Metric",
      heading: column.name,
      content: row[index] ?? ""
    }))
    return { _tag: "Card", heading: asset.name, blocks: metrics }
  }
  const rest = parsed.flatMap((block) => (block._tag === "Paragraph" ? [oneLine(block.text)] : []))
  return {
    _tag: "Table",
    heading: asset.name,
    columns: table.columns,
    rows: table.rows,
    ...(rest.length === 0 ? {} : { note: rest.join(" ") })
  }
}

/** What a run made, as a block; nothing where it can only be fetched. */
const blockOf = (asset: Asset): Block | undefined => {
  const drawn = asset.formats.includes("png")
  switch (asset.kind) {
    case "chart":
      return drawn ? { _tag: "Chart", heading: asset.name, assetId: asset.id, alt: asset.name } : undefined
    case "image":
      return drawn
        ? {
            _tag: "Image",
            heading: asset.name,
            image: { _tag: "Asset", assetId: asset.id },
            alt: asset.name,
            variant: "none"
          }
        : undefined
    case "table":
      return asset.content === undefined ? undefined : tableBlock(asset, asset.content)
    case "text":
      return asset.content === undefined
        ? undefined
        : { _tag: "Card", heading: asset.name, blocks: [{ _tag: "Text", content: asset.content }] }
    case "pdf":
    case "html":
    case "download":
      return undefined
  }
}

/** A name as it stands in Markdown: whatever would be markup is escaped. */
const literal = (name: string): string => name.replaceAll(/[\\`*_[\]!<>]/g, "\\$&")

/** The blocks of what a run made, and the names of what can only be fetched. */
const assetBlocks = (assets: ReadonlyArray<Asset>): ReadonlyArray<Block> => {
  const blocks: Array<Block> = []
  const files: Array<string> = []
  for (const asset of assets.slice(0, maximumAssets)) {
    const block = blockOf(asset)
    if (block === undefined) files.push(literal(asset.name))
    else blocks.push(block)
  }
  const left = assets.length - maximumAssets
  if (left > 0) files.push(`and ${left} more`)
  return files.length === 0 ? blocks : [...blocks, { _tag: "List", heading: "Files", items: files }]
}

/** The first words of an answer: its first paragraph, or whatever it says first. */
const summaryOf = (answer: ReadonlyArray<Markdown.MarkdownBlock>): string => {
  const first =
    answer.find((block) => block._tag === "Paragraph") ??
    answer.find((block) => block._tag === "List" || block._tag === "Quote") ??
    answer.find((block) => block._tag === "Heading")
  if (first === undefined) return ""
  switch (first._tag) {
    case "List":
      return excerpt(first.items.map(oneLine).join("; "), summaryLength)
    case "Paragraph":
    case "Quote":
    case "Heading":
      return excerpt(oneLine(first.text), summaryLength)
    default:
      return ""
  }
}

/**
 * The report of a run, by what it left in its log; none where it neither said nor made anything. `name` is the
 * playbook's; without one, the answer's own title is the subject.
 */
export const reportOfRun = (
  name: string,
  transcript: Pick<Transcript, "messages" | "assets">
): Option.Option<ReportContent> => {
  const words = transcript.messages
    .filter((message) => message.role === "assistant")
    .map((message) => message.content)
    .join("\n\n")
  const answer = Markdown.parse(words)
  if (answer.every((block) => block._tag === "Rule") && transcript.assets.length === 0) return Option.none()
  const [first] = answer
  const title = first?._tag === "Heading" ? oneLine(first.text) : ""
  const subject = excerpt(oneSpace(name) || title || "Report", subjectLength)
  const body = title !== "" && title === subject ? answer.slice(1) : answer
  const sections = sectionsOf(body)
  return Option.some({
    subject,
    summary: summaryOf(body),
    blocks: [
      { _tag: "Hero", heading: subject },
      ...(sections.length > maximumSections ? [{ _tag: "Text" as const, content: words }] : sections),
      ...assetBlocks(transcript.assets)
    ]
  })
}
