/**
 * A message of a chat: a question, or an answer with what was made for it.
 *
 * Source: api-v2.md "ChatMessage".
 */
import * as Schema from "effect/Schema"
import { Asset } from "../asset/Asset.ts"
import { CellId } from "./Cell.ts"
import { QuestionFile } from "./Upload.ts"

/** A message of a chat. It is read from the logs of the chat's runs, and is nowhere else. */
export class ChatMessage extends Schema.Class<ChatMessage>("@castellan/core/chat/ChatMessage")({
  role: Schema.Literals(["user", "assistant"]),
  /** Markdown. */
  content: Schema.String,
  createdAt: Schema.DateTimeUtc,
  /** The cell that the message came from. */
  cellId: CellId,
  /** What was made while the message was written; empty for the user's. */
  assets: Schema.Array(Asset),
  /** The files that came with a question; absent where none did. */
  files: Schema.optionalKey(Schema.Array(QuestionFile))
}) {}
