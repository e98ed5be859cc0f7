import type { ModelOutput } from "@castellan/core/model/LanguageModels"
import * as Conversation from "@castellan/testing/fixture/Conversation"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import {
  after,
  call,
  calls,
  endless,
  failing,
  finished,
  says,
  ScriptedModel,
  text
} from "@castellan/testing/scripted/ScriptedModel"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import { allSales, asked, keptRun, newcomer, resultsOf, statements, told, turnNumber, turns } from "./Asking.ts"

describe("a model that talks nonsense", () => {
  const noAnswer = "done failed: the model gave no answer"
  const noEnd = "done failed: the model did not come to an end"
  /** Outputs that no schema has seen: an adapter hands on what it got. */
  const raw = (id: string): ModelOutput => ({ _tag: "Call", call: { id, name: "run_sql", arguments: allSales } })

  const counted = (inputTokens: number, outputTokens: number): ModelOutput => ({
    _tag: "Finished",
    inputTokens,
    outputTokens
  })

  it.effect.each([
    { name: "says nothing at all", script: [[]], last: noAnswer },
    { name: "says nothing and is finished", script: [[finished()]], last: noAnswer },
    { name: "says blanks", script: [says(" ", "\n")], last: noAnswer },
    { name: "says nothing after its tools", script: [calls("run_sql", allSales), [finished()]], last: noAnswer },
    {
      name: "says nothing more after its last call, but had an answer",
      script: [[text("Three."), call("run_sql", allSales), finished()], [finished()]],
      last: "done completed"
    },
    {
      name: "calls tools that are not there",
      script: [calls("rm", { rf: "/" }), says("Sorry.")],
      last: "done completed"
    },
    { name: "calls a tool without a name", script: [calls("", {}), says("Sorry.")], last: "done completed" },
    {
      name: "calls several tools under one id, or none",
      script: [[raw("x"), raw("x"), raw(""), raw(""), finished()], says("Done.")],
      last: "done completed"
    },
    {
      name: "is finished several times",
      script: [[text("One."), finished(1, 1), text("More"), finished(9, 9)]],
      last: "done completed"
    },
    {
      name: "counts its tokens as no number",
      script: [[text("Three."), counted(Number.NaN, Number.NaN)]],
      last: "done completed"
    },
    { name: "counts its tokens below nothing", script: [[text("Three."), counted(-5, -1e9)]], last: "done completed" },
    {
      name: "stops before it is finished",
      script: [[text("Three."), text(" or")]],
      last: "done failed: the model's answer broke off"
    },
    { name: "writes without end", script: [endless(text("blah "))], last: noEnd },
    { name: "writes nothing without end", script: [endless(text(""))], last: noEnd },
    { name: "calls without end in one turn", script: [endless(call("run_sql", allSales))], last: noEnd },
    {
      name: "calls without end, turn by turn",
      script: () => calls("run_sql", allSales),
      last: "done failed: the run used up its steps before it had an answer"
    }
  ])("$name", ({ last, script }) =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const outcome = yield* asked(admin)
      assert.strictEqual(outcome.last, last)
      const { usage } = yield* keptRun(outcome.run)
      assert.isTrue(usage.inputTokens >= 0 && usage.outputTokens >= 0)
      const limits = { steps: 24, calls: 64 }
      assert.isAtMost((yield* turns).length, limits.steps)
      assert.isAtMost((yield* statements).length, limits.calls)
      // Another question finds everything in order.
      yield* ScriptedModel.use((model) => model.follow([says("Fine.")]))
      assert.strictEqual((yield* asked(admin, "And now?", { chatId: outcome.run.chatId })).last, "done completed")
    }).pipe(Effect.provide(Deployment.layer({ script, limits: { maxOutputTokens: 200 } })))
  )

  it.effect("each call's result has an id of its own", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      yield* asked(admin)
      const turn = yield* turnNumber(2)
      const ids = resultsOf(turn).map((result) => result.callId)
      assert.strictEqual(new Set(ids).size, 4)
      const answer = turn.messages.find((message) => message._tag === "Answer")
      assert.deepStrictEqual(answer?._tag === "Answer" ? answer.toolCalls.map((one) => one.id) : [], ids)
      assert.strictEqual(ids[0], "x")
    }).pipe(
      Effect.provide(Deployment.layer({ script: [[raw("x"), raw("x"), raw(""), raw(""), finished()], says("Done.")] }))
    )
  )

  it.effect("what comes after a turn's end is no part of it, and counts for nothing", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { outline, run } = yield* asked(admin)
      assert.isFalse(outline.some((line) => line.includes("More")))
      assert.deepStrictEqual((yield* keptRun(run)).usage, { inputTokens: 1, outputTokens: 2, toolCalls: 0 })
    }).pipe(
      Effect.provide(Deployment.layer({ script: [[text("One."), finished(1, 2), text("More"), call("run_sql", {})]] }))
    )
  )

  it.effect("a model that breaks off has what it said kept, and the run fails with its words", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const run = yield* Conversation.ask(admin, "Why?")
      yield* ScriptedModel.use((model) => model.asked(1))
      yield* TestClock.adjust("1 minute")
      const { outline } = yield* told(run)
      assert.deepStrictEqual(outline, [
        "metadata",
        "cell user completed",
        "cell assistant running",
        "text Three",
        "cell assistant failed: the run failed",
        "done failed: the provider is gone"
      ])
      assert.strictEqual((yield* turns).length, 1)
    }).pipe(
      Effect.provide(
        Deployment.layer({
          script: [
            Stream.concat(
              Stream.succeed(text("Three")),
              after("1 second", failing({ message: "the provider is gone", retryable: true }))
            ),
            says("Not reached.")
          ]
        })
      )
    )
  )

  it.effect("words that were not told yet when a model broke off are not told twice", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const run = yield* Conversation.ask(admin, "Why?")
      yield* ScriptedModel.use((model) => model.asked(1))
      yield* TestClock.adjust("1 minute")
      const { outline } = yield* told(run)
      assert.deepStrictEqual(outline.slice(2), [
        "cell assistant running",
        "text Three regions.",
        "cell assistant completed",
        "done completed"
      ])
    }).pipe(
      Effect.provide(
        Deployment.layer({ script: [failing({ retryable: true }, [text("Three")]), says("Three regions.")] })
      )
    )
  )

  it.effect("a turn that failed before it said anything is tried again, a little later each time", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const model = yield* ScriptedModel
      const run = yield* Conversation.ask(admin, "Again?")
      yield* model.asked(1)
      yield* TestClock.adjust("499 millis")
      assert.strictEqual((yield* turns).length, 1)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* turns).length, 2)
      yield* TestClock.adjust("1 second")
      const { last } = yield* told(run)
      assert.strictEqual(last, "done completed")
      assert.strictEqual((yield* turns).length, 3)
    }).pipe(
      Effect.provide(
        Deployment.layer({ script: [failing({ retryable: true }), failing({ retryable: true }), says("Third time.")] })
      )
    )
  )

  it.effect("it is tried so often and not more, and not at all when it is no use", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const model = yield* ScriptedModel
      const run = yield* Conversation.ask(admin, "Again?")
      yield* model.asked(1)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* told(run)).last, "done failed: overloaded")
      assert.strictEqual((yield* turns).length, 4)
      yield* model.follow([failing({ message: "no such model" }), says("Not reached.")])
      assert.strictEqual((yield* asked(admin)).last, "done failed: no such model")
      assert.strictEqual((yield* turns).length, 5)
    }).pipe(Effect.provide(Deployment.layer({ script: () => failing({ message: "overloaded", retryable: true }) })))
  )
})
