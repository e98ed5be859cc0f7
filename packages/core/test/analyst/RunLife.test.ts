import * as Castellan from "@castellan/core/Castellan"
import { CurrentPrincipal } from "@castellan/core/access/Principal"
import { Chats } from "@castellan/core/chat/Chats"
import { ChatStore } from "@castellan/core/chat/ChatStore"
import * as Stores from "@castellan/core/memory/Stores"
import type { Run } from "@castellan/core/run/Run"
import * as Conversation from "@castellan/testing/fixture/Conversation"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import { ScriptedDriver } from "@castellan/testing/scripted/ScriptedDriver"
import { calls, finished, says, ScriptedModel, text } from "@castellan/testing/scripted/ScriptedModel"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Fiber, Layer, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import { allSales, cells, keptRun, newcomer, statements, told } from "./Asking.ts"

describe("a run belongs to no client", () => {
  it.effect("it goes on when the client leaves, whatever the client was doing", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const driver = yield* ScriptedDriver
      yield* driver.hold
      const waiting = yield* Effect.forkChild(Conversation.answer(admin, "I shall not wait?"))
      yield* driver.started(1)
      yield* Fiber.interrupt(waiting)
      assert.strictEqual((yield* statements)[0]?.outcome, "running")
      yield* driver.release
      const { chats } = yield* Chats.use((service) =>
        service.list({ limit: 1, offset: 0, sortBy: "updated_at", sortDirection: "desc" })
      ).pipe(Effect.provideService(CurrentPrincipal, admin))
      const [summary] = chats
      assert.isDefined(summary)
      const run = yield* Chats.use((service) => service.latestRun(summary.chat.id)).pipe(
        Effect.provideService(CurrentPrincipal, admin)
      )
      assert.strictEqual((yield* told(run)).last, "done completed")
    }).pipe(Effect.provide(Deployment.layer({ script: [calls("run_sql", allSales), says("Done anyway.")] })))
  )

  it.effect("a follower sees each event as it comes, and one that joins late sees them all", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const driver = yield* ScriptedDriver
      yield* driver.hold
      const run = yield* Conversation.ask(admin, "Live?")
      const live = yield* Effect.forkChild(Conversation.events(run))
      yield* driver.started(1)
      const late = yield* Effect.forkChild(Conversation.events(run))
      yield* driver.release
      const all = yield* Fiber.join(live)
      assert.deepStrictEqual(yield* Fiber.join(late), all)
      assert.deepStrictEqual(yield* Conversation.events(run), all)
    }).pipe(Effect.provide(Deployment.layer({ script: [calls("run_sql", allSales), says("Live.")] })))
  )

  it.effect(
    "when the server stops, the run at work ends as failed, and the one in the queue is the next server's",
    () =>
      Effect.gen(function* () {
        const driver = yield* ScriptedDriver
        yield* driver.hold
        const [working, waiting] = yield* Effect.gen(function* () {
          const admin = yield* newcomer
          const first = yield* Conversation.ask(admin, "At work?")
          yield* driver.started(1)
          return [first, yield* Conversation.ask(admin, "In the queue?")] as const
        }).pipe(Effect.provide(Castellan.layer({ concurrency: 1 })))
        const activityOf = (run: Run) =>
          Effect.map(
            ChatStore.use((store) => store.get(run.organizationId, run.chatId)),
            (chat) => Option.getOrThrow(chat).activity._tag
          )
        assert.strictEqual((yield* statements)[0]?.outcome, "interrupted")
        assert.strictEqual((yield* told(working)).last, "done failed: the server stopped before the run ended")
        assert.strictEqual((yield* keptRun(working)).status._tag, "Failed")
        assert.strictEqual(yield* activityOf(working), "Idle")
        assert.strictEqual((yield* keptRun(waiting)).status._tag, "Queued")
        assert.strictEqual(yield* activityOf(waiting), "Running")
        yield* driver.release
        yield* Effect.gen(function* () {
          assert.strictEqual((yield* told(waiting)).last, "done completed")
        }).pipe(Effect.provide(Castellan.layer({ concurrency: 1 })))
        assert.strictEqual(yield* activityOf(waiting), "Idle")
      }).pipe(
        Effect.provide(
          Layer.mergeAll(
            Stores.layerMemory,
            Deployment.layerPorts({ script: [calls("run_sql", allSales), says("Done.")] }),
            Deployment.layerCrypto
          )
        )
      )
  )
})

describe("the moments of a run", () => {
  it.effect("a cell's times are those of its step, and the chat is updated when the run ends", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const driver = yield* ScriptedDriver
      yield* driver.hold
      yield* TestClock.setTime(1_000_000)
      const run = yield* Conversation.ask(admin, "When?")
      yield* driver.started(1)
      yield* TestClock.adjust("1234 millis")
      yield* driver.release
      const { events } = yield* told(run)
      const [, end] = cells(events).filter((cell) => cell.content._tag === "Sql")
      assert.isDefined(end)
      assert.strictEqual(DateTime.toEpochMillis(end.createdAt), 1_000_000)
      assert.isTrue(end.status._tag === "Completed" && DateTime.toEpochMillis(end.status.endedAt) === 1_001_234)
      const chat = Option.getOrThrow(yield* ChatStore.use((store) => store.get(run.organizationId, run.chatId)))
      assert.strictEqual(DateTime.toEpochMillis(chat.createdAt), 1_000_000)
      assert.strictEqual(DateTime.toEpochMillis(chat.updatedAt), 1_001_234)
    }).pipe(Effect.provide(Deployment.layer({ script: [calls("run_sql", allSales), says("Now.")] })))
  )

  it.effect("words that come one by one are gathered for some milliseconds, and none waits longer", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const run = yield* Conversation.ask(admin, "Slowly?")
      yield* ScriptedModel.use((model) => model.asked(1))
      yield* TestClock.adjust("1 second")
      const { outline } = yield* told(run)
      const pieces = outline.filter((line) => line.startsWith("text"))
      assert.isAtLeast(pieces.length, 4)
      assert.isAtMost(pieces.length, 20)
      assert.strictEqual(pieces.map((piece) => piece.slice(5)).join(""), "word ".repeat(20))
    }).pipe(
      Effect.provide(
        Deployment.layer({
          script: [
            Stream.concat(
              Stream.range(1, 20).pipe(Stream.mapEffect(() => Effect.as(Effect.sleep("5 millis"), text("word ")))),
              Stream.succeed(finished())
            )
          ]
        })
      )
    )
  )
})
