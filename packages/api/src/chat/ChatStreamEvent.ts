/**
 * The events of a run as the stream sends them: `metadata` first, exactly one `done` last.
 *
 * Source: api-v2.md "Stream Chat event stream"; decisions.md §4 ("The stream").
 */
import { CellId } from "@castellan/core/chat/Cell"
import { ChatId } from "@castellan/core/chat/Chat"
import { ModelId } from "@castellan/core/model/Model"
import type { RunEvent } from "@castellan/core/run/RunEvent"
import * as Schema from "effect/Schema"
import { AssetWire, ofAsset, type SignAsset } from "../asset/AssetWire.ts"
import { flag, text, timestamp, uuid } from "../wire/WireValue.ts"
import { CellWire, ofCell } from "./CellWire.ts"

const type = <const Type extends string>(name: Type) =>
  Schema.Literal(name).annotate({ description: "Which event it is" })

/** The first event: which run of which chat this is. */
export const MetadataEvent = Schema.Struct({
  type: type("metadata"),
  id: uuid(CellId, "The id of the answer: the `cell_id` of the assistant message that is being written"),
  created_at: timestamp("When the run was asked for"),
  model: ModelId.annotate({ description: "The model that answers" }),
  chat_id: uuid(ChatId, "The chat"),
  is_continuation: flag("Whether the chat had a question before this one")
}).annotate({ identifier: "MetadataEvent", description: "The first event: describes the run" })

/** A piece of the answer. */
export const TextEvent = Schema.Struct({
  type: type("text"),
  text: text("A piece of the answer's Markdown; the pieces joined are the answer")
}).annotate({ identifier: "TextEvent", description: "A piece of the answer's text" })

/** A step, when it starts and when it ends. */
export const CellEvent = Schema.Struct({ type: type("cell"), cell: CellWire }).annotate({
  identifier: "CellEvent",
  description: "A step of the run: sent when it starts, and again under the same id when it ends"
})

/** Something made for the reader. */
export const AssetEvent = Schema.Struct({ type: type("asset"), asset: AssetWire }).annotate({
  identifier: "AssetEvent",
  description: "An asset that the run made"
})

/** The end. */
export const DoneEvent = Schema.Struct({
  type: type("done"),
  status: Schema.Literals(["completed", "failed"]).annotate({ description: "Whether the run answered" }),
  error: Schema.optionalKey(text("Why the run failed; `cancelled` when it was cancelled"))
}).annotate({ identifier: "DoneEvent", description: "The last event: the run has ended" })

/** An event of a run. */
export const ChatStreamEvent = Schema.Union([MetadataEvent, TextEvent, CellEvent, AssetEvent, DoneEvent])
  .annotate({
    identifier: "ChatStreamEvent",
    description: "An event of a run: `metadata` first, exactly one `done` last"
  })
  .pipe(Schema.toTaggedUnion("type"))
export type ChatStreamEvent = typeof ChatStreamEvent.Type

/** An event of a run as the wire shows it. */
export const ofRunEvent = (event: RunEvent, sign: SignAsset): ChatStreamEvent => {
  switch (event._tag) {
    case "Metadata":
      return {
        type: "metadata",
        id: event.messageCellId,
        created_at: event.createdAt,
        model: event.model,
        chat_id: event.chatId,
        is_continuation: event.isContinuation
      }
    case "Text":
      return { type: "text", text: event.text }
    case "Cell":
      return { type: "cell", cell: ofCell(event.cell) }
    case "Asset":
      return { type: "asset", asset: ofAsset(event.asset, sign) }
    case "Done":
      return { type: "done", status: event.status, ...(event.error === undefined ? {} : { error: event.error }) }
  }
}
