/**
 * A report as it is sent: as a mail with its pictures inside, or as a post with them beside it.
 *
 * Source: decisions.md §6.
 */
import * as Effect from "effect/Effect"
import type { AssetId } from "../asset/Asset.ts"
import type { AssetStore } from "../asset/AssetStore.ts"
import type { EmailAddress } from "../member/EmailAddress.ts"
import type { Report } from "../report/Report.ts"
import * as ReportHtml from "../report/ReportHtml.ts"
import * as ReportPictures from "../report/ReportPictures.ts"
import * as ReportText from "../report/ReportText.ts"
import type { ChatPost } from "./ChatPost.ts"
import type { Delivery, DeliveryTarget } from "./Delivery.ts"
import type { InlineImage, Mail } from "./Mail.ts"

const images = (pictures: ReadonlyMap<AssetId, Uint8Array>): ReadonlyArray<InlineImage> =>
  [...pictures].map(([contentId, content]) => ({ contentId, mediaType: "image/png", content }))

/** A report as a mail. Its HTML refers to its pictures by their content ids: mail clients show no `data:` addresses. */
export const mail = (delivery: Delivery, to: EmailAddress, report: Report): Effect.Effect<Mail, never, AssetStore> =>
  Effect.map(ReportPictures.load(report), (pictures) => ({
    idempotencyKey: delivery.id,
    to,
    subject: report.subject,
    html: ReportHtml.render(report, (id) => (pictures.has(id) ? `cid:${id}` : undefined)),
    text: ReportText.render(report),
    images: images(pictures)
  }))

/** A report as a post. */
export const post = (
  delivery: Delivery,
  to: Extract<DeliveryTarget, { readonly _tag: "ChatChannel" }>,
  report: Report
): Effect.Effect<ChatPost, never, AssetStore> =>
  Effect.map(ReportPictures.load(report), (pictures) => ({
    idempotencyKey: delivery.id,
    organizationId: delivery.organizationId,
    channelId: to.channelId,
    taggedUserIds: to.taggedUserIds,
    report,
    text: ReportText.render(report),
    images: images(pictures)
  }))
