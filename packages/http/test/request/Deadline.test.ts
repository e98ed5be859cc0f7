import { assert, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as Deadline from "../../src/request/Deadline.ts"

const second = Duration.seconds(1)

/** Starts work that is held, as a server does with a request: nothing but the work is interruptible. */
const start = <A, E>(hold: Deadline.Deadline["hold"], work: Effect.Effect<A, E>, late: A) =>
  Effect.forkChild(hold(Effect.interruptible(work), late), { startImmediately: true, uninterruptible: true })

it.effect("gives what was done in time, at once or later", () =>
  Effect.gen(function* () {
    const { hold } = yield* Deadline.make(second)
    assert.strictEqual(yield* hold(Effect.succeed("done"), "late"), "done")
    const fiber = yield* start(hold, Effect.as(Effect.sleep(Duration.millis(999)), "done"), "late")
    yield* TestClock.adjust(Duration.millis(999))
    assert.strictEqual(yield* Fiber.join(fiber), "done")
    assert.deepStrictEqual(yield* Effect.exit(hold(Effect.fail("failed"), "late")), Exit.fail("failed"))
  })
)

it.effect("interrupts what is late, each by its own time, and awaits its end", () =>
  Effect.gen(function* () {
    const { hold } = yield* Deadline.make(second)
    const ended: Array<string> = []
    const slow = (name: string) =>
      start(
        hold,
        Effect.onInterrupt(Effect.never, () => Effect.sync(() => void ended.push(name))),
        `late ${name}`
      )
    const first = yield* slow("first")
    yield* TestClock.adjust(Duration.millis(400))
    const later = yield* slow("second")
    yield* TestClock.adjust(Duration.millis(600))
    assert.strictEqual(yield* Fiber.join(first), "late first")
    assert.deepStrictEqual(ended, ["first"])
    assert.isUndefined(later.pollUnsafe())
    yield* TestClock.adjust(Duration.millis(400))
    assert.strictEqual(yield* Fiber.join(later), "late second")
    assert.deepStrictEqual(ended, ["first", "second"])
  })
)

it.effect("watches again after a time in which there was nothing to watch", () =>
  Effect.gen(function* () {
    const { hold } = yield* Deadline.make(second)
    for (let time = 0; time < 3; time++) {
      const fiber = yield* start(hold, Effect.never, "late")
      yield* TestClock.adjust(second)
      assert.strictEqual(yield* Fiber.join(fiber), "late")
      yield* TestClock.adjust(Duration.minutes(1))
    }
  })
)

it.effect("awaits the end of what cannot be interrupted; it is late all the same", () =>
  Effect.gen(function* () {
    const { hold } = yield* Deadline.make(second)
    const released = yield* Deferred.make<void>()
    const work = Effect.uninterruptible(Effect.as(Deferred.await(released), "done"))
    const fiber = yield* start(hold, work, "late")
    yield* TestClock.adjust(second)
    assert.isUndefined(fiber.pollUnsafe())
    yield* Deferred.succeed(released, undefined)
    assert.strictEqual(yield* Fiber.join(fiber), "late")
  })
)

it.effect("ends the work with whoever waits for it", () =>
  Effect.gen(function* () {
    const { hold } = yield* Deadline.make(second)
    let isEnded = false
    const work = Effect.onInterrupt(Effect.never, () =>
      Effect.sync(() => {
        isEnded = true
      })
    )
    const fiber = yield* start(hold, work, "late")
    yield* Fiber.interrupt(fiber)
    assert.isTrue(isEnded)
  })
)
