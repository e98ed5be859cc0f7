/**
 * A host that waits long for what stops by itself: on a busy machine that takes its time, and is no reason to kill it.
 */
import { SessionLimits } from "@castellan/sandbox/session/SessionLimits"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** The limits of such a host. */
export const patient: Layer.Layer<never> = Layer.effect(
  SessionLimits,
  Effect.map(SessionLimits, (limits) => ({ ...limits, start: Duration.minutes(2), grace: Duration.minutes(1) }))
)

/** Milliseconds that only a test that hangs reaches. */
export const patience = 240_000
