/**
 * How a store of chats keeps their runs: one at a time, whoever asks at once.
 */
import { Chat } from "@castellan/core/chat/Chat"
import { ChatStore } from "@castellan/core/chat/ChatStore"
import { Run, RunStatus } from "@castellan/core/run/Run"
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Sample from "../../fixture/Sample.ts"
import { assertSame } from "../Same.ts"
import { answered, at, completed, newReader, noon, opened, type ChatStoreNeeds } from "./ChatStoreWords.ts"

/** One run of a chat at a time, and the chat as its runs leave it. */
export const keepsRuns = (it: Vitest.MethodsNonLive<ChatStoreNeeds>): void => {
  it.effect("an opened chat is running, with its run queued", () =>
    Effect.gen(function* () {
      const store = yield* ChatStore
      const reader = yield* newReader
      const { chat, run } = yield* opened(reader)
      const kept = Option.getOrThrow(yield* store.get(reader.organizationId, chat.id))
      assertSame(kept, new Chat({ ...chat, activity: { _tag: "Running", runId: run.id }, updatedAt: run.createdAt }))
      assertSame(yield* store.run(reader.organizationId, run.id), Option.some(run))
      assertSame(yield* store.runs(reader.organizationId, chat.id), [run])
    })
  )

  it.effect("a run that goes on is kept; one that ends leaves its chat idle, updated at that moment", () =>
    Effect.gen(function* () {
      const store = yield* ChatStore
      const reader = yield* newReader
      const { chat, run } = yield* opened(reader, { createdAt: at("2030-01-01T00:00:00.000Z") })
      const running = new Run({
        ...run,
        status: RunStatus.cases.Running.make({ startedAt: at("2030-01-01T00:00:01.000Z") })
      })
      yield* store.saveRun(running)
      assertSame(yield* store.run(reader.organizationId, run.id), Option.some(running))
      const ended = new Run({
        ...completed(running, at("2030-01-01T00:00:02.345Z")),
        usage: { inputTokens: 100, outputTokens: 20, toolCalls: 3 }
      })
      yield* store.endRun(ended, at("2030-01-01T00:00:02.345Z"))
      assertSame(yield* store.run(reader.organizationId, run.id), Option.some(ended))
      const kept = Option.getOrThrow(yield* store.get(reader.organizationId, chat.id))
      assert.strictEqual(kept.activity._tag, "Idle")
      assertSame(kept.updatedAt, at("2030-01-01T00:00:02.345Z"))
      assertSame(kept.createdAt, chat.createdAt)
    })
  )

  it.effect("another question is taken when the chat is idle, and refused while a run is in progress", () =>
    Effect.gen(function* () {
      const store = yield* ChatStore
      const reader = yield* newReader
      const { chat, run: first } = yield* opened(reader, { createdAt: at("2030-01-01T00:00:00.000Z") })
      const second = yield* Sample.run(reader, chat, {
        isContinuation: true,
        createdAt: at("2030-01-02T00:00:00.000Z")
      })
      assert.strictEqual((yield* Effect.flip(store.ask(second)))._tag, "Conflict")
      assertSame(yield* store.runs(reader.organizationId, chat.id), [first])
      assert.isTrue(Option.isNone(yield* store.run(reader.organizationId, second.id)))
      const ended = completed(first, at("2030-01-01T12:00:00.000Z"))
      yield* store.endRun(ended, at("2030-01-01T12:00:00.000Z"))
      yield* store.ask(second)
      assertSame(yield* store.runs(reader.organizationId, chat.id), [ended, second])
      const kept = Option.getOrThrow(yield* store.get(reader.organizationId, chat.id))
      assertSame(kept.activity, { _tag: "Running", runId: second.id })
      assertSame(kept.updatedAt, second.createdAt)
    })
  )

  it.effect("of many questions at once, one is taken", () =>
    Effect.gen(function* () {
      const store = yield* ChatStore
      const reader = yield* newReader
      const { chat, run: first } = yield* answered(reader)
      const runs = yield* Effect.all(Array.from({ length: 20 }, () => Sample.run(reader, chat)))
      const outcomes = yield* Effect.forEach(runs, (run) => Effect.result(store.ask(run)), {
        concurrency: "unbounded"
      })
      const taken = runs.filter((_, index) => outcomes[index]?._tag === "Success")
      assert.strictEqual(taken.length, 1)
      const kept = yield* store.runs(reader.organizationId, chat.id)
      assert.deepStrictEqual(
        kept.map((run) => run.id),
        [first.id, ...taken.map((run) => run.id)]
      )
    })
  )

  it.effect("the end of an earlier run does not end the one in progress", () =>
    Effect.gen(function* () {
      const store = yield* ChatStore
      const reader = yield* newReader
      const { chat, run: first } = yield* answered(reader)
      const second = yield* Sample.run(reader, chat)
      yield* store.ask(second)
      yield* store.endRun(completed(first, noon), noon)
      const kept = Option.getOrThrow(yield* store.get(reader.organizationId, chat.id))
      assertSame(kept.activity, { _tag: "Running", runId: second.id })
    })
  )
}
