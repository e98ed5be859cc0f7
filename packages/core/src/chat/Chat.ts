/**
 * A chat: questions and answers, one run for each.
 *
 * Source: api-v2.md "Chat", "Chat summary"; decisions.md §4.
 */
import * as Schema from "effect/Schema"
import { Access } from "../access/Access.ts"
import { ConnectorId } from "../connector/Connector.ts"
import { Uuid } from "../identifier/Uuid.ts"
import { MemberId } from "../member/Member.ts"
import { ModelId } from "../model/Model.ts"
import { OrganizationId } from "../organization/Organization.ts"
import { excerpt } from "../text/Excerpt.ts"

/** A chat's id. */
export const ChatId = Uuid.pipe(Schema.brand("ChatId"))
export type ChatId = typeof ChatId.Type

/** Where a chat came from. */
export const ChatSource = Schema.Literals(["api", "console", "playbook", "agent", "mcp"])
export type ChatSource = typeof ChatSource.Type

/**
 * The tools that a run may use. A tool that is off is not offered to the model, and a call of it is refused.
 *
 * Source: decisions.md §4 ("With no `tools`, SQL, Python and ontology are on, the others off").
 */
export const ToolConfiguration = Schema.Struct({
  /** The only connectors that the run may use; absent: every one that the caller may use. */
  connectorIds: Schema.optionalKey(Schema.Array(ConnectorId)),
  sql: Schema.Boolean,
  python: Schema.Boolean,
  webSearch: Schema.Boolean,
  ontology: Schema.Boolean,
  biA: Schema.Boolean,
  biB: Schema.Boolean,
  fileStorage: Schema.Boolean
})
export type ToolConfiguration = typeof ToolConfiguration.Type

/** What a run may use when the caller says nothing. */
export const defaultTools: ToolConfiguration = {
  sql: true,
  python: true,
  webSearch: false,
  ontology: true,
  biA: false,
  biB: false,
  fileStorage: false
}

/** Whether a run is in progress. A chat has at most one at a time. */
export const ChatActivity = Schema.TaggedUnion({
  Idle: {},
  Running: { runId: Uuid.pipe(Schema.brand("RunId")) }
})
export type ChatActivity = typeof ChatActivity.Type

/** A chat of an organization. */
export class Chat extends Schema.Class<Chat>("@castellan/core/chat/Chat")({
  id: ChatId,
  organizationId: OrganizationId,
  source: ChatSource,
  model: ModelId,
  tools: ToolConfiguration,
  /** A short title; the first question's beginning until somebody changes it. */
  summary: Schema.String,
  firstQuestion: Schema.String,
  createdBy: MemberId,
  access: Access,
  activity: ChatActivity,
  createdAt: Schema.DateTimeUtc,
  updatedAt: Schema.DateTimeUtc
}) {}

/** Characters of the preview at most. Source: decisions.md §4. */
export const previewLength = 200

/** Characters of a title that somebody gives a chat, at most. */
export const maxSummaryLength = 200

const summaryLength = 80

/** A question's beginning, on one line: what a list of chats shows. */
export const preview = (question: string): string => excerpt(question.replaceAll(/\s+/g, " ").trim(), previewLength)

/** The title of a chat that nobody has named yet. */
export const summaryOf = (question: string): string => excerpt(question.replaceAll(/\s+/g, " ").trim(), summaryLength)
