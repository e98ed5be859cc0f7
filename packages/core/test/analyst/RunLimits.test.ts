import * as Conversation from "@castellan/testing/fixture/Conversation"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import { ScriptedDriver } from "@castellan/testing/scripted/ScriptedDriver"
import { call, calls, finished, says } from "@castellan/testing/scripted/ScriptedModel"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import {
  allSales,
  asked,
  keptRun,
  lastResult,
  newcomer,
  resultsOf,
  statements,
  told,
  turnNumber,
  turns
} from "./Asking.ts"

describe("the limits of a run", () => {
  it.effect("in its last step no tool is on offer, so that the model must answer", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      assert.strictEqual((yield* asked(admin)).last, "done completed")
      const offered = (yield* turns).map((turn) => turn.tools.length > 0)
      assert.deepStrictEqual(offered, [true, true, false])
    }).pipe(
      Effect.provide(
        Deployment.layer({
          limits: { maxSteps: 3 },
          script: (turn) => (turn.tools.length > 0 ? calls("run_sql", allSales) : says("All that I have."))
        })
      )
    )
  )

  it.effect("calls beyond their limit are refused, and then none are on offer", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      assert.strictEqual((yield* asked(admin)).last, "done completed")
      assert.strictEqual((yield* statements).length, 3)
      const second = yield* turnNumber(2)
      assert.deepStrictEqual(
        resultsOf(second).map((result) => result.failed),
        [false, false, false, true]
      )
      assert.strictEqual(lastResult(second).content, "the run has used up its tool calls; answer now")
      assert.deepStrictEqual(second.tools, [])
    }).pipe(
      Effect.provide(
        Deployment.layer({
          limits: { maxToolCalls: 3 },
          script: [[...["a", "b", "c", "d"].map((id) => call("run_sql", allSales, id)), finished()], says("Done.")]
        })
      )
    )
  )

  it.effect("each turn has the tokens that are left, and a run without any ends", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { last, run } = yield* asked(admin)
      assert.strictEqual(last, "done failed: the run used up its tokens before it had an answer")
      assert.deepStrictEqual(
        (yield* turns).map((turn) => turn.maxOutputTokens),
        [100, 40]
      )
      assert.deepStrictEqual((yield* keptRun(run)).usage, { inputTokens: 2, outputTokens: 120, toolCalls: 2 })
    }).pipe(
      Effect.provide(
        Deployment.layer({
          limits: { maxOutputTokens: 100 },
          script: () => [call("run_sql", allSales), finished(1, 60)]
        })
      )
    )
  )

  it.effect("a run past its time ends, down to the statement, and the chat takes another question", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const driver = yield* ScriptedDriver
      yield* driver.hold
      const run = yield* Conversation.ask(admin, "For ever?")
      yield* driver.started(1)
      yield* TestClock.adjust("29999 millis")
      assert.strictEqual((yield* statements)[0]?.outcome, "running")
      yield* TestClock.adjust("1 millis")
      const { outline } = yield* told(run)
      assert.deepStrictEqual(outline.slice(2), [
        "cell Sql running",
        "cell Sql halted",
        "done failed: the run went past its time limit"
      ])
      assert.strictEqual((yield* statements)[0]?.outcome, "interrupted")
      assert.strictEqual((yield* keptRun(run)).status._tag, "Failed")
      yield* driver.release
      assert.strictEqual((yield* asked(admin, "Again?", { chatId: run.chatId })).last, "done completed")
    }).pipe(
      Effect.provide(
        Deployment.layer({
          limits: { timeout: Duration.seconds(30) },
          script: [calls("run_sql", allSales), says("Done.")]
        })
      )
    )
  )
})
