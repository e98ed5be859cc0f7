/**
 * Who may do what with a chat. What a chat saved was answered for its maker: beside the access that it carries, it is
 * hidden from everybody with other client metadata, so that nobody reads rows that were shown to another, and no answer
 * in it was filtered for another end user than the rest.
 *
 * Sources: decisions.md §3 ("Objects that carry access"), §4, §5 ("Row policies", last sentence); policy-cases K20 to
 * K22.
 */
import type * as DateTime from "effect/DateTime"
import type { AccessType } from "../access/Access.ts"
import { decide as decideAccess, readable } from "../access/AccessPolicy.ts"
import { type Decision, deny } from "../access/Decision.ts"
import type { Principal } from "../access/Principal.ts"
import type { Permission } from "../role/Permission.ts"
import { shownTo } from "../rowpolicy/RowVisibility.ts"
import type { Chat } from "./Chat.ts"

/** What can be done with a chat. */
export type ChatAction = "read" | "ask" | "cancel" | "update" | "delete" | "feedback"

const needed: {
  readonly [Action in ChatAction]: {
    readonly permission: Permission
    readonly access: AccessType
    readonly object: "chat"
  }
} = {
  read: { permission: "chat:read", access: "viewer", object: "chat" },
  ask: { permission: "chat:write", access: "editor", object: "chat" },
  cancel: { permission: "chat:write", access: "editor", object: "chat" },
  update: { permission: "chat:write", access: "editor", object: "chat" },
  delete: { permission: "chat:write", access: "owner", object: "chat" },
  feedback: { permission: "chat:read", access: "viewer", object: "chat" }
}

/** Whether a chat is on a reader's list: it may read it, as far as access and rows go. */
export const listed = (reader: Principal, chat: Pick<Chat, "access">, now: DateTime.Utc): boolean =>
  readable(reader, chat.access, now) && shownTo(reader, chat.access.creator)

/** Whether a principal may do something with a chat of its organization. */
export const decide = (
  principal: Principal,
  chat: Pick<Chat, "access">,
  action: ChatAction,
  now: DateTime.Utc
): Decision => {
  const { creator } = chat.access
  if (!shownTo(principal, creator)) return deny("hidden", "chat not found", { clientMetadata: "another end user's" })
  return decideAccess(principal, chat.access, needed[action], now)
}
