/**
 * What every runner keeps to: a run that was started ends exactly once, whoever waits for it or leaves, and whoever
 * has seen its `Done` finds it ended and its chat idle.
 */
import type { Analyst } from "@castellan/core/analyst/Analyst"
import { ChatStore } from "@castellan/core/chat/ChatStore"
import type { Run } from "@castellan/core/run/Run"
import { RunLog } from "@castellan/core/run/RunLog"
import { RunLimits } from "@castellan/core/run/RunLimits"
import { Runner } from "@castellan/core/run/Runner"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as Conversation from "../fixture/Conversation.ts"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"
import { layer as layerAnalyst, questions, ScriptedAnalyst } from "../scripted/ScriptedAnalyst.ts"

/** A run that is stored as queued, with its chat running. */
const queued = Effect.fnUntraced(function* (question: string) {
  const maker = yield* Sample.principal(yield* Sample.organizationId)
  const chat = yield* Sample.chat(maker, { question })
  const run = yield* Sample.run(maker, chat, { question })
  yield* ChatStore.use((store) => store.open(chat, run))
  return run
})

const started = (question: string) => Effect.tap(queued(question), (run) => Runner.use((runner) => runner.start(run)))

const kept = (run: Run) =>
  Effect.map(
    ChatStore.use((store) => store.run(run.organizationId, run.id)),
    Option.getOrThrow
  )

const activityOf = (run: Run) =>
  Effect.map(
    ChatStore.use((store) => store.get(run.organizationId, run.chatId)),
    (chat) => Option.getOrThrow(chat).activity._tag
  )

const outlineOf = (run: Run) => Effect.map(Conversation.events(run), Conversation.outline)

/** The runs that the analyst has begun which are this one. */
const beginnings = (run: Run) =>
  ScriptedAnalyst.use((analyst) => Effect.map(analyst.begun, (all) => all.filter((id) => id === run.id).length))

/**
 * Runs the contract of `Runner` against an adapter over stores and a log; the suite brings the analyst. The adapter
 * has the default limits, and carries out at least two runs at a time.
 */
