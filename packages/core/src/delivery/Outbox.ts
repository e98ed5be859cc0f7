/**
 * Where the memory layers of mail and chat channels put what they are handed: for tests, and for hosts that want to
 * see what would be sent.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { ChatPost } from "./ChatPost.ts"
import type { DeliveryId } from "./Delivery.ts"
import type { Mail } from "./Mail.ts"

/** What would have been sent. */
export class Outbox extends Context.Service<
  Outbox,
  {
    /** The mails, in the order in which they were handed over. */
    readonly mails: Effect.Effect<ReadonlyArray<Mail>>
    /** The posts, in the order in which they were handed over. */
    readonly posts: Effect.Effect<ReadonlyArray<ChatPost>>
    /** Puts a mail in; one of the same key is dropped. */
    readonly putMail: (mail: Mail) => Effect.Effect<void>
    /** Puts a post in; one of the same key is dropped. */
    readonly putPost: (post: ChatPost) => Effect.Effect<void>
  }
>()("@castellan/core/delivery/Outbox") {}

/** An empty outbox. */
export const layerMemory: Layer.Layer<Outbox> = Layer.effect(
  Outbox,
  Effect.gen(function* () {
    const mails = yield* MemoryTable.make<DeliveryId, Mail>()
    const posts = yield* MemoryTable.make<DeliveryId, ChatPost>()
    return Outbox.of({
      mails: mails.where(() => true),
      posts: posts.where(() => true),
      putMail: (mail) =>
        mails.modify((rows) => [undefined, rows.has(mail.idempotencyKey) ? [] : [[mail.idempotencyKey, mail]]]),
      putPost: (post) =>
        posts.modify((rows) => [undefined, rows.has(post.idempotencyKey) ? [] : [[post.idempotencyKey, post]]])
    })
  })
)
