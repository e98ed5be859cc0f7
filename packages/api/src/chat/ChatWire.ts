/**
 * Chats on the wire: the list, the chat with its messages, its cells, and the answer of a question.
 *
 * Source: api-v2.md "Chat", "Chat summary", "ChatMessage"; decisions.md §4.
 */
import type { Answer } from "@castellan/core/chat/Answer"
import { type Cell, CellId } from "@castellan/core/chat/Cell"
import { type Chat, ChatId, ChatSource, preview } from "@castellan/core/chat/Chat"
import type { ChatSummary as DomainChatSummary, ChatView } from "@castellan/core/chat/Chats"
import { commentLength, type Feedback, Rating } from "@castellan/core/chat/Feedback"
import type { ChatMessage } from "@castellan/core/chat/ChatMessage"
import { ModelId } from "@castellan/core/model/Model"
import type { RunUsage } from "@castellan/core/run/Run"
import * as Schema from "effect/Schema"
import { AssetWire, ofAsset, type SignAsset } from "../asset/AssetWire.ts"
import { boundedText, count, flag, oneOf, text, timestamp, uuid } from "../wire/WireValue.ts"
import { CellWire, ofCell, ofFiles, QuestionFileWire } from "./CellWire.ts"

const model = ModelId.annotate({ description: "The model that answers" })
/** Characters of a summary at most. */
const summaryLength = 200

const summary = text("A short title: the first question's beginning, until somebody changes it")
const isRunning = flag("Whether a question is being answered")

/** What the runs of a chat used up. */
export const UsageWire = Schema.Struct({
  input_tokens: count("Tokens that the model read"),
  output_tokens: count("Tokens that the model wrote"),
  tool_calls: count("Calls of tools")
}).annotate({ identifier: "Usage", description: "What the runs used up" })
export type UsageWire = typeof UsageWire.Type

/** A chat on a list. */
export const ChatSummaryWire = Schema.Struct({
  id: uuid(ChatId, "The chat's id"),
  summary,
  timestamp: timestamp("When the chat was made"),
  updated_at: timestamp("When a question was last asked or answered"),
  creator_email: text("The e-mail address of the member who made the chat"),
  preview: text("The beginning of the first question, at most 200 characters"),
  source: ChatSource.annotate({ description: "Where the chat came from" }),
  model,
  is_running: isRunning
}).annotate({ identifier: "ChatSummary", description: "A chat on a list" })
export type ChatSummaryWire = typeof ChatSummaryWire.Type

/** A page of chats. */
export const ChatListWire = Schema.Struct({
  chats: Schema.Array(ChatSummaryWire).annotate({ description: "The chats of this page" }),
  total_count: count("How many chats there are on all pages")
}).annotate({ identifier: "ChatList", description: "A page of chats" })
export type ChatListWire = typeof ChatListWire.Type

/** A chat itself. */
export const ChatDetailWire = Schema.Struct({
  id: uuid(ChatId, "The chat's id"),
  model,
  summary,
  is_running: isRunning,
  usage: UsageWire
}).annotate({ identifier: "Chat", description: "A chat" })
export type ChatDetailWire = typeof ChatDetailWire.Type

/** A message of a chat. */
export const ChatMessageWire = Schema.Struct({
  role: Schema.Literals(["user", "assistant"]).annotate({ description: "Whose message it is" }),
  content: text("The message in Markdown"),
  created_at: timestamp("When the message was begun"),
  cell_id: uuid(CellId, "The cell that the message came from; assets refer to it as `message_cell_id`"),
  assets: Schema.optionalKey(
    Schema.Array(AssetWire).annotate({
      description: "What was made while the message was written; only on the assistant's"
    })
  ),
  files: Schema.optionalKey(
    Schema.Array(QuestionFileWire).annotate({ description: "The files that came with the question, where any did" })
  )
}).annotate({ identifier: "ChatMessage", description: "A question, or an answer" })
export type ChatMessageWire = typeof ChatMessageWire.Type

/** A chat with its messages and assets. */
export const ChatViewWire = Schema.Struct({
  chat: ChatDetailWire,
  messages: Schema.Array(ChatMessageWire).annotate({ description: "The messages, oldest first" }),
  assets: Schema.Array(AssetWire).annotate({ description: "Every asset of the chat, oldest first" })
}).annotate({ identifier: "ChatView", description: "A chat with its messages and assets" })
export type ChatViewWire = typeof ChatViewWire.Type

/** The answer of a question that somebody waited for. */
export const AnswerWire = Schema.Struct({
  id: uuid(CellId, "The id of the answer: its message's `cell_id`"),
  created_at: timestamp("When the answer was begun"),
  model,
  response: text("The answer in Markdown"),
  chat_id: uuid(ChatId, "The chat, to continue it"),
  assets: Schema.Array(AssetWire).annotate({ description: "What was made for the answer" })
}).annotate({ identifier: "Answer", description: "The answer of a question" })
export type AnswerWire = typeof AnswerWire.Type

/** A page of a chat's cells. */
export const CellListWire = Schema.Struct({
  chat_id: uuid(ChatId, "The chat"),
  cells: Schema.Array(CellWire).annotate({ description: "The cells of this page, oldest first" }),
  has_more: flag("Whether there are older cells than these")
}).annotate({ identifier: "CellList", description: "A page of a chat's cells" })
export type CellListWire = typeof CellListWire.Type

