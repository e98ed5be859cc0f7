import { CurrentPrincipal } from "@castellan/core/access/Principal"
import { Chats } from "@castellan/core/chat/Chats"
import { ChatStore } from "@castellan/core/chat/ChatStore"
import { RunLimits } from "@castellan/core/run/RunLimits"
import { Runner } from "@castellan/core/run/Runner"
import * as Conversation from "@castellan/testing/fixture/Conversation"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { ScriptedDriver } from "@castellan/testing/scripted/ScriptedDriver"
import { calls, says, ScriptedModel } from "@castellan/testing/scripted/ScriptedModel"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Latch, Layer, Option } from "effect"
import { TestClock } from "effect/testing"

const allSales = calls("run_sql", { title: "All sales", connector: "warehouse", sql: "select * from sales" })

const started = Effect.gen(function* () {
  const tenant = yield* Fixture.tenant()
  yield* Fixture.connector(tenant.organizationId)
  return Fixture.adminOf(tenant)
})

const cancel = (chatId: Parameters<Chats["Service"]["cancel"]>[0]) => Chats.use((chats) => chats.cancel(chatId))

describe("the runner in process", () => {
  it.effect("a run that is cancelled while it waits its turn tells what was asked, and that it is over", () =>
    Effect.gen(function* () {
      const admin = yield* started
      const driver = yield* ScriptedDriver
      yield* driver.hold
      const first = yield* Conversation.ask(admin, "The first")
      yield* driver.started(1)
      const second = yield* Conversation.ask(admin, "The second")
      assert.isTrue(yield* Effect.provideService(cancel(second.chatId), CurrentPrincipal, admin))
      assert.deepStrictEqual(Conversation.outline(yield* Conversation.events(second)), [
        "metadata",
        "cell user completed",
        "done failed: cancelled"
      ])
      yield* driver.release
      assert.strictEqual(Conversation.outline(yield* Conversation.events(first)).at(-1), "done completed")
    }).pipe(Effect.provide(Deployment.layer({ concurrency: 1, script: [allSales, says("Done.")] })))
  )

  it.effect("carries out so many runs at a time, and the others in the order in which they were asked", () =>
    Effect.gen(function* () {
      const admin = yield* started
      const driver = yield* ScriptedDriver
      yield* driver.hold
      const questions = ["a", "b", "c", "d", "e"]
      const runs = yield* Effect.forEach(questions, (question) => Conversation.ask(admin, question))
      yield* driver.started(2)
      yield* Effect.repeat(Effect.yieldNow, { times: 50 })
      assert.strictEqual((yield* driver.recorded).length, 2)
      const states = yield* Effect.forEach(runs, (run) =>
        Effect.map(
          ChatStore.use((store) => store.run(run.organizationId, run.id)),
          (kept) => Option.getOrThrow(kept).status._tag
        )
      )
      assert.deepStrictEqual(states, ["Running", "Running", "Queued", "Queued", "Queued"])
      yield* driver.release
      for (const run of runs) {
        assert.strictEqual(Conversation.outline(yield* Conversation.events(run)).at(-1), "done completed")
      }
      const recorded = yield* ScriptedModel.use((model) => model.recorded)
      const firsts = recorded.filter(({ turn }) => turn.messages.length === 1)
      assert.deepStrictEqual(
        firsts.map(({ turn }) => turn.messages.map((message) => (message._tag === "Question" ? message.text : ""))),
        questions.map((question) => [question])
      )
    }).pipe(
      Effect.provide(
        Deployment.layer({
          concurrency: 2,
          script: (turn) => (turn.messages.length === 1 ? allSales : says("Done."))
        })
      )
    )
  )

  it.effect("a crowd of one organization does not hold up another", () =>
    Effect.gen(function* () {
      const crowd = yield* started
      const other = yield* started
      const driver = yield* ScriptedDriver
      yield* driver.hold
      yield* Effect.forEach(["a", "b", "c", "d"], (question) => Conversation.ask(crowd, question))
      const run = yield* Conversation.ask(other, "mine")
      yield* driver.release
      assert.strictEqual(Conversation.outline(yield* Conversation.events(run)).at(-1), "done completed")
      const asked = (yield* ScriptedModel.use((model) => model.recorded))
        .filter(({ turn }) => turn.messages.length === 1)
        .flatMap(({ turn }) => turn.messages.map((message) => (message._tag === "Question" ? message.text : "")))
      assert.isAtMost(asked.indexOf("mine"), 2, asked.join())
    }).pipe(
      Effect.provide(
        Deployment.layer({
          concurrency: 1,
          script: (turn) => (turn.messages.length === 1 ? allSales : says("Done."))
        })
      )
    )
  )

  it.effect("the limit of time counts from the question, also while a run waits its turn", () =>
    Effect.gen(function* () {
      const admin = yield* started
      const driver = yield* ScriptedDriver
      yield* driver.hold
      yield* Conversation.ask(admin, "The first")
      yield* driver.started(1)
      const second = yield* Conversation.ask(admin, "The second")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(
        Conversation.outline(yield* Conversation.events(second)).at(-1),
        "done failed: the run went past its time limit"
      )
    }).pipe(
      Effect.provide(
        Deployment.layer({ concurrency: 1, limits: { timeout: Duration.minutes(1) }, script: () => allSales })
      )
    )
  )

  it.effect("takes its limits from the context, where the options name none", () =>
    Effect.gen(function* () {
      const admin = yield* started
      const run = yield* Conversation.ask(admin, "For ever?")
      assert.strictEqual(
        Conversation.outline(yield* Conversation.events(run)).at(-1),
        "done failed: the run used up its steps before it had an answer"
      )
      assert.lengthOf(yield* ScriptedModel.use((model) => model.recorded), 2)
    }).pipe(
      Effect.provide(
        Deployment.layer({ script: () => allSales }).pipe(
          Layer.provide(Layer.succeed(RunLimits, { ...RunLimits.defaultValue(), maxSteps: 2 }))
        )
      )
    )
  )

  it.effect("a run that has ended is not carried out again", () =>
    Effect.gen(function* () {
      const admin = yield* started
      const run = yield* Conversation.ask(admin, "Once")
      yield* Conversation.events(run)
      // The fiber of the run ends a little after its last event.
      yield* Effect.repeat(Effect.yieldNow, { times: 20 })
      yield* Runner.use((runner) => runner.start(run))
      yield* Effect.repeat(Effect.yieldNow, { times: 20 })
      assert.strictEqual((yield* ScriptedModel.use((model) => model.recorded)).length, 1)
      const kept = yield* ChatStore.use((store) => store.run(run.organizationId, run.id))
      assert.strictEqual(Option.getOrThrow(kept).status._tag, "Completed")
    }).pipe(Effect.provide(Deployment.layer({ script: [says("One."), says("Two.")] })))
  )

  it.effect("a cancel counts though whoever asked for it leaves before the run has ended", () =>
    Effect.gen(function* () {
      const stopping = yield* Latch.make()
      const stopped = yield* Latch.make()
      const slow = () => Effect.onInterrupt(Effect.never, () => Effect.andThen(stopping.open, stopped.await))
      yield* Effect.gen(function* () {
        const admin = yield* started
        const run = yield* Conversation.ask(admin, "Held")
        yield* ScriptedDriver.use((driver) => driver.started(1))
        const cancelling = yield* Effect.forkChild(Effect.provideService(cancel(run.chatId), CurrentPrincipal, admin))
        yield* stopping.await
        yield* Effect.forkChild(Fiber.interrupt(cancelling), { startImmediately: true })
        yield* Effect.yieldNow
        yield* stopped.open
        assert.strictEqual(Conversation.outline(yield* Conversation.events(run)).at(-1), "done failed: cancelled")
      }).pipe(Effect.provide(Deployment.layer({ script: [allSales], answers: slow })))
    })
  )
})
