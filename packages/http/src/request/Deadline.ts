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
  /** What began just before it, of all that has not ended. */
  before: Underway | undefined
  /** What began just after it. */
  after: Underway | undefined
}

/**
 * Work that has not ended, in the order in which it began, which is that in which it is late.
 *
 * A list whose members refer to each other, and not a `Set`: the table of a `Set` that is not young any more goes on
 * referring to those that took its place, each with whatever was in it. Where so much comes and goes, every request would
 * stay in memory until the next full collection, and have been copied by two small ones, which take many times as long.
 */
class UnderwayList {
  first: Underway | undefined
  private last: Underway | undefined

  add(fiber: Fiber.Fiber<unknown, unknown>, due: number): Underway {
    const one: Underway = { fiber, due, isLate: false, before: this.last, after: undefined }
    if (this.last === undefined) this.first = one
    else this.last.after = one
    this.last = one
    return one
  }

  /** Takes out what is in it, and nothing where it is not. What was taken out refers to nothing that is. */
  remove(one: Underway): void {
    const { after, before } = one
    if (before !== undefined) before.after = after
    else if (this.first === one) this.first = after
    else return
    if (after !== undefined) after.before = before
    else this.last = before
    one.before = undefined
    one.after = undefined
  }
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
    const underway = new UnderwayList()
    let isWatched = false

    const watch: Effect.Effect<void> = Effect.suspend(() => {
      const now = clock.currentTimeMillisUnsafe()
      for (let one = underway.first; one !== undefined; one = underway.first) {
        if (one.due > now) return Effect.andThen(Effect.sleep(Duration.millis(one.due - now)), watch)
        underway.remove(one)
        one.isLate = true
        one.fiber.interruptUnsafe()
      }
      isWatched = false
      return Effect.void
    })

    const begin = (fiber: Fiber.Fiber<unknown, unknown>): Underway => {
      const one = underway.add(fiber, clock.currentTimeMillisUnsafe() + milliseconds)
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
              underway.remove(one)
              return Effect.succeed(answer)
            },
            onFailure: (cause) => {
              underway.remove(one)
              return one.isLate ? Effect.succeed(late) : Effect.failCause(cause)
            }
          })
        })
    })
  })
