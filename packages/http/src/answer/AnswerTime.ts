/**
 * Waits for what an operation runs, and not for ever: a run that waits for its turn may take longer than its own limit.
 *
 * Source: decisions.md §4 ("past its limit 504"), §6 ("Run").
 */
import { TimedOut } from "@castellan/core/error/Failure"
import * as Effect from "effect/Effect"
import { HttpLimits } from "../HttpLimits.ts"

/** Waits for as long as an answer may take; then it is `timeout`, and what the message says of the work is so. */
export const within =
  (message: string) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | TimedOut, R> =>
    Effect.flatMap(HttpLimits, ({ answerTimeout }) =>
      Effect.timeoutOrElse(work, {
        duration: answerTimeout,
        orElse: () => Effect.fail(new TimedOut({ message }))
      })
    )
