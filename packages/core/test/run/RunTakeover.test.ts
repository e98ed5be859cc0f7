/**
 * What becomes of the runs of a server that is not heard of any more, beyond what every runner keeps to: those that wait
 * in its queue, and what was used up.
 */
import * as AuditStore from "@castellan/core/audit/AuditStore"
import * as UseCase from "@castellan/core/audit/UseCase"
import * as ChatStore from "@castellan/core/chat/ChatStore"
import * as MemoryTransaction from "@castellan/core/memory/MemoryTransaction"
import * as InProcessRunner from "@castellan/core/run/InProcessRunner"
import type { Run } from "@castellan/core/run/Run"
import * as RunLog from "@castellan/core/run/RunLog"
import { Runner } from "@castellan/core/run/Runner"
import * as Usage from "@castellan/core/usage/Usage"
import type { UsageRecord } from "@castellan/core/usage/UsageRecord"
import * as UsageStore from "@castellan/core/usage/UsageStore"
import * as Conversation from "@castellan/testing/fixture/Conversation"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import * as ScriptedAnalyst from "@castellan/testing/scripted/ScriptedAnalyst"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Option, Stream } from "effect"
import { TestClock } from "effect/testing"

/** Every record that is kept, as it came. */
const Recorded = Context.Reference<Array<UsageRecord>>("@castellan/core/test/Recorded", { defaultValue: () => [] })

const usageStore = Layer.effect(
  UsageStore.UsageStore,
  Effect.gen(function* () {
    const recorded = yield* Recorded
    const kept = new Set<string>()
    return UsageStore.UsageStore.of({
      record: (record) =>
        Effect.sync(() => {
          if (!kept.has(record.runId)) recorded.push(record)
          kept.add(record.runId)
        }),
      sums: () => Effect.die(new Error("not asked"))
    })
  })
)

const world = () =>
  Layer.mergeAll(ScriptedAnalyst.layer, Usage.layer).pipe(
    Layer.provideMerge(UseCase.layer),
    Layer.provideMerge(
      Layer.mergeAll(
        ChatStore.layerMemory,
        RunLog.layerMemory,
        usageStore,
        AuditStore.layerMemory,
        MemoryTransaction.layerMemory,
        layerCrypto
      )
    ),
    Layer.provideMerge(Layer.sync(Recorded, () => []))
  )

/** A server, and a way to keep it from being heard of. */
const server = Effect.fnUntraced(function* (options: InProcessRunner.InProcessRunnerOptions = {}) {
  const store = yield* ChatStore.ChatStore
  const state = { isFrozen: false }
  const own = ChatStore.ChatStore.of({
    ...store,
    renew: (carried, until) => Effect.suspend(() => (state.isFrozen ? Effect.never : store.renew(carried, until))),
    cancellations: Stream.never
  })
  const services = yield* Layer.build(
    Layer.fresh(InProcessRunner.layer(options)).pipe(Layer.provide(Layer.succeed(ChatStore.ChatStore, own)))
  )
  const freeze = Effect.sync(() => {
    state.isFrozen = true
  })
  return { ...Context.get(services, Runner), freeze }
})

const queued = Effect.fnUntraced(function* (question: string) {
  const maker = yield* Sample.principal(yield* Sample.organizationId)
  const chat = yield* Sample.chat(maker, { question })
  const run = yield* Sample.run(maker, chat, { question })
  yield* ChatStore.ChatStore.use((store) => store.open(chat, run))
  return run
})

const outlineOf = (run: Run) => Effect.map(Conversation.events(run), Conversation.outline)

const { ScriptedAnalyst: Analyst, questions } = ScriptedAnalyst

