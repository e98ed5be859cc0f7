import { LanguageModels, type ModelTurn } from "@castellan/core/model/LanguageModels"
import {
  after,
  call,
  endless,
  failing,
  finished,
  layer,
  says,
  ScriptedModel,
  servedModel,
  stalling,
  text
} from "@castellan/testing/scripted/ScriptedModel"
import * as LanguageModelsSuite from "@castellan/testing/suite/LanguageModelsSuite"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"

const turn: ModelTurn = { model: servedModel.id, instructions: "", messages: [], tools: [], maxOutputTokens: 100 }

const taken = LanguageModels.use((models) => Stream.runCollect(models.turn(turn)))

LanguageModelsSuite.suite(
  "scripted",
  layer(() => says("I answer ", "questions."))
)

describe("the scripted model", () => {
  it.effect("says its turns in order, and records what it was asked", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* taken, says("one"))
      assert.deepStrictEqual(yield* taken, [call("tool", { a: 1 })])
      const model = yield* ScriptedModel
      assert.deepStrictEqual(yield* model.recorded, [
        { turn, outcome: "ended" },
        { turn, outcome: "ended" }
      ])
      assert.strictEqual((yield* Effect.flip(taken)).message, "the script has no further turn")
      assert.strictEqual((yield* model.recorded).at(-1)?.outcome, "failed")
    }).pipe(Effect.provide(layer([says("one"), () => [call("tool", { a: 1 })]])))
  )

  it.effect("makes a turn of what it was asked", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* taken, [text("100 tokens"), finished(1, 2)])
    }).pipe(Effect.provide(layer(({ maxOutputTokens }) => [text(`${maxOutputTokens} tokens`), finished(1, 2)])))
  )

  it.effect("breaks off after some words", () =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const error = yield* LanguageModels.use((models) =>
        Stream.runForEach(models.turn(turn), (output) => Effect.sync(() => said.push(output._tag)))
      ).pipe(Effect.flip)
      assert.deepStrictEqual(said, ["Text"])
      assert.isTrue(error.retryable)
    }).pipe(Effect.provide(layer([failing({ retryable: true }, [text("so far")])])))
  )

  it.effect("pauses on the test's clock", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(taken)
      yield* TestClock.adjust("4 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* Fiber.join(fiber), says("late"))
    }).pipe(Effect.provide(layer([after("5 seconds", says("late"))])))
  )

  it.effect("stalls until it is interrupted, and records that it was", () =>
    Effect.gen(function* () {
      const model = yield* ScriptedModel
      const fiber = yield* Effect.forkChild(taken)
      yield* model.asked(1)
      yield* Fiber.interrupt(fiber)
      assert.strictEqual((yield* model.recorded)[0]?.outcome, "interrupted")
    }).pipe(Effect.provide(layer([stalling(text("hm"))])))
  )

  it.effect("talks without end, as far as it is read, and follows another script when told to", () =>
    Effect.gen(function* () {
      const some = yield* LanguageModels.use((models) => models.turn(turn).pipe(Stream.take(5000), Stream.runCollect))
      assert.strictEqual(some.length, 5000)
      yield* ScriptedModel.use((model) => model.follow([says("another")]))
      assert.deepStrictEqual(yield* taken, says("another"))
    }).pipe(Effect.provide(layer([endless(text("blah "))])))
  )
})
