/**
 * Time for drawings that hang. How long a drawing takes is the machine's affair, so that no test waits for a limit on
 * the wall's clock: time goes by only here, and only for what is meant to reach its limit.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"

/** Lets time go by until a fiber ends, and joins it. */
export const join = Effect.fnUntraced(function* <A, E>(fiber: Fiber.Fiber<A, E>) {
  while (fiber.pollUnsafe() === undefined) {
    yield* TestClock.adjust("1 second")
    yield* TestClock.withLive(Effect.sleep("10 millis"))
  }
  return yield* Fiber.join(fiber)
})

/** Starts what hangs, and leaves it a moment to be in the midst of it. */
export const hanging = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const fiber = yield* Effect.forkChild(effect, { startImmediately: true })
  yield* TestClock.withLive(Effect.sleep("1 second"))
  return fiber
})