/** What came of a cancel. */
export const CancellationWire = Schema.Struct({
  cancelled: flag("Whether a run was cancelled; false when none was in progress")
}).annotate({ identifier: "Cancellation", description: "What came of a cancel" })
export type CancellationWire = typeof CancellationWire.Type

/** What to change of a chat; what is absent stays. */
export const UpdateChatRequest = Schema.Struct({
  summary: Schema.optionalKey(boundedText({ minimum: 1, maximum: summaryLength }, "The title"))
}).annotate({
  identifier: "UpdateChatRequest",
  description: "What to change of a chat; what is absent stays",
  message: "must be a JSON object"
})
export type UpdateChatRequest = typeof UpdateChatRequest.Type

/** A chat that was changed. */
export const UpdatedChatWire = Schema.Struct({
  id: uuid(ChatId, "The chat's id"),
  model,
  summary,
  is_running: isRunning,
  updated_at: timestamp("When a question was last asked or answered")
}).annotate({ identifier: "UpdatedChat", description: "A chat that was changed" })
export type UpdatedChatWire = typeof UpdatedChatWire.Type

/** A chat was deleted. */
export const ChatDeletionWire = Schema.Struct({
  id: uuid(ChatId, "The chat that was deleted"),
  success: flag("Always true")
}).annotate({ identifier: "ChatDeletion", description: "A chat was deleted" })
export type ChatDeletionWire = typeof ChatDeletionWire.Type

/** What the caller thinks of a chat. */
export const FeedbackRequest = Schema.Struct({
  rating: oneOf(Rating.literals, "Whether the chat was of use"),
  comment: Schema.optionalKey(boundedText({ minimum: 0, maximum: commentLength }, "What is to be said of it"))
}).annotate({
  identifier: "FeedbackRequest",
  description: "What the caller thinks of a chat; it takes the place of what they thought before",
  message: "must be a JSON object"
})
export type FeedbackRequest = typeof FeedbackRequest.Type

/** What a member thinks of a chat. */
export const FeedbackWire = Schema.Struct({
  chat_id: uuid(ChatId, "The chat"),
  rating: Rating.annotate({ description: "Whether the chat was of use" }),
  comment: Schema.optionalKey(text("What was said of it")),
  created_at: timestamp("When it was first said"),
  updated_at: timestamp("When it was last said")
}).annotate({ identifier: "Feedback", description: "What a member thinks of a chat" })
export type FeedbackWire = typeof FeedbackWire.Type

/** Usage as the wire shows it. */
export const ofUsage = (usage: RunUsage): UsageWire => ({
  input_tokens: usage.inputTokens,
  output_tokens: usage.outputTokens,
  tool_calls: usage.toolCalls
})

/** A chat on a list as the wire shows it. */
export const ofSummary = ({ chat, creatorEmail }: DomainChatSummary): ChatSummaryWire => ({
  id: chat.id,
  summary: chat.summary,
  timestamp: chat.createdAt,
  updated_at: chat.updatedAt,
  creator_email: creatorEmail,
  preview: preview(chat.firstQuestion),
  source: chat.source,
  model: chat.model,
  is_running: chat.activity._tag === "Running"
})

/** A page of chats as the wire shows it. */
export const ofPage = (page: {
  readonly chats: ReadonlyArray<DomainChatSummary>
  readonly totalCount: number
}): ChatListWire => ({ chats: page.chats.map(ofSummary), total_count: page.totalCount })

/** A message as the wire shows it. */
export const ofMessage = (message: ChatMessage, sign: SignAsset): ChatMessageWire => ({
  role: message.role,
  content: message.content,
  created_at: message.createdAt,
  cell_id: message.cellId,
  ...ofFiles(message.files),
  ...(message.role === "user" ? {} : { assets: message.assets.map((asset) => ofAsset(asset, sign)) })
})

/** A chat with what its runs left behind, as the wire shows it. */
export const ofView = ({ chat, transcript, usage }: ChatView, sign: SignAsset): ChatViewWire => ({
  chat: {
    id: chat.id,
    model: chat.model,
    summary: chat.summary,
    is_running: chat.activity._tag === "Running",
    usage: ofUsage(usage)
  },
  messages: transcript.messages.map((message) => ofMessage(message, sign)),
  assets: transcript.assets.map((asset) => ofAsset(asset, sign))
})

/** A chat that was changed, as the wire shows it. */
export const ofUpdatedChat = (chat: Chat): UpdatedChatWire => ({
  id: chat.id,
  model: chat.model,
  summary: chat.summary,
  is_running: chat.activity._tag === "Running",
  updated_at: chat.updatedAt
})

/** What a member thinks of a chat, as the wire shows it. */
export const ofFeedback = (feedback: Feedback): FeedbackWire => ({
  chat_id: feedback.chatId,
  rating: feedback.rating,
  ...(feedback.comment === undefined ? {} : { comment: feedback.comment }),
  created_at: feedback.createdAt,
  updated_at: feedback.updatedAt
})

/** An answer as the wire shows it. */
export const ofAnswer = (answer: Answer, sign: SignAsset): AnswerWire => ({
  id: answer.id,
  created_at: answer.createdAt,
  model: answer.model,
  response: answer.response,
  chat_id: answer.chatId,
  assets: answer.assets.map((asset) => ofAsset(asset, sign))
})

/** A page of cells as the wire shows it. */
export const ofCells = (
  chatId: ChatId,
  page: { readonly cells: ReadonlyArray<Cell>; readonly hasMore: boolean }
): CellListWire => ({ chat_id: chatId, cells: page.cells.map(ofCell), has_more: page.hasMore })
