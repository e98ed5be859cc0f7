/**
 * The blocks that a report is made of. They say what is shown, not how: the mail, the console and the chat channel
 * each draw them in their own way.
 *
 * Source: api-v2.md "Report" (`Block`); decisions.md §6 ("Block `type`").
 */
import * as Schema from "effect/Schema"
import { AssetId } from "../asset/Asset.ts"

/** The shape that an image is cut to; `none` leaves it as it is. */
export const ImageVariant = Schema.Literals(["circular", "rounded", "pill", "none"])
export type ImageVariant = typeof ImageVariant.Type

/** Where an image's bytes are. */
export const ImageSource = Schema.TaggedUnion({
  /** An asset of the run, as PNG. Its address is signed anew for every reader, so that no report holds one. */
  Asset: { assetId: AssetId },
  /** A picture of the web. Nothing but `https` is taken, so that no reader's mail client is sent elsewhere. */
  Web: { url: Schema.String.check(Schema.isPattern(/^https:\/\/[^\s"'<>\\]+$/, { title: "an https address" })) }
})
export type ImageSource = typeof ImageSource.Type

const image = { image: ImageSource, alt: Schema.String, variant: ImageVariant }
const heading = { heading: Schema.optionalKey(Schema.String) }

/** A column of a table block; numbers stand to the right. */
export const TableColumn = Schema.Struct({ name: Schema.String, numeric: Schema.Boolean })
export type TableColumn = typeof TableColumn.Type

/** A block that holds no others. `content` is Markdown wherever it is said to be; all other text is plain. */
export const LeafBlock = Schema.TaggedUnion({
  /** The head of a report. */
  Hero: { heading: Schema.String, content: Schema.optionalKey(Schema.String) },
  /** Markdown. */
  Text: { ...heading, content: Schema.String },
  Image: { ...heading, ...image },
  /** Each item is a line of Markdown. */
  List: { ...heading, items: Schema.Array(Schema.String) },
  /** An image with Markdown beside it. */
  ImageText: { ...heading, ...image, content: Schema.String },
  Divider: {},
  /** Empty room; `height` in pixels. */
  Spacer: { height: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 512 })) },
  Table: {
    ...heading,
    columns: Schema.Array(TableColumn),
    rows: Schema.Array(Schema.Array(Schema.String)),
    /** What is to be known of the rows: how many more there are. */
    note: Schema.optionalKey(Schema.String)
  },
  /** One number that matters: `heading` says which, `content` is the number as it is to be read. */
  Metric: { heading: Schema.String, content: Schema.String },
  /** A chart of the run. */
  Chart: { ...heading, assetId: AssetId, alt: Schema.String }
})
export type LeafBlock = typeof LeafBlock.Type

/** A frame around other blocks. */
export interface CardBlock {
  readonly _tag: "Card"
  readonly heading?: string
  /** Markdown, before the blocks. */
  readonly content?: string
  readonly blocks: ReadonlyArray<Block>
}

/** One block of a report. */
export type Block = LeafBlock | CardBlock

interface CardBlockEncoded {
  readonly _tag: "Card"
  readonly heading?: string
  readonly content?: string
  readonly blocks: ReadonlyArray<BlockEncoded>
}

/** A block as the schemas encode it: identifiers without their brands. */
export type BlockEncoded = typeof LeafBlock.Encoded | CardBlockEncoded

const nested: Schema.Codec<Block, BlockEncoded> = Schema.suspend((): Schema.Codec<Block, BlockEncoded> => Block)

/** A frame around other blocks. */
export const CardBlock: Schema.Codec<CardBlock, CardBlockEncoded> = Schema.TaggedStruct("Card", {
  ...heading,
  content: Schema.optionalKey(Schema.String),
  blocks: Schema.Array(nested)
})

/** One block of a report. */
export const Block: Schema.Codec<Block, BlockEncoded> = Schema.Union([LeafBlock, CardBlock])

/** How deep cards may lie in one another: a block of the report itself is at depth 1. */
export const maximumDepth = 4

/** How many blocks a report may have, those in cards among them. */
export const maximumBlocks = 500

/** The depth of the deepest block, 0 where there is none. */
export const depthOf = (blocks: ReadonlyArray<Block>): number =>
  blocks.reduce((deepest, block) => Math.max(deepest, block._tag === "Card" ? 1 + depthOf(block.blocks) : 1), 0)

/** How many blocks there are, those in cards among them. */
export const countOf = (blocks: ReadonlyArray<Block>): number =>
  blocks.reduce((count, block) => count + 1 + (block._tag === "Card" ? countOf(block.blocks) : 0), 0)

/** The blocks of a report, bounded in depth and number, so that every reader can draw them. */
export const Blocks = Schema.Array(Block).check(
  Schema.makeFilter((blocks) => depthOf(blocks) <= maximumDepth || `blocks lie more than ${maximumDepth} deep`),
  Schema.makeFilter((blocks) => countOf(blocks) <= maximumBlocks || `more than ${maximumBlocks} blocks`)
)
