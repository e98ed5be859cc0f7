/**
 * The port that sends e-mail.
 *
 * Source: decisions.md §6 (deliveries); architecture.md §1 (`@castellan/delivery`).
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { DeliveryError } from "./DeliveryError.ts"
import type { Mail } from "./Mail.ts"
import { Outbox } from "./Outbox.ts"

/** Sends e-mail. */
export class Mailer extends Context.Service<
  Mailer,
  {
    /**
     * Whether a mail of a key that was sent before is dropped, also by another process and when the first attempt's
     * outcome was lost. Then an attempt that may have succeeded is repeated; otherwise it is not.
     */
    readonly deduplicates: boolean
    /** Hands a mail over; done when the mail service has taken it. */
    readonly send: (mail: Mail) => Effect.Effect<void, DeliveryError>
  }
>()("@castellan/core/delivery/Mailer") {}

/** Sends nothing: what it is handed is in the outbox, each key once. */
export const layerMemory: Layer.Layer<Mailer, never, Outbox> = Layer.effect(
  Mailer,
  Effect.map(Outbox, (outbox) => Mailer.of({ deduplicates: true, send: outbox.putMail }))
)
