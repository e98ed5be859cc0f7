/**
 * A line of what waits for one taker.
 */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { Line } from "../../src/session/Line.ts"

it.effect("hands things over one by one, in order, to whoever comes for them", () =>
  Effect.gen(function* () {
    const line = new Line<number>()
    line.add([1, 2])
    line.add([3])
    assert.deepStrictEqual([yield* line.take, yield* line.take, yield* line.take], [1, 2, 3])
  })
)

it.effect("has a taker who waits go on within the call that adds", () =>
  Effect.gen(function* () {
    const line = new Line<number>()
    const taken: Array<number> = []
    const taking = Effect.forever(
      Effect.map(line.take, (one) => {
        taken.push(one)
        // What is added meanwhile comes after what waits already.
        if (one === 1) line.add([4])
      }),
      { disableYield: true }
    )
    const fiber = yield* Effect.forkChild(taking, { startImmediately: true })
    assert.deepStrictEqual(taken, [])
    line.add([1, 2, 3])
    assert.deepStrictEqual(taken, [1, 2, 3, 4])
    yield* Fiber.interrupt(fiber)
  })
)

it.effect("loses nothing to a taker who left", () =>
  Effect.gen(function* () {
    const line = new Line<number>()
    const left = yield* Effect.forkChild(line.take, { startImmediately: true })
    yield* Fiber.interrupt(left)
    line.add([1])
    assert.strictEqual(yield* line.take, 1)
  })
)