export const suite = <E, E2>(
  name: string,
  layer: Layer.Layer<Runner, E, Analyst | ChatStore | RunLog>,
  stores: Layer.Layer<ChatStore | RunLog, E2>
): void => {
  const whole = layer.pipe(Layer.provideMerge(layerAnalyst), Layer.provideMerge(stores))
  it.layer(Layer.mergeAll(whole, layerCrypto), { timeout: "60 seconds" })(`Runner (${name})`, (it) => {
    it.effect("carries a run out, from its metadata to its done", () =>
      Effect.gen(function* () {
        const run = yield* started(questions.answer)
        assert.deepStrictEqual(yield* outlineOf(run), [
          "metadata",
          "cell user completed",
          "text words",
          "done completed"
        ])
        const ended = yield* kept(run)
        assert.strictEqual(ended.status._tag, "Completed")
        assert.deepStrictEqual(ended.usage, { inputTokens: 10, outputTokens: 5, toolCalls: 0 })
        assert.strictEqual(yield* activityOf(run), "Idle")
      })
    )

    it.effect("whoever sees done finds the run ended and the chat idle", () =>
      Effect.gen(function* () {
        const run = yield* queued(questions.answer)
        const log = yield* RunLog
        const found = yield* log.follow(run, 0).pipe(
          Stream.filter((entry) => entry.event._tag === "Done"),
          Stream.mapEffect(() => Effect.all([Effect.map(kept(run), (ended) => ended.status._tag), activityOf(run)])),
          Stream.runCollect,
          Effect.forkChild({ startImmediately: true })
        )
        yield* Runner.use((runner) => runner.start(run))
        assert.deepStrictEqual(yield* Fiber.join(found), [["Completed", "Idle"]])
      })
    )

    it.effect("tells why a run failed, as the analyst words it", () =>
      Effect.gen(function* () {
        const run = yield* started(questions.fail)
        assert.strictEqual((yield* outlineOf(run)).at(-1), "done failed: there is no such data")
        const { status } = yield* kept(run)
        assert.isTrue(status._tag === "Failed" && status.failure === "execution_failed")
        assert.strictEqual(yield* activityOf(run), "Idle")
      })
    )

    it.effect("tells nothing of a cause that nobody expected", () =>
      Effect.gen(function* () {
        const run = yield* started(questions.die)
        assert.strictEqual((yield* outlineOf(run)).at(-1), "done failed: internal error")
        assert.strictEqual((yield* kept(run)).status._tag, "Failed")
        assert.notInclude(JSON.stringify(yield* Conversation.events(run)), "secret")
      })
    )

    it.effect("a cancel stops the work, returns when the run has ended, and keeps what was used", () =>
      Effect.gen(function* () {
        const analyst = yield* ScriptedAnalyst
        const run = yield* started(questions.wait)
        yield* analyst.speaking(run.id)
        assert.isTrue(yield* Runner.use((runner) => runner.cancel(run)))
        assert.include(yield* analyst.stopped, run.id)
        const ended = yield* kept(run)
        assert.strictEqual(ended.status._tag, "Cancelled")
        assert.deepStrictEqual(ended.usage, { inputTokens: 10, outputTokens: 5, toolCalls: 0 })
        assert.strictEqual(yield* activityOf(run), "Idle")
        assert.strictEqual((yield* outlineOf(run)).at(-1), "done failed: cancelled")
      })
    )

    it.effect("cancels one run and no other", () =>
      Effect.gen(function* () {
        const analyst = yield* ScriptedAnalyst
        const one = yield* started(questions.wait)
        const other = yield* started(questions.wait)
        yield* Effect.all([analyst.speaking(one.id), analyst.speaking(other.id)])
        yield* Runner.use((runner) => runner.cancel(one))
        assert.strictEqual((yield* kept(other)).status._tag, "Running")
        assert.isTrue(yield* Runner.use((runner) => runner.cancel(other)))
      })
    )

    it.effect("there is nothing to cancel once a run has ended, or when it never was", () =>
      Effect.gen(function* () {
        const run = yield* started(questions.answer)
        yield* Conversation.events(run)
        assert.isFalse(yield* Runner.use((runner) => runner.cancel(run)))
        assert.isFalse(
          yield* Runner.use(
            Effect.fnUntraced(function* (runner) {
              return yield* runner.cancel({ id: yield* Sample.runId, organizationId: run.organizationId })
            })
          )
        )
        assert.strictEqual((yield* kept(run)).status._tag, "Completed")
      })
    )

    it.effect("of many cancels at once, each returns when the run has ended, once", () =>
      Effect.gen(function* () {
        const run = yield* started(questions.wait)
        yield* ScriptedAnalyst.use((analyst) => analyst.speaking(run.id))
        const cancel = Effect.andThen(
          Runner.use((runner) => runner.cancel(run)),
          Effect.map(kept(run), (ended) => ended.status._tag)
        )
        const states = yield* Effect.all(
          Array.from({ length: 5 }, () => cancel),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(
          states,
          Array.from({ length: 5 }, () => "Cancelled")
        )
        const outline = yield* outlineOf(run)
        assert.strictEqual(outline.filter((line) => line.startsWith("done")).length, 1)
      })
    )

    it.effect("starts a run once, however often it is told to, then and later", () =>
      Effect.gen(function* () {
        const runner = yield* Runner
        const run = yield* queued(questions.wait)
        yield* Effect.forEach([run, run, run], runner.start, { concurrency: "unbounded" })
        yield* ScriptedAnalyst.use((analyst) => analyst.speaking(run.id))
        yield* runner.start(run)
        yield* runner.cancel(run)
        yield* runner.start(run)
        yield* Effect.repeat(Effect.yieldNow, { times: 50 })
        assert.strictEqual(yield* beginnings(run), 1)
        assert.strictEqual((yield* kept(run)).status._tag, "Cancelled")
      })
    )

    it.effect("goes on when whoever started the run has left", () =>
      Effect.gen(function* () {
        const run = yield* queued(questions.answer)
        const client = yield* Runner.use((runner) => runner.start(run)).pipe(
          Effect.andThen(Effect.never),
          Effect.forkChild({ startImmediately: true })
        )
        yield* Fiber.interrupt(client)
        assert.strictEqual((yield* outlineOf(run)).at(-1), "done completed")
      })
    )

    it.effect("ends a run at its time limit", () =>
      Effect.gen(function* () {
        const { timeout } = yield* RunLimits
        const analyst = yield* ScriptedAnalyst
        const run = yield* started(questions.wait)
        yield* analyst.speaking(run.id)
        yield* TestClock.adjust(timeout)
        assert.strictEqual((yield* outlineOf(run)).at(-1), "done failed: the run went past its time limit")
        const { status } = yield* kept(run)
        assert.isTrue(status._tag === "Failed" && status.failure === "timeout")
        assert.include(yield* analyst.stopped, run.id)
      })
    )

    it.effect("carries out more runs than it can at a time, each once", () =>
      Effect.gen(function* () {
        const runs = yield* Effect.all(Array.from({ length: 60 }, () => started(questions.answer)))
        const outlines = yield* Effect.forEach(runs, outlineOf, { concurrency: "unbounded" })
        for (const outline of outlines) assert.strictEqual(outline.at(-1), "done completed")
        assert.deepStrictEqual(new Set(yield* Effect.forEach(runs, beginnings)), new Set([1]))
      })
    )
  })
}
