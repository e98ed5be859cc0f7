/**
 * Mail and chat services that do what a test says: they take a message, refuse it, break off when it may have been
 * sent, or never answer. What they took is in the outbox; what they were asked is recorded.
 */
import { ChatChannel } from "@castellan/core/delivery/ChatChannel"
import { targetKey } from "@castellan/core/delivery/Delivery"
import { DeliveryError, type DeliveryErrorKind } from "@castellan/core/delivery/DeliveryError"
import { Mailer } from "@castellan/core/delivery/Mailer"
import * as Outbox from "@castellan/core/delivery/Outbox"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * What a service does with a message. `lost` takes it and breaks off before it says so; `stalled` takes it and never
 * answers.
 */
export type DeliveryScript = "taken" | "lost" | "stalled" | DeliveryErrorKind

/** The test's view of the services. */
export class ScriptedDelivery extends Context.Service<
  ScriptedDelivery,
  {
    /** Every attempt so far, by its target (`email:ann@example.org`), in order. */
    readonly attempts: Effect.Effect<ReadonlyArray<string>>
    /** What is done with the attempts from now on, in order; once there is none left, they are taken. */
    readonly follow: (script: ReadonlyArray<DeliveryScript>) => Effect.Effect<void>
  }
>()("@castellan/testing/scripted/ScriptedDelivery") {}

/** Scripted services over an outbox; `deduplicates` says whether they drop what they took before. */
export const layer = (
  options: { readonly deduplicates?: boolean } = {}
): Layer.Layer<ScriptedDelivery | Mailer | ChatChannel | Outbox.Outbox> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const outbox = yield* Outbox.Outbox
      const deduplicates = options.deduplicates ?? false
      const attempts: Array<string> = []
      let script: ReadonlyArray<DeliveryScript> = []

      const perform = Effect.fnUntraced(function* (key: string, take: Effect.Effect<void>) {
        attempts.push(key)
        const [act = "taken", ...rest] = script
        script = rest
        switch (act) {
          case "taken":
            return yield* take
          case "lost":
            yield* take
            return yield* new DeliveryError({ kind: "unknown", message: "the connection broke off" })
          case "stalled":
            yield* take
            return yield* Effect.never
          default:
            return yield* new DeliveryError({ kind: act, message: `the service refused: ${act}` })
        }
      })

      return Context.make(
        Mailer,
        Mailer.of({
          deduplicates,
          send: (mail) => perform(targetKey({ _tag: "Email", address: mail.to }), outbox.putMail(mail))
        })
      ).pipe(
        Context.add(
          ChatChannel,
          ChatChannel.of({
            deduplicates,
            post: (post) =>
              perform(
                targetKey({ _tag: "ChatChannel", channelId: post.channelId, taggedUserIds: [] }),
                outbox.putPost(post)
              )
          })
        ),
        Context.add(
          ScriptedDelivery,
          ScriptedDelivery.of({
            attempts: Effect.sync(() => [...attempts]),
            follow: (next) =>
              Effect.sync(() => {
                script = next
              })
          })
        )
      )
    })
  ).pipe(Layer.provideMerge(Outbox.layerMemory))
