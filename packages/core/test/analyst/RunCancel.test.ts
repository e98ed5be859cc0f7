import { CurrentPrincipal, type Principal } from "@castellan/core/access/Principal"
import { Chats } from "@castellan/core/chat/Chats"
import type { Run } from "@castellan/core/run/Run"
import * as Conversation from "@castellan/testing/fixture/Conversation"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import { ScriptedDriver } from "@castellan/testing/scripted/ScriptedDriver"
import {
  after,
  call,
  failing,
  finished,
  says,
  ScriptedModel,
  stalling,
  text
} from "@castellan/testing/scripted/ScriptedModel"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { allSales, asked, keptRun, newcomer, statements, told, turnNumber, turns } from "./Asking.ts"

describe("a cancel", () => {
  const cancel = (principal: Principal, run: Run) =>
    Chats.use((chats) => chats.cancel(run.chatId)).pipe(Effect.provideService(CurrentPrincipal, principal))

  it.effect("while the model speaks stops the model, and keeps what it said", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const model = yield* ScriptedModel
      const run = yield* Conversation.ask(admin, "Stop?")
      yield* model.asked(1)
      // The words are gathered for some milliseconds before they are told.
      yield* TestClock.adjust("1 second")
      assert.isTrue(yield* cancel(admin, run))
      const { outline } = yield* told(run)
      assert.deepStrictEqual(outline.slice(2), [
        "cell assistant running",
        "text Let me",
        "cell assistant halted",
        "done failed: cancelled"
      ])
      assert.strictEqual((yield* model.recorded)[0]?.outcome, "interrupted")
      assert.strictEqual((yield* asked(admin, "And now?", { chatId: run.chatId })).last, "done completed")
    }).pipe(Effect.provide(Deployment.layer({ script: [stalling(text("Let me")), says("Fine.")] })))
  )

  it.effect("before the model said anything leaves nothing but the question", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const run = yield* Conversation.ask(admin, "Stop?")
      yield* ScriptedModel.use((model) => model.asked(1))
      yield* cancel(admin, run)
      assert.deepStrictEqual((yield* told(run)).outline, ["metadata", "cell user completed", "done failed: cancelled"])
    }).pipe(Effect.provide(Deployment.layer({ script: [after("1 hour", says("Late."))] })))
  )

  it.effect("while a statement runs stops the statement, halts its cell, and counts what was used", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const driver = yield* ScriptedDriver
      yield* driver.hold
      const run = yield* Conversation.ask(admin, "Stop?")
      yield* driver.started(1)
      assert.isTrue(yield* cancel(admin, run))
      assert.strictEqual((yield* statements)[0]?.outcome, "interrupted")
      const kept = yield* keptRun(run)
      assert.strictEqual(kept.status._tag, "Cancelled")
      assert.deepStrictEqual(kept.usage, { inputTokens: 10, outputTokens: 5, toolCalls: 1 })
      const { outline } = yield* told(run)
      assert.deepStrictEqual(outline.slice(2), [
        "cell assistant running",
        "text Let me look.",
        "text \n\n",
        "cell Sql running",
        "cell Sql halted",
        "cell assistant halted",
        "done failed: cancelled"
      ])
      yield* driver.release
      assert.strictEqual((yield* asked(admin, "And now?", { chatId: run.chatId })).last, "done completed")
      // The model reads what was said before, cancelled or not.
      assert.deepStrictEqual(
        (yield* turnNumber(2)).messages.map((message) => (message._tag === "ToolResult" ? "" : message.text)),
        ["Stop?", "Let me look.\n\n", "And now?"]
      )
    }).pipe(
      Effect.provide(
        Deployment.layer({ script: [[text("Let me look."), call("run_sql", allSales), finished()], says("Fine.")] })
      )
    )
  )

  it.effect("while a failed turn waits to be tried again stops the waiting", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const run = yield* Conversation.ask(admin, "Stop?")
      yield* ScriptedModel.use((model) => model.asked(1))
      yield* TestClock.adjust("100 millis")
      assert.isTrue(yield* cancel(admin, run))
      assert.strictEqual((yield* told(run)).last, "done failed: cancelled")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* turns).length, 1)
    }).pipe(Effect.provide(Deployment.layer({ script: () => failing({ retryable: true }) })))
  )
})
