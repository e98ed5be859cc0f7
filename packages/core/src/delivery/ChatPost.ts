/**
 * A post: a report as it goes to one channel of the organization's chat tool.
 *
 * Source: decisions.md §6 (deliveries).
 */
import type { OrganizationId } from "../organization/Organization.ts"
import type { Report } from "../report/Report.ts"
import type { ChatChannelId, ChatUserId, DeliveryId } from "./Delivery.ts"
import type { InlineImage } from "./Mail.ts"

/** A post to one channel. */
export interface ChatPost {
  /** The same for every attempt at the same post. */
  readonly idempotencyKey: DeliveryId
  readonly organizationId: OrganizationId
  readonly channelId: ChatChannelId
  /** The people to be tagged. */
  readonly taggedUserIds: ReadonlyArray<ChatUserId>
  /** What to show; the adapter draws its blocks as the tool does. */
  readonly report: Report
  /** The report in plain text, for notifications and for tools that have no blocks. */
  readonly text: string
  /** The pictures of the report's assets, by asset id as `contentId`. */
  readonly images: ReadonlyArray<InlineImage>
}
