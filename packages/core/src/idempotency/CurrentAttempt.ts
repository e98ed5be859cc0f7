/**
 * The attempt at a request with an idempotency key that the fiber is a part of. The use case that it carries out notes
 * on the request's record that it was committed, within its own transaction.
 *
 * Source: decisions.md §1 (`Idempotency-Key`).
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** What a use case needs to know of the attempt. */
export interface CurrentAttempt {
  /**
   * Notes that what the attempt does is kept, as a part of the transaction that keeps it. Dies with a `Conflict` when
   * another attempt has superseded this one: the transaction must not commit then.
   */
  readonly commit: Effect.Effect<void>
}

/** The attempt of this fiber; where no request with a key is behind the work, there is nothing to note. */
export const CurrentAttempt = Context.Reference<CurrentAttempt>("@castellan/core/idempotency/CurrentAttempt", {
  defaultValue: () => ({ commit: Effect.void })
})
