/**
 * How a store of chats lets runs be taken up: by one runner at a time, and by another once that one is not heard of.
 */
import type { Principal } from "@castellan/core/access/Principal"
import { ChatStore } from "@castellan/core/chat/ChatStore"
import { noUsage, Run, RunStatus } from "@castellan/core/run/Run"
import { type RunClaim, RunnerId, startedBy } from "@castellan/core/run/RunLease"
import * as Uuid from "@castellan/core/identifier/Uuid"
import { assert, type Vitest } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Sample from "../../fixture/Sample.ts"
import { assertSame } from "../Same.ts"
import { completed, newReader, noon, opened, type ChatStoreNeeds } from "./ChatStoreWords.ts"

const newRunner = Effect.map(Uuid.next, (id) => RunnerId.make(id))

/** What a runner says that takes a run up a number of seconds after noon, for a minute. */
const claimAt = (runnerId: RunnerId, seconds: number): RunClaim => {
  const now = DateTime.add(noon, { seconds })
  return { runnerId, now, until: DateTime.add(now, { minutes: 1 }) }
}

/** A run that was asked at noon, taken up by a runner at that moment. */
const carried = Effect.fnUntraced(function* (maker: Principal) {
  const { chat, run } = yield* opened(maker, { createdAt: noon })
  const runnerId = yield* newRunner
  const taken = Option.getOrThrow(yield* ChatStore.use((store) => store.take(run, claimAt(runnerId, 0))))
  return { chat, run: taken.run, runnerId }
})

const started = (run: Run): Run =>
  new Run({ ...run, status: RunStatus.cases.Running.make({ startedAt: run.createdAt }) })

const used = { inputTokens: 100, outputTokens: 20, toolCalls: 3 }

