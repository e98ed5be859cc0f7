/**
 * Spans for what every request goes through: made where somebody looks at them. `Effect.fn` makes one, and notes where it
 * was called, whether or not there is a tracer to be told; that takes longer than a short read does besides.
 */
import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"

/** A span around an effect, where a tracer is installed. */
export const traced =
  (name: string) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiber(({ cache: { tracer } }) =>
      tracer === undefined || tracer === Tracer.nativeTracer ? self : Effect.withSpan(self, name)
    )
