/**
 * The port that posts reports to the channels of an organization's chat tool.
 *
 * Source: decisions.md §6 (deliveries); architecture.md §1 (`@castellan/delivery`).
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ChatPost } from "./ChatPost.ts"
import type { DeliveryError } from "./DeliveryError.ts"
import { Outbox } from "./Outbox.ts"

/** Posts reports to chat channels. */
export class ChatChannel extends Context.Service<
  ChatChannel,
  {
    /** As for mail: whether a post of a key that was posted before is dropped, also when its outcome was lost. */
    readonly deduplicates: boolean
    /** Hands a post over; done when the chat tool has taken it. */
    readonly post: (post: ChatPost) => Effect.Effect<void, DeliveryError>
  }
>()("@castellan/core/delivery/ChatChannel") {}

/** Posts nothing: what it is handed is in the outbox, each key once. */
export const layerMemory: Layer.Layer<ChatChannel, never, Outbox> = Layer.effect(
  ChatChannel,
  Effect.map(Outbox, (outbox) => ChatChannel.of({ deduplicates: true, post: outbox.putPost }))
)