/** A run has one runner at a time, which alone writes of it. */
export const leasesRuns = (it: Vitest.MethodsNonLive<ChatStoreNeeds>): void => {
  it.effect("of many who take a run up at once one does, and nobody else until it is no longer heard of", () =>
    Effect.gen(function* () {
      const store = yield* ChatStore
      const reader = yield* newReader
      const { run } = yield* opened(reader, { createdAt: noon })
      const runners = yield* Effect.all(Array.from({ length: 20 }, () => newRunner))
      const outcomes = yield* Effect.forEach(runners, (runner) => store.take(run, claimAt(runner, 0)), {
        concurrency: "unbounded"
      })
      const taken = outcomes.flatMap((outcome) => Option.toArray(outcome))
      assertSame(taken, [{ run: new Run({ ...run, epoch: 1 }), isCancelled: false }])
      const other = yield* newRunner
      assertSame(yield* store.take(run, claimAt(other, 59)), Option.none())
      const next = Option.getOrThrow(yield* store.take(run, claimAt(other, 60)))
      assert.strictEqual(next.run.epoch, 2)
      assertSame(yield* store.take(run, claimAt(yield* newRunner, 61)), Option.none())
    })
  )

  it.effect("a runner that has lost a run to another can write nothing of it any more", () =>
    Effect.gen(function* () {
      const store = yield* ChatStore
      const reader = yield* newReader
      const { chat, run: mine } = yield* carried(reader)
      const beat = (run: Run) => store.renew([{ ...run, usage: used }], DateTime.add(noon, { hours: 1 }))
      assert.isTrue(yield* store.saveRun(started(mine)))
      const { run: theirs } = Option.getOrThrow(yield* store.take(mine, claimAt(yield* newRunner, 60)))
      assert.strictEqual(theirs.status._tag, "Running")
      assert.isFalse(yield* store.saveRun(started(mine)))
      assert.isFalse(yield* store.endRun(completed(mine, noon), noon))
      assertSame(yield* beat(mine), [])
      yield* store.handOver(mine, noon)
      yield* store.release(mine)
      assertSame(yield* store.take(mine, claimAt(yield* newRunner, 61)), Option.none())
      assertSame(yield* store.run(reader.organizationId, mine.id), Option.some(started(mine)))
      const running = Option.getOrThrow(yield* store.get(reader.organizationId, chat.id))
      assertSame(running.activity, { _tag: "Running", runId: mine.id })
      assert.isTrue(yield* store.endRun(completed(theirs, noon), noon))
      assert.isFalse(yield* store.saveRun(started(mine)))
      assertSame(yield* store.run(reader.organizationId, mine.id), Option.some(completed(theirs, noon)))
      yield* store.release(theirs)
      assert.isFalse(yield* store.endRun(completed(mine, noon), noon))
    })
  )

  it.effect("who takes a run up finds whatever its runner could write before", () =>
    Effect.gen(function* () {
      const store = yield* ChatStore
      const reader = yield* newReader
      const runnerId = yield* newRunner
      for (const _ of Array.from({ length: 40 })) {
        const { run } = yield* carried(reader)
        const [saved, taken] = yield* Effect.all(
          [store.saveRun(started(run)), store.take(run, claimAt(runnerId, 60))],
          { concurrency: "unbounded" }
        )
        assert.strictEqual(Option.getOrThrow(taken).run.status._tag, saved ? "Running" : "Queued")
      }
    })
  )

  it.effect("a runner that is heard of keeps its runs; what it told they used is what the next one finds", () =>
    Effect.gen(function* () {
      const store = yield* ChatStore
      const reader = yield* newReader
      const stranger = yield* newReader
      const [one, other] = [yield* carried(reader), yield* carried(reader)]
      const lost = yield* carried(stranger)
      yield* store.take(lost.run, claimAt(yield* newRunner, 60))
      const beats = [one, other, lost].map(({ run }) => ({ ...run, usage: used }))
      const renewed = yield* store.renew(beats, DateTime.add(noon, { minutes: 2 }))
      assert.deepStrictEqual(renewed.map(({ id }) => id).toSorted(), [one.run.id, other.run.id].toSorted())
      const elsewhere = { ...one.run, organizationId: stranger.organizationId, usage: used }
      assertSame(yield* store.renew([elsewhere], DateTime.add(noon, { hours: 1 })), [])
      assertSame(yield* store.renew([], noon), [])
      const next = claimAt(yield* newRunner, 119)
      assertSame(yield* store.take(one.run, next), Option.none())
      const taken = yield* store.take(one.run, { ...next, now: DateTime.add(noon, { minutes: 2 }) })
      assertSame(Option.getOrThrow(taken).run.usage, used)
      // What an ended run used up is on it.
      const ended = new Run({ ...completed(other.run, noon), usage: { ...used, toolCalls: 4 } })
      assert.isTrue(yield* store.endRun(ended, noon))
      const last = yield* store.take(other.run, claimAt(yield* newRunner, 120))
      assertSame(Option.getOrThrow(last).run, new Run({ ...ended, epoch: 2 }))
    })
  )

  it.effect("a heartbeat that another has overtaken takes nothing back of what was told that a run used", () =>
    Effect.gen(function* () {
      const store = yield* ChatStore
      const { run } = yield* carried(yield* newReader)
      const later = { ...used, inputTokens: used.inputTokens + 50, toolCalls: used.toolCalls + 1 }
      const beat = (usage: Run["usage"]) => store.renew([{ ...run, usage }], DateTime.add(noon, { minutes: 1 }))
      // The overtaken one counts as a sign of life all the same.
      const renewed = [{ id: run.id, isCancelled: false }]
      for (const usage of [used, later, used, noUsage]) assertSame(yield* beat(usage), renewed)
      const next = Option.getOrThrow(yield* store.take(run, claimAt(yield* newRunner, 60)))
      assertSame(next.run.usage, later)
      // Nor does the next runner begin again from nothing.
      assertSame(yield* store.renew([{ ...next.run, usage: noUsage }], DateTime.add(noon, { minutes: 2 })), renewed)
      const last = Option.getOrThrow(yield* store.take(run, claimAt(yield* newRunner, 120)))
      assertSame(last.run.usage, later)
    })
  )

  it.effect("a heartbeat that another has overtaken does not shorten what its runner has the run for", () =>
    Effect.gen(function* () {
      const store = yield* ChatStore
      const { run } = yield* carried(yield* newReader)
      for (const minutes of [2, 1]) yield* store.renew([run], DateTime.add(noon, { minutes }))
      assertSame(yield* store.take(run, claimAt(yield* newRunner, 119)), Option.none())
      assert.isTrue(Option.isSome(yield* store.take(run, claimAt(yield* newRunner, 120))))
    })
  )

  it.effect("that a run ended may be said again, until it is released; then nobody takes it up", () =>
    Effect.gen(function* () {
      const store = yield* ChatStore
      const reader = yield* newReader
      const { run } = yield* carried(reader)
      assert.isTrue(yield* store.endRun(completed(run, noon), noon))
      assert.isTrue(yield* store.endRun(completed(run, noon), noon))
      yield* store.release(run)
      assert.isFalse(yield* store.endRun(completed(run, noon), noon))
      assertSame(yield* store.take(run, claimAt(yield* newRunner, 3600)), Option.none())
    })
  )

  it.effect("a run that is asked to stop says so to its runner and to whoever takes it up; an ended one is none", () =>
    Effect.gen(function* () {
      const store = yield* ChatStore
      const reader = yield* newReader
      const { run } = yield* carried(reader)
      const minute = DateTime.add(noon, { minutes: 1 })
      assert.isFalse(yield* store.requestCancel({ ...run, organizationId: (yield* newReader).organizationId }))
      assertSame(yield* store.renew([run], minute), [{ id: run.id, isCancelled: false }])
      assert.isTrue(yield* store.requestCancel(run))
      assertSame(yield* store.renew([run], minute), [{ id: run.id, isCancelled: true }])
      const taken = Option.getOrThrow(yield* store.take(run, claimAt(yield* newRunner, 60)))
      assert.isTrue(taken.isCancelled)
      assert.isTrue(yield* store.endRun(completed(taken.run, noon), noon))
      assert.isFalse(yield* store.requestCancel(run))
      assert.isFalse(yield* store.requestCancel(yield* Sample.run(reader, yield* Sample.chat(reader))))
    })
  )

  it.effect("tells the runs that nobody has, of every organization, the longest first", () =>
    Effect.gen(function* () {
      const store = yield* ChatStore
      const [reader, stranger] = [yield* newReader, yield* newReader]
      const lost = yield* carried(reader)
      const { run: unstarted } = yield* opened(stranger, { createdAt: noon })
      const handedOver = yield* carried(stranger)
      yield* store.handOver(handedOver.run, DateTime.add(noon, { seconds: 30 }))
      // A heartbeat that was under way then keeps nobody from it.
      yield* store.renew([handedOver.run], DateTime.add(noon, { minutes: 5 }))
      const released = yield* carried(reader)
      yield* store.endRun(completed(released.run, noon), noon)
      const untold = yield* carried(reader)
      yield* store.renew([untold.run], DateTime.add(noon, { seconds: 61 }))
      yield* store.endRun(completed(untold.run, noon), noon)
      yield* store.release(released.run)
      const removed = yield* carried(reader)
      yield* store.remove(reader.organizationId, removed.chat.id)
      const all = [lost.run, unstarted, handedOver.run, released.run, untold.run, removed.run]
      const made = new Set(all.map(({ id }) => id))
      const found = (seconds: number, limit = 10_000) =>
        Effect.map(store.abandoned(DateTime.add(noon, { seconds }), limit), (runs) =>
          runs.map(({ id }) => id).filter((id) => made.has(id))
        )
      assert.strictEqual(DateTime.toEpochMillis(startedBy(unstarted)), DateTime.toEpochMillis(noon) + 10_000)
      assert.deepStrictEqual(yield* found(9), [])
      assert.deepStrictEqual(yield* found(10), [unstarted.id])
      assert.deepStrictEqual(yield* found(30), [unstarted.id, handedOver.run.id])
      assert.deepStrictEqual(yield* found(60), [unstarted.id, handedOver.run.id, lost.run.id])
      assert.deepStrictEqual(yield* found(61), [unstarted.id, handedOver.run.id, lost.run.id, untold.run.id])
      assert.isAtMost((yield* store.abandoned(DateTime.add(noon, { seconds: 61 }), 2)).length, 2)
      const again = Option.getOrThrow(yield* store.take(handedOver.run, claimAt(yield* newRunner, 1)))
      assert.strictEqual(again.run.epoch, 2)
    })
  )
}
