/**
 * What every adapter to language models keeps to, as far as it can be told from outside: it serves models, refuses
 * those that it does not serve, ends each turn with exactly one `Finished`, and calls no tool that is not on offer.
 */
import { LanguageModels, ModelMessage, type ModelTurn } from "@castellan/core/model/LanguageModels"
import { ModelId } from "@castellan/core/model/Model"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"

/** How an adapter is asked. */
export interface LanguageModelsSuiteOptions {
  /** A question that the adapter can answer with words, without a tool. */
  readonly question?: string
}

/** Runs the contract of `LanguageModels` against an adapter. */
export const suite = <E>(
  name: string,
  layer: Layer.Layer<LanguageModels, E>,
  options: LanguageModelsSuiteOptions = {}
): void => {
  const turnOf = (model: ModelId, more: Partial<ModelTurn> = {}): ModelTurn => ({
    model,
    instructions: "You are a data analyst.",
    messages: [ModelMessage.cases.Question.make({ text: options.question ?? "What can you do?" })],
    tools: [],
    maxOutputTokens: 1000,
    ...more
  })

  /** The first model that is served. */
  const best = Effect.gen(function* () {
    const models = yield* LanguageModels
    const [first] = models.served
    if (first === undefined) return yield* Effect.die(new Error("no model is served"))
    return { models, model: first.id }
  })

  it.layer(layer, { timeout: "180 seconds" })(`LanguageModels (${name})`, (it) => {
    it.effect("serves at least one model, each under an id of its own", () =>
      Effect.gen(function* () {
        const { models } = yield* best
        const ids = models.served.map((model) => model.id)
        assert.strictEqual(new Set(ids).size, ids.length)
        for (const model of models.served) {
          assert.notStrictEqual(model.name.trim(), "")
          assert.notStrictEqual(model.provider.trim(), "")
        }
      })
    )

    it.effect("refuses a model that it does not serve, and trying again is no use", () =>
      Effect.gen(function* () {
        const { models } = yield* best
        const turn = models.turn(turnOf(ModelId.make("nobody/serves-this-1")))
        const error = yield* Effect.flip(Stream.runDrain(turn))
        assert.strictEqual(error._tag, "LanguageModelError")
        assert.isFalse(error.retryable)
        assert.notStrictEqual(error.message, "")
      })
    )

    it.effect("answers with words, and ends with exactly one account of its tokens", () =>
      Effect.gen(function* () {
        const { model, models } = yield* best
        const outputs = yield* Stream.runCollect(models.turn(turnOf(model)))
        assert.strictEqual(outputs.at(-1)?._tag, "Finished")
        assert.strictEqual(outputs.filter((output) => output._tag === "Finished").length, 1)
        const words = outputs.map((output) => (output._tag === "Text" ? output.text : "")).join("")
        assert.notStrictEqual(words.trim(), "")
        for (const output of outputs) {
          if (output._tag !== "Finished") continue
          assert.isAtLeast(output.inputTokens, 0)
          assert.isAtLeast(output.outputTokens, 0)
        }
      })
    )

    it.effect("calls nothing when nothing is on offer", () =>
      Effect.gen(function* () {
        const { model, models } = yield* best
        const outputs = yield* Stream.runCollect(models.turn(turnOf(model)))
        assert.deepStrictEqual(
          outputs.filter((output) => output._tag === "Call"),
          []
        )
      })
    )

    it.effect("takes a turn as often as it is asked, and several at once", () =>
      Effect.gen(function* () {
        const { model, models } = yield* best
        const turns = yield* Effect.all(
          Array.from({ length: 4 }, () => Stream.runCollect(models.turn(turnOf(model)))),
          { concurrency: "unbounded" }
        )
        for (const outputs of turns) assert.strictEqual(outputs.at(-1)?._tag, "Finished")
      })
    )

    it.effect("a reader may leave in the middle of a turn", () =>
      Effect.gen(function* () {
        const { model, models } = yield* best
        const first = yield* models.turn(turnOf(model)).pipe(Stream.take(1), Stream.runCollect)
        assert.strictEqual(first.length, 1)
        const again = yield* Stream.runCollect(models.turn(turnOf(model)))
        assert.strictEqual(again.at(-1)?._tag, "Finished")
      })
    )

    it.effect("goes on from an earlier answer with its tools and their results", () =>
      Effect.gen(function* () {
        const { model, models } = yield* best
        const messages = [
          ModelMessage.cases.Question.make({ text: options.question ?? "What can you do?" }),
          ModelMessage.cases.Answer.make({
            text: "",
            toolCalls: [{ id: "call_1", name: "describe_ontology", arguments: {} }]
          }),
          ModelMessage.cases.ToolResult.make({
            callId: "call_1",
            name: "describe_ontology",
            content: '{"sources":[]}',
            failed: false
          })
        ]
        const outputs = yield* Stream.runCollect(models.turn(turnOf(model, { messages })))
        assert.strictEqual(outputs.at(-1)?._tag, "Finished")
      })
    )
  })
}
