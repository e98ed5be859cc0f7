/**
 * The time that requests have to be answered, for very many of them: they all have the same, so whoever began first is
 * late first, and one fiber that sleeps until then does for all. A timer, a fiber and a race for each request would cost
 * more than most of what they guard.
 *
 * Work that is late is interrupted in its own fiber, and its end is awaited.
 *
 * Source: decisions.md §1 (504).
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
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
  /**
   * Carries out interruptible work in the fiber that asks for it; `late` stands for the answer of what was not done in
   * time. The fiber of work that was late counts as interrupted, so what is around it must not be interruptible.
   */
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

    return Effect.succeed({
      hold: (work, late) =>
        Effect.withFiber((fiber) => {
          const one = begin(fiber)
          return Effect.matchCauseEffect(work, {
            onSuccess: (answer) => {
              underway.delete(one)
              return Effect.succeed(answer)
            },
            onFailure: (cause) => {
              underway.delete(one)
              return one.isLate ? Effect.succeed(late) : Effect.failCause(cause)
            }
          })
        })
    })
  })
