/**
 * The time that requests have to be answered, for very many of them: they all have the same, so whoever began first is
 * late first, and one fiber that sleeps until then does for all. A timer, a fiber and a race for each request would cost
 * more than most of what they guard.
 *
 * Work that is late is interrupted, and its end is awaited.
 *
 * Source: decisions.md §1 (504).
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"

/** Work that is being carried out. */
interface Underway {
  readonly fiber: Fiber.Fiber<unknown, unknown>
  /** When it is late, in milliseconds since 1970. */
  readonly due: number
  isLate: boolean
}

/** Holds work to the time that it has. */
export interface Deadline {
  /** Carries out work in a fiber of its own; `late` stands for the answer of what was not done in time. */
  readonly hold: <A, E, R>(work: Effect.Effect<A, E, R>, late: A) => Effect.Effect<A, E, R>
}

/** So much time for everything that is held to it. */
export const make = (time: Duration.Duration): Effect.Effect<Deadline, never, Scope.Scope> =>
  Effect.contextWith((context: Context.Context<Scope.Scope>) => {
    const scope = Context.get(context, Scope.Scope)
    const clock = Context.get(context, Clock.Clock)
    const milliseconds = Duration.toMillis(time)
    // In the order in which they began, which is that in which they are late.
    const underway = new Set<Underway>()
    let isWatched = false

    const watch: Effect.Effect<void> = Effect.suspend(() => {
      const now = clock.currentTimeMillisUnsafe()
      for (const one of underway) {
        if (one.due > now) return Effect.andThen(Effect.sleep(Duration.millis(one.due - now)), watch)
        underway.delete(one)
        one.isLate = true
        one.fiber.interruptUnsafe()
      }
      isWatched = false
      return Effect.void
    })

    const begin = (fiber: Fiber.Fiber<unknown, unknown>): Underway => {
      const one = { fiber, due: clock.currentTimeMillisUnsafe() + milliseconds, isLate: false }
      underway.add(one)
      if (!isWatched) {
        isWatched = true
        Fiber.runIn(Effect.runForkWith(context)(watch), scope)
      }
      return one
    }

    /** The end of a fiber, by its deadline. */
    const endOf = <A, E>(fiber: Fiber.Fiber<A, E>, late: A): Effect.Effect<A, E> =>
      Effect.callback((resume) => {
        const one = begin(fiber)
        fiber.addObserver((exit) => {
          underway.delete(one)
          resume(one.isLate && Exit.isFailure(exit) ? Effect.succeed(late) : exit)
        })
        return Fiber.interrupt(fiber)
      })

    return Effect.succeed({
      hold: (work, late) =>
        // Once it has begun, it is waited for: by its end, by the deadline, or by whoever interrupts the waiting.
        Effect.uninterruptibleMask((restore) =>
          Effect.flatMap(
            Effect.forkChild(work, { startImmediately: true }),
            (fiber) => fiber.pollUnsafe() ?? restore(endOf(fiber, late))
          )
        )
    })
  })