describe("a server that is not heard of any more", () => {
  it.effect("what its run had used when it was last heard of is counted, and counted once", () =>
    Effect.gen(function* () {
      const [frozen, other] = [yield* server(), yield* server()]
      const run = yield* queued(questions.hold)
      yield* frozen.start(run)
      yield* Analyst.use((analyst) => analyst.speaking(run.id))
      yield* TestClock.adjust("5 seconds")
      yield* frozen.freeze
      yield* TestClock.adjust("30 seconds")
      yield* other.sweep
      assert.strictEqual((yield* outlineOf(run)).at(-1), "done failed: the server stopped before the run ended")
      yield* Analyst.use((analyst) => analyst.letGo(run.id))
      assert.isFalse(yield* frozen.cancel(run))
      const recorded = yield* Recorded
      assert.deepStrictEqual(
        recorded.map(({ inputTokens, outputTokens, runId }) => ({ inputTokens, outputTokens, runId })),
        [{ inputTokens: 10, outputTokens: 5, runId: run.id }]
      )
      const kept = yield* ChatStore.ChatStore.use((store) => store.run(run.organizationId, run.id))
      assert.deepStrictEqual(Option.getOrThrow(kept).usage, { inputTokens: 10, outputTokens: 5, toolCalls: 0 })
    }).pipe(Effect.provide(world()))
  )

  it.effect("what waited in its queue is carried out elsewhere, and not again when its turn comes after all", () =>
    Effect.gen(function* () {
      const [frozen, other] = [yield* server({ concurrency: 1 }), yield* server()]
      const [first, second] = [yield* queued(questions.hold), yield* queued(questions.answer)]
      yield* frozen.start(first)
      yield* frozen.start(second)
      const analyst = yield* Analyst
      yield* analyst.speaking(first.id)
      yield* frozen.freeze
      yield* TestClock.adjust("30 seconds")
      yield* other.sweep
      const expected = ["metadata", "cell user completed", "text words", "done completed"]
      assert.deepStrictEqual(yield* outlineOf(second), expected)
      yield* analyst.letGo(first.id)
      assert.isFalse(yield* frozen.cancel(second))
      assert.deepStrictEqual(
        (yield* analyst.begun).filter((id) => id === second.id),
        [second.id]
      )
      assert.deepStrictEqual(yield* outlineOf(second), expected)
    }).pipe(Effect.provide(world()))
  )

  it.effect("a run that waited for a server longer than its limit of time is not begun", () =>
    Effect.gen(function* () {
      const run = yield* queued(questions.answer)
      yield* TestClock.adjust("11 minutes")
      yield* (yield* server()).sweep
      assert.deepStrictEqual(yield* outlineOf(run), [
        "metadata",
        "cell user completed",
        "done failed: the run went past its time limit"
      ])
      assert.deepStrictEqual(yield* Analyst.use((analyst) => analyst.begun), [])
    }).pipe(Effect.provide(world()))
  )

  it.effect("a store that does not answer once is asked again, and the server is heard of", () =>
    Effect.gen(function* () {
      const store = yield* ChatStore.ChatStore
      let asked = 0
      const cutShort = Effect.tap(Effect.forkDetach(Effect.never, { startImmediately: true }), Fiber.interrupt)
      const own = ChatStore.ChatStore.of({
        ...store,
        renew: (carried, until) =>
          Effect.suspend(() => {
            asked += 1
            if (asked === 1) return Effect.never
            if (asked === 3) return Effect.die(new Error("the storage is away"))
            // Its own work was cut short, which is no word to this server that it should end.
            return asked === 5 ? Effect.flatMap(cutShort, Fiber.join) : store.renew(carried, until)
          })
      })
      const services = yield* Layer.build(
        InProcessRunner.layer().pipe(Layer.provide(Layer.succeed(ChatStore.ChatStore, own)))
      )
      const run = yield* queued(questions.hold)
      yield* Context.get(services, Runner).start(run)
      // What the run has used up cannot be kept: it goes on all the same, a little later.
      yield* Effect.raceFirst(
        Analyst.use((analyst) => analyst.speaking(run.id)),
        Effect.forever(TestClock.adjust("1 second"))
      )
      assert.strictEqual(asked, 1)
      const other = yield* server()
      for (const _ of Array.from({ length: 20 })) {
        yield* TestClock.adjust("5 seconds")
        assert.strictEqual(yield* other.sweep, 0)
      }
      assert.isAbove(asked, 10)
      yield* Analyst.use((analyst) => analyst.letGo(run.id))
      assert.strictEqual((yield* outlineOf(run)).at(-1), "done completed")
    }).pipe(Effect.provide(world()))
  )
})
