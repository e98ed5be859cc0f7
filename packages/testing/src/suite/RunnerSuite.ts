/**
 * What every runner keeps to: a run that was started ends exactly once, whoever waits for it or leaves, and whoever
 * has seen its `Done` finds it ended and its chat idle. Of several runners over one store, one carries a run at a time,
 * and the runs of one that has stopped are taken up by another.
 */
import type { Analyst } from "@castellan/core/analyst/Analyst"
import { ChatStore } from "@castellan/core/chat/ChatStore"
import { Run, RunStatus } from "@castellan/core/run/Run"
import { RunnerId } from "@castellan/core/run/RunLease"
import { RunLog } from "@castellan/core/run/RunLog"
import { RunLimits } from "@castellan/core/run/RunLimits"
import { openingOf } from "@castellan/core/run/RunOpening"
import { Runner } from "@castellan/core/run/Runner"
import * as Uuid from "@castellan/core/identifier/Uuid"
import { assert, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
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

/** How long a runner keeps a run that is not heard of. */
const lease = "30 seconds"

/** Lets the clock go on until something has come to its end, and the store answer at each second of it. */
const inTheEnd = <A, E>(run: Run, fiber: Fiber.Fiber<A, E>): Effect.Effect<A, E, ChatStore> =>
  Effect.suspend(() =>
    fiber.pollUnsafe() === undefined
      ? TestClock.adjust("1 second").pipe(
          Effect.andThen(Effect.repeat(kept(run), { times: 5 })),
          Effect.andThen(inTheEnd(run, fiber))
        )
      : Fiber.join(fiber)
  )

/** A run that another server took up, which then was not heard of any more. */
const leftBehind = Effect.fnUntraced(function* (
  question: string,
  leave: (run: Run) => Effect.Effect<void, never, ChatStore | RunLog>
) {
  const run = yield* queued(question)
  const now = yield* DateTime.now
  const claim = { runnerId: RunnerId.make(yield* Uuid.next), now, until: DateTime.add(now, { seconds: 30 }) }
  const taken = Option.getOrThrow(yield* ChatStore.use((store) => store.take(run, claim)))
  yield* leave(taken.run)
  return taken.run
})

const begun = (run: Run): Run => new Run({ ...run, status: RunStatus.cases.Running.make({ startedAt: run.createdAt }) })

/**
 * Runs the contract of `Runner` against an adapter over stores and a log; the suite brings the analyst. The adapter
 * has the default limits and lease, and carries out at least two runs at a time.
 */
export const suite = <E, E2>(
  name: string,
  layer: Layer.Layer<Runner, E, Analyst | ChatStore | RunLog>,
  stores: Layer.Layer<ChatStore | RunLog, E2>
): void => {
  /** A further server over the same stores, for as long as a scope; one that is frozen is heard of once, when it begins. */
  const server = Effect.fnUntraced(function* (
    options: { readonly isFrozen?: boolean; readonly scope?: Scope.Scope } = {}
  ) {
    const store = yield* ChatStore
    let isHeard = false
    const once: typeof store.renew = (carried, until) =>
      Effect.suspend(() => {
        if (isHeard) return Effect.never
        isHeard = true
        return store.renew(carried, until)
      })
    const own = options.isFrozen === true ? { ...store, renew: once, cancellations: Stream.never } : store
    const services = yield* Layer.buildWithScope(
      Layer.provide(Layer.fresh(layer), Layer.succeed(ChatStore, own)),
      options.scope ?? (yield* Effect.scope)
    )
    return Context.get(services, Runner)
  })

  const whole = layer.pipe(Layer.provideMerge(layerAnalyst), Layer.provideMerge(stores))
  it.layer(Layer.mergeAll(whole, layerCrypto), { timeout: "180 seconds" })(`Runner (${name})`, (it) => {
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

    it.effect("what a run has used up is kept before it goes on: whoever takes it up finds it", () =>
      Effect.gen(function* () {
        const run = yield* started(questions.wait)
        yield* ScriptedAnalyst.use((analyst) => analyst.speaking(run.id))
        // No time has passed: no heartbeat has told of it.
        const now = DateTime.add(yield* DateTime.now, { hours: 1 })
        const claim = { runnerId: RunnerId.make(yield* Uuid.next), now, until: DateTime.add(now, { hours: 1 }) }
        const taken = yield* ChatStore.use((store) => store.take(run, claim))
        assert.deepStrictEqual(
          Option.map(taken, (found) => ({ ...found.run.usage })),
          Option.some({ inputTokens: 10, outputTokens: 5, toolCalls: 0 })
        )
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

    it.effect("of two servers that are both told to start a hundred runs, each run is carried out by one", () =>
      Effect.gen(function* () {
        const servers = [yield* server(), yield* server()]
        const runs = yield* Effect.all(Array.from({ length: 100 }, () => queued(questions.answer)))
        yield* Effect.forEach(runs, (run) => Effect.forEach(servers, (one) => one.start(run), { concurrency: 2 }), {
          concurrency: "unbounded"
        })
        const outlines = yield* Effect.forEach(runs, outlineOf, { concurrency: "unbounded" })
        const expected = ["metadata", "cell user completed", "text words", "done completed"]
        for (const outline of outlines) assert.deepStrictEqual(outline, expected)
        assert.deepStrictEqual(new Set(yield* Effect.forEach(runs, beginnings)), new Set([1]))
      })
    )

    it.effect("a server that is heard of keeps its runs, however long they take", () =>
      Effect.gen(function* () {
        const [a, b] = [yield* server(), yield* server()]
        const run = yield* queued(questions.hold)
        yield* a.start(run)
        const analyst = yield* ScriptedAnalyst
        yield* analyst.speaking(run.id)
        for (const _ of Array.from({ length: 36 })) {
          yield* TestClock.adjust("5 seconds")
          yield* b.sweep
          yield* b.start(run)
        }
        yield* analyst.letGo(run.id)
        assert.strictEqual((yield* outlineOf(run)).at(-1), "done completed")
        assert.strictEqual(yield* beginnings(run), 1)
      })
    )

    it.effect("a frozen server loses its run; when it wakes up, nothing that it writes counts", () =>
      Effect.gen(function* () {
        const [frozen, other] = [yield* server({ isFrozen: true }), yield* server()]
        const run = yield* queued(questions.hold)
        yield* frozen.start(run)
        const analyst = yield* ScriptedAnalyst
        yield* analyst.speaking(run.id)
        yield* TestClock.adjust("29 seconds")
        yield* other.sweep
        assert.strictEqual((yield* kept(run)).status._tag, "Running")
        yield* TestClock.adjust("1 second")
        yield* other.sweep
        const expected = [
          "metadata",
          "cell user completed",
          "text words",
          "done failed: the server stopped before the run ended"
        ]
        assert.deepStrictEqual(yield* outlineOf(run), expected)
        const ended = yield* kept(run)
        assert.isTrue(ended.status._tag === "Failed" && ended.status.failure === "execution_failed")
        assert.strictEqual(yield* activityOf(run), "Idle")
        yield* analyst.letGo(run.id)
        // It has come to its end by the time it can be told that there is nothing to cancel.
        assert.isFalse(yield* frozen.cancel(run))
        assert.deepStrictEqual(yield* outlineOf(run), expected)
        assert.deepStrictEqual(yield* kept(run), ended)
      })
    )

    it.effect("a run that waits, and that nobody has started, is taken up by a sweep", () =>
      Effect.gen(function* () {
        const run = yield* queued(questions.answer)
        yield* TestClock.adjust("10 seconds")
        yield* Runner.use((runner) => runner.sweep)
        assert.strictEqual((yield* outlineOf(run)).at(-1), "done completed")
      })
    )

    it.effect("a run whose server left it while it waited is carried out, and told from its beginning once", () =>
      Effect.gen(function* () {
        const runs = [
          yield* leftBehind(questions.answer, () => Effect.void),
          yield* leftBehind(questions.answer, (run) => RunLog.use((log) => log.append(run, openingOf(run))))
        ]
        yield* TestClock.adjust(lease)
        yield* Runner.use((runner) => runner.sweep)
        for (const run of runs) {
          assert.deepStrictEqual(yield* outlineOf(run), [
            "metadata",
            "cell user completed",
            "text words",
            "done completed"
          ])
          assert.strictEqual((yield* kept(run)).status._tag, "Completed")
        }
      })
    )

    it.effect("wherever a server left a run that it had begun, the run comes to its end, and is told to it", () =>
      Effect.gen(function* () {
        const opening = (run: Run) => RunLog.use((log) => log.append(run, openingOf(run)))
        const begin = (run: Run) =>
          Effect.andThen(
            opening(run),
            ChatStore.use((store) => store.saveRun(begun(run)))
          )
        const runs = [
          yield* leftBehind(questions.answer, (run) => Effect.asVoid(begin(run))),
          // It had ended, and was not told of.
          yield* leftBehind(questions.answer, (run) =>
            Effect.andThen(
              begin(run),
              Effect.flatMap(DateTime.now, (now) =>
                ChatStore.use((store) =>
                  store.endRun(new Run({ ...run, status: RunStatus.cases.Cancelled.make({ endedAt: now }) }), now)
                )
              )
            )
          ),
          // Somebody had asked for it to stop.
          yield* leftBehind(questions.answer, (run) =>
            Effect.andThen(
              begin(run),
              ChatStore.use((store) => store.requestCancel(run))
            )
          )
        ]
        yield* TestClock.adjust(lease)
        yield* Runner.use((runner) => runner.sweep)
        const stopped = "done failed: the server stopped before the run ended"
        const lasts = [stopped, "done failed: cancelled", "done failed: cancelled"]
        for (const [index, run] of runs.entries()) {
          assert.deepStrictEqual(yield* outlineOf(run), ["metadata", "cell user completed", lasts[index] ?? ""])
          assert.strictEqual(yield* activityOf(run), "Idle")
          assert.strictEqual(yield* beginnings(run), 0)
        }
      })
    )

    it.effect("a cancel on one server stops the run that another carries, and returns when it has ended", () =>
      Effect.gen(function* () {
        const [a, b] = [yield* server(), yield* server()]
        const run = yield* queued(questions.wait)
        yield* a.start(run)
        const analyst = yield* ScriptedAnalyst
        yield* analyst.speaking(run.id)
        const cancelling = yield* Effect.forkChild(b.cancel(run))
        assert.isTrue(yield* inTheEnd(run, cancelling))
        assert.include(yield* analyst.stopped, run.id)
        assert.strictEqual((yield* kept(run)).status._tag, "Cancelled")
        assert.strictEqual((yield* outlineOf(run)).at(-1), "done failed: cancelled")
        assert.isFalse(yield* b.cancel(run))
      })
    )

    it.effect("a cancel ends a run whose server is gone, and one that nobody has started", () =>
      Effect.gen(function* () {
        const [frozen, other] = [yield* server({ isFrozen: true }), yield* server()]
        const run = yield* queued(questions.wait)
        yield* frozen.start(run)
        yield* ScriptedAnalyst.use((analyst) => analyst.speaking(run.id))
        assert.isTrue(yield* inTheEnd(run, yield* Effect.forkChild(other.cancel(run))))
        assert.strictEqual((yield* kept(run)).status._tag, "Cancelled")
        const unstarted = yield* queued(questions.answer)
        assert.isTrue(yield* other.cancel(unstarted))
        assert.deepStrictEqual(yield* outlineOf(unstarted), [
          "metadata",
          "cell user completed",
          "done failed: cancelled"
        ])
        assert.strictEqual(yield* beginnings(unstarted), 0)
      })
    )

    it.effect("a server that stops ends what it has begun, and another can take up the chat at once", () =>
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const stopping = yield* server({ scope })
        const run = yield* queued(questions.wait)
        yield* stopping.start(run)
        yield* ScriptedAnalyst.use((analyst) => analyst.speaking(run.id))
        yield* Scope.close(scope, Exit.void)
        assert.strictEqual((yield* outlineOf(run)).at(-1), "done failed: the server stopped before the run ended")
        assert.strictEqual(yield* activityOf(run), "Idle")
        const left = yield* ChatStore.use((store) => store.abandoned(DateTime.add(run.createdAt, { days: 1 }), 10_000))
        assert.notInclude(
          left.map(({ id }) => id),
          run.id
        )
      })
    )
  })
}
