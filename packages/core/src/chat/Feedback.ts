/**
 * What a reader thinks of a chat. Each member has one opinion of it, the latest.
 *
 * Source: decisions.md §4 (`POST …/feedback`).
 */
import * as Schema from "effect/Schema"
import { MemberId } from "../member/Member.ts"
import { OrganizationId } from "../organization/Organization.ts"
import { ChatId } from "./Chat.ts"

/** Whether the chat was of use. */
export const Rating = Schema.Literals(["up", "down"])
export type Rating = typeof Rating.Type

/** Characters of a comment at most. */
export const commentLength = 10_000

/** What is said of a chat. */
export const Opinion = Schema.Struct({
  rating: Rating,
  comment: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(commentLength)))
})
export type Opinion = typeof Opinion.Type

/** A member's opinion of a chat. */
export class Feedback extends Schema.Class<Feedback>("@castellan/core/chat/Feedback")({
  organizationId: OrganizationId,
  chatId: ChatId,
  memberId: MemberId,
  ...Opinion.fields,
  createdAt: Schema.DateTimeUtc,
  updatedAt: Schema.DateTimeUtc
}) {}
