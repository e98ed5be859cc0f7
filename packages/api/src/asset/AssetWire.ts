/**
 * An asset on the wire, with its freshly signed addresses.
 *
 * Source: api-v2.md "Asset"; decisions.md §4 ("Signed asset URLs").
 */
import { type Asset, AssetFormat, AssetId, AssetKind, mediaType } from "@castellan/core/asset/Asset"
import { CellId } from "@castellan/core/chat/Cell"
import * as Schema from "effect/Schema"
import { text, timestamp, uuid } from "../wire/WireValue.ts"

/** A form in which an asset can be fetched. */
export const AssetFormatWire = Schema.Struct({
  format: AssetFormat.annotate({ description: "The format, such as `png`" }),
  media_type: text("The media type of the answer"),
  url: text("A signed address of the asset in this format. It works for 15 minutes, without a credential")
}).annotate({ identifier: "AssetFormat", description: "A form in which an asset can be fetched" })
export type AssetFormatWire = typeof AssetFormatWire.Type

/** Something that the analyst made for the reader, beside its words. */
export const AssetWire = Schema.Struct({
  id: uuid(AssetId, "The asset's id"),
  name: text("The title to show"),
  type: AssetKind.annotate({ description: "What the asset is" }),
  url: Schema.optionalKey(
    text(
      "A signed address of the asset in its first format, made anew on every fetch. It works for 15 minutes. Without a host it is relative to the service"
    )
  ),
  content: Schema.optionalKey(text("The asset as text, to read without a fetch: a text, or a table's first rows")),
  formats: Schema.Array(AssetFormatWire).annotate({ description: "Every form of the asset, the one to show first" }),
  cell_id: uuid(CellId, "The cell that made the asset"),
  message_cell_id: uuid(CellId, "The `cell_id` of the assistant message that the asset belongs to"),
  created_at: timestamp("When the asset was made")
}).annotate({
  identifier: "Asset",
  description: "Something that the analyst made for the reader: a chart, a table, an image, a text"
})
export type AssetWire = typeof AssetWire.Type

/** Makes a signed address of an asset in one of its formats. */
export type SignAsset = (asset: Pick<Asset, "id" | "organizationId">, format: AssetFormat) => string

/** An asset as the wire shows it. */
export const ofAsset = (asset: Asset, sign: SignAsset): AssetWire => {
  const formats = asset.formats.map((format) => ({
    format,
    media_type: mediaType[format],
    url: sign(asset, format)
  }))
  const [first] = formats
  return {
    id: asset.id,
    name: asset.name,
    type: asset.kind,
    ...(first === undefined ? {} : { url: first.url }),
    ...(asset.content === undefined ? {} : { content: asset.content }),
    formats,
    cell_id: asset.cellId,
    message_cell_id: asset.messageCellId,
    created_at: asset.createdAt
  }
}
