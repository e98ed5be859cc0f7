/**
 * An asset: something the analyst made for the reader, beside its words.
 *
 * Source: api-v2.md "Asset".
 */
import * as Schema from "effect/Schema"
import { Uuid } from "../identifier/Uuid.ts"
import { OrganizationId } from "../organization/Organization.ts"

/** An asset's id. */
export const AssetId = Uuid.pipe(Schema.brand("AssetId"))
export type AssetId = typeof AssetId.Type

/** What an asset is. */
export const AssetKind = Schema.Literals(["chart", "image", "table", "pdf", "html", "text", "download"])
export type AssetKind = typeof AssetKind.Type

/**
 * A form in which an asset's bytes are kept, such as the PNG and the SVG of one chart. `bin` is a file of which no more
 * is known.
 */
export const AssetFormat = Schema.Literals([
  "png",
  "jpeg",
  "gif",
  "svg",
  "csv",
  "json",
  "txt",
  "html",
  "pdf",
  "xlsx",
  "parquet",
  "zip",
  "bin"
])
export type AssetFormat = typeof AssetFormat.Type

/** The media type of each format. */
export const mediaType: { readonly [Format in AssetFormat]: string } = {
  png: "image/png",
  jpeg: "image/jpeg",
  gif: "image/gif",
  svg: "image/svg+xml",
  csv: "text/csv; charset=utf-8",
  json: "application/json",
  txt: "text/plain; charset=utf-8",
  html: "text/html; charset=utf-8",
  pdf: "application/pdf",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  parquet: "application/vnd.apache.parquet",
  zip: "application/zip",
  bin: "application/octet-stream"
}

/** An asset of a chat's run. Its bytes are in the asset store, one body for each format. */
export class Asset extends Schema.Class<Asset>("@castellan/core/asset/Asset")({
  id: AssetId,
  organizationId: OrganizationId,
  chatId: Uuid.pipe(Schema.brand("ChatId")),
  name: Schema.NonEmptyString,
  kind: AssetKind,
  /** The formats in which it can be fetched, the one to show first. */
  formats: Schema.Array(AssetFormat),
  /** The asset as text, to read without a fetch: a table's first rows in Markdown, a text's whole text. */
  content: Schema.optionalKey(Schema.String),
  /** The cell that made it. */
  cellId: Uuid.pipe(Schema.brand("CellId")),
  /** The cell of the assistant message that it belongs to. */
  messageCellId: Uuid.pipe(Schema.brand("CellId")),
  createdAt: Schema.DateTimeUtc
}) {}
