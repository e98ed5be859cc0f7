/**
 * Reports on the wire.
 *
 * Source: api-v2.md "Report"; decisions.md §6.
 */
import type { Asset } from "@castellan/core/asset/Asset"
import { ChatId } from "@castellan/core/chat/Chat"
import { type Report, ReportId } from "@castellan/core/report/Report"
import * as Schema from "effect/Schema"
import type { SignAsset } from "../asset/AssetWire.ts"
import { text, timestamp, uuid } from "../wire/WireValue.ts"
import { BlockWire, type ImageUrl, ofBlock } from "./BlockWire.ts"

/** A report. */
export const ReportWire = Schema.Struct({
  id: uuid(ReportId, "The report's id"),
  subject: text("What it is about, in one line"),
  summary: text("What it comes to, in a sentence or two; may be empty"),
  blocks: Schema.Array(BlockWire).annotate({ description: "The report's parts, from the top" }),
  html_preview: text("The report as HTML that needs nothing from elsewhere, as it is mailed"),
  chat_id: uuid(ChatId, "The chat that it was found out in"),
  created_at: timestamp("When it was made")
}).annotate({ identifier: "Report", description: "What a playbook's run found, laid out to be read" })
export type ReportWire = typeof ReportWire.Type

/** Where the images of a report's assets are, by addresses that are signed anew. */
export const imageUrls = (assets: ReadonlyArray<Asset>, sign: SignAsset): ImageUrl => {
  const byId = new Map(assets.map((asset) => [asset.id, asset]))
  return (id) => {
    const asset = byId.get(id)
    if (asset === undefined) return undefined
    const format = asset.formats.includes("png") ? "png" : asset.formats[0]
    return format === undefined ? undefined : sign(asset, format)
  }
}

/** A report as the wire shows it, with its page and the addresses of its images. */
export const ofReport = (report: Report, html: string, url: ImageUrl): ReportWire => ({
  id: report.id,
  subject: report.subject,
  summary: report.summary,
  blocks: report.blocks.map((block) => ofBlock(block, url)),
  html_preview: html,
  chat_id: report.chatId,
  created_at: report.createdAt
})
