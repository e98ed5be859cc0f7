/**
 * The blocks of a report on the wire.
 *
 * Source: api-v2.md "Report" (`Block`); decisions.md §6 ("Block `type`").
 */
import type { AssetId } from "@castellan/core/asset/Asset"
import { type Block, ImageVariant, type ImageSource } from "@castellan/core/report/Block"
import * as Schema from "effect/Schema"
import { count, flag, text } from "../wire/WireValue.ts"

/** The kinds of block. */
export const BlockType = Schema.Literals([
  "hero",
  "text",
  "image",
  "list",
  "image_text",
  "card",
  "divider",
  "spacer",
  "table",
  "metric",
  "chart"
]).annotate({ description: "What the block is" })
export type BlockType = typeof BlockType.Type

/** A column of a table. */
export const BlockColumnWire = Schema.Struct({
  name: text("What the column is called"),
  numeric: flag("Whether the column holds numbers, which stand to the right")
}).annotate({ identifier: "BlockColumn", description: "A column of a table" })
export type BlockColumnWire = typeof BlockColumnWire.Type

/** A block of a report. Which fields it has follows from its type. */
export interface BlockWire {
  readonly type: BlockType
  readonly heading?: string
  readonly content?: string
  readonly image_url?: string
  readonly image_alt?: string
  readonly variant?: ImageVariant
  readonly items?: ReadonlyArray<string>
  readonly blocks?: ReadonlyArray<BlockWire>
  readonly height?: number
  readonly columns?: ReadonlyArray<BlockColumnWire>
  readonly rows?: ReadonlyArray<ReadonlyArray<string>>
}

const nested: Schema.Codec<BlockWire> = Schema.suspend((): Schema.Codec<BlockWire> => BlockWire)

/** A block of a report. */
export const BlockWire: Schema.Codec<BlockWire> = Schema.Struct({
  type: BlockType,
  heading: Schema.optionalKey(text("What stands above; of a `metric`, which number it is")),
  content: Schema.optionalKey(
    text("Markdown; of a `metric`, the number; of a `table`, what is to be known of its rows")
  ),
  image_url: Schema.optionalKey(text("Where the image of an `image`, an `image_text` or a `chart` is")),
  image_alt: Schema.optionalKey(text("What the image shows, in words")),
  variant: Schema.optionalKey(ImageVariant.annotate({ description: "The shape that the image is cut to" })),
  items: Schema.optionalKey(
    Schema.Array(Schema.String).annotate({ description: "The lines of a `list`, in Markdown" })
  ),
  blocks: Schema.optionalKey(Schema.Array(nested).annotate({ description: "The blocks in a `card`" })),
  height: Schema.optionalKey(count("How high a `spacer` is, in pixels")),
  columns: Schema.optionalKey(Schema.Array(BlockColumnWire).annotate({ description: "The columns of a `table`" })),
  rows: Schema.optionalKey(
    Schema.Array(Schema.Array(Schema.String)).annotate({ description: "The rows of a `table`, as they are to be read" })
  )
}).annotate({ identifier: "Block", description: "A block of a report. Which fields it has follows from its type" })

/** Where an asset's image is; nothing for an asset that is gone. */
export type ImageUrl = (id: AssetId) => string | undefined

const headingOf = (block: { readonly heading?: string }) =>
  block.heading === undefined ? {} : { heading: block.heading }

const imageOf = (source: ImageSource, url: ImageUrl): { readonly image_url?: string } => {
  const address = source._tag === "Web" ? source.url : url(source.assetId)
  return address === undefined ? {} : { image_url: address }
}

const chartOf = (id: AssetId, url: ImageUrl): { readonly image_url?: string } => {
  const address = url(id)
  return address === undefined ? {} : { image_url: address }
}

/** A block as the wire shows it. */
export const ofBlock = (block: Block, url: ImageUrl): BlockWire => {
  switch (block._tag) {
    case "Hero":
      return {
        type: "hero",
        heading: block.heading,
        ...(block.content === undefined ? {} : { content: block.content })
      }
    case "Text":
      return { type: "text", ...headingOf(block), content: block.content }
    case "Image":
      return {
        type: "image",
        ...headingOf(block),
        ...imageOf(block.image, url),
        image_alt: block.alt,
        variant: block.variant
      }
    case "List":
      return { type: "list", ...headingOf(block), items: block.items }
    case "ImageText":
      return {
        type: "image_text",
        ...headingOf(block),
        ...imageOf(block.image, url),
        image_alt: block.alt,
        variant: block.variant,
        content: block.content
      }
    case "Card":
      return {
        type: "card",
        ...headingOf(block),
        ...(block.content === undefined ? {} : { content: block.content }),
        blocks: block.blocks.map((inner) => ofBlock(inner, url))
      }
    case "Divider":
      return { type: "divider" }
    case "Spacer":
      return { type: "spacer", height: block.height }
    case "Table":
      return {
        type: "table",
        ...headingOf(block),
        columns: block.columns,
        rows: block.rows,
        ...(block.note === undefined ? {} : { content: block.note })
      }
    case "Metric":
      return { type: "metric", heading: block.heading, content: block.content }
    case "Chart":
      return { type: "chart", ...headingOf(block), ...chartOf(block.assetId, url), image_alt: block.alt }
  }
}
