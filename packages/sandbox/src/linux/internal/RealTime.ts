/**
 * Bounds in the machine's time and not in Effect's: they guard processes of the operating system, which live in real
 * time also where a test has stopped the clock.
 */
import * as Effect from "effect/Effect"

/** Ends an effect that takes longer than some real milliseconds, with another's result. */
export const within = <A, E, R, B, E2, R2>(
  effect: Effect.Effect<A, E, R>,
  milliseconds: number,
  late: () => Effect.Effect<B, E2, R2>
): Effect.Effect<A | B, E | E2, R | R2> =>
  Effect.raceFirst(
    effect,
    Effect.flatMap(
      Effect.callback<void>((resume) => {
        const timer = setTimeout(() => resume(Effect.void), milliseconds)
        return Effect.sync(() => clearTimeout(timer))
      }),
      late
    )
  )
