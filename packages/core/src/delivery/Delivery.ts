/**
 * A delivery: one report on its way to one target. Each target of a run has one, and it is sent at most once.
 *
 * Source: decisions.md §6 ("Deliveries are retried with back-off, recorded per target, never sent twice for one run").
 */
import * as Schema from "effect/Schema"
import { Uuid } from "../identifier/Uuid.ts"
import { EmailAddress } from "../member/EmailAddress.ts"
import { OrganizationId } from "../organization/Organization.ts"
import { ReportId } from "../report/Report.ts"

/** A delivery's id; also the key by which an adapter recognizes a message that it has sent before. */
export const DeliveryId = Uuid.pipe(Schema.brand("DeliveryId"))
export type DeliveryId = typeof DeliveryId.Type

/** A channel of the organization's chat tool, as that tool names it. */
export const ChatChannelId = Schema.String.check(
  Schema.isPattern(/^[\x21-\x7e]{1,255}$/, { title: "a chat channel's id" })
).pipe(Schema.brand("ChatChannelId"))
export type ChatChannelId = typeof ChatChannelId.Type

/** A person of the organization's chat tool, as that tool names them. */
export const ChatUserId = Schema.String.check(
  Schema.isPattern(/^[\x21-\x7e]{1,255}$/, { title: "a chat user's id" })
).pipe(Schema.brand("ChatUserId"))
export type ChatUserId = typeof ChatUserId.Type

/** Where a report goes. */
export const DeliveryTarget = Schema.TaggedUnion({
  Email: { address: EmailAddress },
  /** A chat channel, with the people to be tagged in the message. */
  ChatChannel: { channelId: ChatChannelId, taggedUserIds: Schema.Array(ChatUserId) }
})
export type DeliveryTarget = typeof DeliveryTarget.Type

/** A target as one text, the same for targets that are the same: the case of an address does not tell two apart. */
export const targetKey = (target: DeliveryTarget): string =>
  target._tag === "Email" ? `email:${target.address.toLowerCase()}` : `chat_channel:${target.channelId}`

/** How far a delivery has come. `attempts` counts the attempts that were begun. */
export const DeliveryStatus = Schema.TaggedUnion({
  /** Waits for its first attempt. */
  Pending: {},
  /** An attempt is under way; past `until`, whoever began it is taken to be gone. */
  Sending: { attempts: Schema.Int, startedAt: Schema.DateTimeUtc, until: Schema.DateTimeUtc },
  Delivered: { attempts: Schema.Int, deliveredAt: Schema.DateTimeUtc },
  /** The last attempt failed, and there will be another. */
  Failed: { attempts: Schema.Int, failedAt: Schema.DateTimeUtc, error: Schema.String, nextAt: Schema.DateTimeUtc },
  /** There will be no further attempt. */
  GivenUp: { attempts: Schema.Int, givenUpAt: Schema.DateTimeUtc, error: Schema.String }
})
export type DeliveryStatus = typeof DeliveryStatus.Type

/** One report on its way to one target. */
export class Delivery extends Schema.Class<Delivery>("@castellan/core/delivery/Delivery")({
  id: DeliveryId,
  organizationId: OrganizationId,
  playbookId: Uuid.pipe(Schema.brand("PlaybookId")),
  runId: Uuid.pipe(Schema.brand("PlaybookRunId")),
  reportId: ReportId,
  target: DeliveryTarget,
  status: DeliveryStatus,
  createdAt: Schema.DateTimeUtc
}) {}
