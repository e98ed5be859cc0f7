/**
 * The frames of the event stream: how an event of a run is written as a server-sent event, and how a follower says
 * where it was cut off.
 *
 * A frame has an `id`, a number that grows from event to event within a chat, and `data`, a `ChatStreamEvent` as JSON on one
 * line. It has no `event` line, so that a browser's `EventSource` hands it to `onmessage`.
 *
 * Source: decisions.md §4 ("The stream").
 */
import type { RunEvent } from "@castellan/core/run/RunEvent"
import * as Schema from "effect/Schema"
import type { SignAsset } from "../asset/AssetWire.ts"
import { ChatStreamEvent, ofRunEvent } from "./ChatStreamEvent.ts"

/** A frame as a client reads it. */
export const ChatStreamFrame = Schema.Struct({
  id: Schema.optional(Schema.String),
  event: Schema.optional(Schema.String),
  data: Schema.fromJsonString(ChatStreamEvent)
})
export type ChatStreamFrame = typeof ChatStreamFrame.Type

/** An event in its place in a stream. */
export interface NumberedEvent {
  /** The number of its frame: it grows within a chat. */
  readonly sequence: number
  readonly event: RunEvent
}

/**
 * The text of an event's frame. It depends on the event alone, but for an asset's signed addresses, which are as fresh
 * as the moment of the call: a frame that is shared between followers must not be kept longer than they live.
 */
export const encode = (entry: NumberedEvent, sign: SignAsset): string =>
  // JSON has no raw line break, so one `data` line holds it. Moments are all that a schema would encode, and a
  // `DateTime` writes itself to JSON as the wire has it; a property holds this against the schema.
  `id: ${entry.sequence}\ndata: ${JSON.stringify(ofRunEvent(entry.event, sign))}\n\n`

/** A comment, sent every 15 seconds: it keeps the connection open, and clients do not see it. */
export const heartbeat = ": heartbeat\n\n"

/** Seconds between two heartbeats. Source: decisions.md §4 ("a comment every 15 s keeps it open"). */
export const heartbeatSeconds = 15

const rule = "must be the id of an event"

/** The header by which a follower says which event it received last. Some clients send it empty at first. */
export const ResumptionHeaders = Schema.Struct({
  "last-event-id": Schema.optionalKey(
    Schema.String.annotate({ message: rule }).check(
      Schema.isPattern(/^([0-9]{1,15})?$/u, {
        message: rule,
        description:
          "The id of the last event that was received: the stream goes on after it, without a gap or a repeat"
      })
    )
  )
})
export type ResumptionHeaders = typeof ResumptionHeaders.Type

/** The number of the frame after which a stream goes on; 0 is the start. */
export const resumeAfter = (headers: ResumptionHeaders): number => Number(headers["last-event-id"] ?? "")
