/**
 * What every run log keeps to: whoever follows a run, from any point and at any moment, sees the same entries in the
 * same order, without a gap or a repeat, up to `Done`.
 */
import { CellStatus, Cell, CellContent } from "@castellan/core/chat/Cell"
import { ConnectorId } from "@castellan/core/connector/Connector"
import { ModelId } from "@castellan/core/model/Model"
import { RunEvent, type RunLogEntry } from "@castellan/core/run/RunEvent"
import { type LoggedRun, RunLog } from "@castellan/core/run/RunLog"
import { assert, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"
import { assertSame } from "./Same.ts"

const text = (words: string): RunEvent => RunEvent.cases.Text.make({ text: words })
const done: RunEvent = RunEvent.cases.Done.make({ status: "completed" })

const wordsOf = (entries: ReadonlyArray<RunLogEntry>): ReadonlyArray<string> =>
  entries.map(({ event }) => (event._tag === "Text" ? event.text : event._tag))

const sequences = (entries: ReadonlyArray<RunLogEntry>): ReadonlyArray<number> => entries.map((entry) => entry.sequence)

const counting = (from: number, to: number): ReadonlyArray<number> =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)

const follow = (run: LoggedRun, after: number) => RunLog.use((log) => Stream.runCollect(log.follow(run, after)))

/** A run of an organization, that no log knows. */
const someRun = Effect.all({ id: Sample.runId, organizationId: Sample.organizationId })

const pause = (times: number) => Effect.repeat(Effect.yieldNow, { times })

/** An event of every kind, with text that is hard to keep. */
const everyKind = Effect.gen(function* () {
  const maker = yield* Sample.principal(yield* Sample.organizationId)
  const run = yield* Sample.run(maker, yield* Sample.chat(maker))
  const asset = yield* Sample.asset(run)
  const cell = new Cell({
    id: asset.cellId,
    title: "Every kind",
    content: CellContent.cases.OntologyQuery.make({
      connectorId: ConnectorId.make(7),
      query: "run: sales",
      code: "select 'a''b' -- \\"
    }),
    status: CellStatus.cases.Failed.make({ endedAt: DateTime.makeUnsafe("2030-01-01T00:00:00.999Z"), error: "no" }),
    result: { output: ["", "two\nlines"], dataframePreview: "| a |\n| --- |", assets: [asset.id] },
    createdAt: DateTime.makeUnsafe("2030-01-01T00:00:00.001Z")
  })
  const metadata = {
    messageCellId: run.messageCellId,
    createdAt: run.createdAt,
    model: ModelId.make("scripted/model-1"),
    chatId: run.chatId,
    isContinuation: true
  }
  return [
    RunEvent.cases.Metadata.make(metadata),
    text("tab\t, quote ', \", backslash \\, NUL \u0000, flag 🏳️‍🌈, \u2028, half a pair \ud83d"),
    RunEvent.cases.Cell.make({ cell }),
    RunEvent.cases.Asset.make({ asset }),
    RunEvent.cases.Done.make({ status: "failed", error: "cancelled" })
  ]
})

/** Runs the contract of `RunLog` against an adapter. */
export const suite = <E>(name: string, layer: Layer.Layer<RunLog, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`RunLog (${name})`, (it) => {
    it.effect("what is appended in an epoch that is over is dropped, be it the end, in one batch or later", () =>
      Effect.gen(function* () {
        const log = yield* RunLog
        const run = yield* someRun
        const inEpoch = (epoch: number) => ({ ...run, epoch })
        yield* log.append(inEpoch(1), [text("first")])
        yield* log.append(inEpoch(2), [])
        yield* log.append(inEpoch(1), [text("late"), done])
        yield* log.append(run, [done])
        yield* log.append(inEpoch(2), [text("second")])
        yield* Effect.all([log.append(inEpoch(3), [text("third")]), log.append(inEpoch(2), [text("too late"), done])], {
          concurrency: "unbounded"
        })
        yield* Effect.all([log.append(inEpoch(4), []), log.append(inEpoch(4), [text("fourth")])], {
          concurrency: "unbounded"
        })
        yield* log.append(inEpoch(4), [done])
        const entries = yield* log.read(run, 0)
        assert.deepStrictEqual(wordsOf(entries), ["first", "second", "third", "fourth", "Done"])
        assert.deepStrictEqual(sequences(entries), counting(1, 5))
        assert.deepStrictEqual(yield* follow(run, 0), entries)
      })
    )

    it.effect("an epoch that begins a log keeps the earlier ones out of it", () =>
      Effect.gen(function* () {
        const log = yield* RunLog
        const run = yield* someRun
        yield* log.append({ ...run, epoch: 2 }, [])
        assert.deepStrictEqual(yield* log.read(run, 0), [])
        yield* log.append({ ...run, epoch: 1 }, [text("late")])
        yield* log.append({ ...run, epoch: 2 }, [text("only"), done])
        assert.deepStrictEqual(wordsOf(yield* follow(run, 0)), ["only", "Done"])
      })
    )

    it.effect("numbers entries from 1, and reads them from any point", () =>
      Effect.gen(function* () {
        const log = yield* RunLog
        const run = yield* someRun
        assert.deepStrictEqual(yield* log.read(run, 0), [])
        yield* log.append(run, [text("a"), text("b")])
        yield* log.append(run, [])
        yield* log.append(run, [text("c")])
        const all = yield* log.read(run, 0)
        assert.deepStrictEqual(sequences(all), [1, 2, 3])
        assert.deepStrictEqual(wordsOf(all), ["a", "b", "c"])
        assert.deepStrictEqual(wordsOf(yield* log.read(run, 2)), ["c"])
        assert.deepStrictEqual(yield* log.read(run, 3), [])
        assert.deepStrictEqual(yield* log.read(run, 99), [])
      })
    )

    it.effect("keeps every kind of event as it was", () =>
      Effect.gen(function* () {
        const log = yield* RunLog
        const run = yield* someRun
        const events = yield* everyKind
        yield* log.append(run, events)
        const kept = (yield* log.read(run, 0)).map((entry) => entry.event)
        assertSame(kept, events)
        const followed = (yield* follow(run, 0)).map((entry) => entry.event)
        assertSame(followed, events)
      })
    )

    it.effect("appends nothing after done, be it in the same step or a later one", () =>
      Effect.gen(function* () {
        const log = yield* RunLog
        const run = yield* someRun
        yield* log.append(run, [text("a"), done, text("too late")])
        yield* log.append(run, [text("much too late"), done])
        assert.deepStrictEqual(wordsOf(yield* log.read(run, 0)), ["a", "Done"])
        assert.deepStrictEqual(wordsOf(yield* follow(run, 0)), ["a", "Done"])
      })
    )

    it.effect("a late follower has everything from its point on, and ends", () =>
      Effect.gen(function* () {
        const log = yield* RunLog
        const run = yield* someRun
        yield* log.append(run, [text("a"), text("b"), done])
        assert.deepStrictEqual(sequences(yield* follow(run, 0)), [1, 2, 3])
        assert.deepStrictEqual(sequences(yield* follow(run, 2)), [3])
        assert.deepStrictEqual(yield* follow(run, 3), [])
      })
    )

    it.effect("removes the log of one run", () =>
      Effect.gen(function* () {
        const log = yield* RunLog
        const [one, other] = [yield* someRun, yield* someRun]
        yield* log.remove(one)
        yield* log.append(one, [text("a"), done])
        yield* log.append(other, [text("b"), done])
        yield* log.remove(one)
        assert.deepStrictEqual(yield* log.read(one, 0), [])
        assert.deepStrictEqual(wordsOf(yield* log.read(other, 0)), ["b", "Done"])
      })
    )

    it.effect("whoever reads a log that is removed meanwhile comes to an end", () =>
      Effect.gen(function* () {
        const log = yield* RunLog
        const run = yield* someRun
        yield* log.append(run, [...counting(1, 1000).map((index) => text(`${index}`)), done])
        const seen = yield* log.follow(run, 0).pipe(
          Stream.tap(({ sequence }) => (sequence === 1 ? log.remove(run) : Effect.void)),
          Stream.runCollect
        )
        assert.deepStrictEqual(sequences(seen), counting(1, seen.length))
        assert.isAbove(seen.length, 0)
      })
    )

    it.effect("keeps runs apart", () =>
      Effect.gen(function* () {
        const log = yield* RunLog
        const one = yield* someRun
        const other = yield* someRun
        const following = yield* Effect.forkChild(follow(other, 0), { startImmediately: true })
        yield* log.append(one, [text("one"), done])
        yield* log.append(other, [text("other"), done])
        assert.deepStrictEqual(wordsOf(yield* Fiber.join(following)), ["other", "Done"])
        assert.deepStrictEqual(wordsOf(yield* log.read(one, 0)), ["one", "Done"])
      })
    )

    it.effect("keeps organizations apart, even where they name the same run", () =>
      Effect.gen(function* () {
        const log = yield* RunLog
        const ours = yield* someRun
        const theirs = { id: ours.id, organizationId: yield* Sample.organizationId }
        const following = yield* Effect.forkChild(follow(theirs, 0), { startImmediately: true })
        yield* log.append(ours, [text("ours")])
        assert.deepStrictEqual(yield* log.read(theirs, 0), [])
        yield* log.append(theirs, [text("theirs"), done])
        assert.deepStrictEqual(wordsOf(yield* Fiber.join(following)), ["theirs", "Done"])
        yield* log.remove(theirs)
        assert.deepStrictEqual(yield* log.read(theirs, 0), [])
        assert.deepStrictEqual(wordsOf(yield* log.read(ours, 0)), ["ours"])
      })
    )

    it.effect("a follower that fell far behind has every entry, in order", () =>
      Effect.gen(function* () {
        const log = yield* RunLog
        const run = yield* someRun
        const batch = counting(1, 500).map((index) => text(`${index}`))
        yield* log.append(run, [text("first")])
        const seen = yield* log.follow(run, 0).pipe(
          // While it is busy with its first entry, thousands come, which another follower is given meanwhile.
          Stream.tap((entry) =>
            entry.sequence > 1
              ? Effect.void
              : Effect.gen(function* () {
                  const other = yield* Effect.forkChild(follow(run, 1), { startImmediately: true })
                  yield* Effect.forEach(counting(1, 12), () => log.append(run, batch), { discard: true })
                  yield* log.append(run, [done])
                  assert.deepStrictEqual(sequences(yield* Fiber.join(other)), counting(2, 6002))
                })
          ),
          Stream.runCollect
        )
        assert.deepStrictEqual(sequences(seen), counting(1, 6002))
      })
    )

    it.effect("whoever says to have had more than there is, waits for what comes after it", () =>
      Effect.gen(function* () {
        const log = yield* RunLog
        const run = yield* someRun
        yield* log.append(run, [text("1"), text("2")])
        const ahead = yield* Effect.forkChild(follow(run, 3), { startImmediately: true })
        const along = yield* Effect.forkChild(follow(run, 0), { startImmediately: true })
        yield* log.append(run, [text("3"), text("4"), done])
        assert.deepStrictEqual(wordsOf(yield* Fiber.join(ahead)), ["4", "Done"])
        assert.deepStrictEqual(wordsOf(yield* Fiber.join(along)), ["1", "2", "3", "4", "Done"])
        assert.deepStrictEqual(yield* follow(run, 9), [])
      })
    )

    it.effect("an entry reaches a follower before the next is appended", () =>
      Effect.gen(function* () {
        const log = yield* RunLog
        const run = yield* someRun
        yield* log.append(run, [text("1")])
        // Each entry that is seen has the next one appended: a follower that gathers would wait for ever.
        const seen = yield* log.follow(run, 0).pipe(
          Stream.tap((entry) =>
            entry.sequence < 20
              ? log.append(run, [text(`${entry.sequence + 1}`)])
              : entry.event._tag === "Done"
                ? Effect.void
                : log.append(run, [done])
          ),
          Stream.runCollect
        )
        assert.deepStrictEqual(sequences(seen), counting(1, 21))
      })
    )

    it.effect("a follower that leaves disturbs nobody", () =>
      Effect.gen(function* () {
        const log = yield* RunLog
        const run = yield* someRun
        const leaving = yield* Effect.forkChild(follow(run, 0), { startImmediately: true })
        const staying = yield* Effect.forkChild(follow(run, 0), { startImmediately: true })
        yield* log.append(run, [text("a")])
        yield* Fiber.interrupt(leaving)
        assert.deepStrictEqual(wordsOf(yield* log.follow(run, 0).pipe(Stream.take(1), Stream.runCollect)), ["a"])
        yield* log.append(run, [text("b"), done])
        assert.deepStrictEqual(wordsOf(yield* Fiber.join(staying)), ["a", "b", "Done"])
      })
    )

    it.effect("a follower that does not read holds up nobody", () =>
      Effect.gen(function* () {
        const log = yield* RunLog
        const run = yield* someRun
        const stuck = yield* log.follow(run, 0).pipe(
          Stream.runForEach(() => Effect.never),
          Effect.forkChild({ startImmediately: true })
        )
        yield* Effect.forEach(counting(1, 2000), (index) => log.append(run, [text(`${index}`)]), { discard: true })
        yield* log.append(run, [done])
        assert.deepStrictEqual(sequences(yield* follow(run, 0)), counting(1, 2001))
        yield* Fiber.interrupt(stuck)
      })
    )

    const Small = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 6 }))
    const Batches = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5 }))).check(
      Schema.isMaxLength(8)
    )

    it.effect.prop(
      "many append and many follow at once: each follower sees every entry after its point, once, in order",
      {
        appenders: Schema.Array(Schema.Struct({ batches: Batches, pauses: Small })).check(Schema.isMaxLength(4)),
        followers: Schema.Array(
          Schema.Struct({ after: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 40 })), pauses: Small })
        ).check(Schema.isMinLength(1), Schema.isMaxLength(5))
      },
      ({ appenders, followers }) =>
        Effect.gen(function* () {
          const log = yield* RunLog
          const run = yield* someRun
          const following = yield* Effect.forEach(followers, ({ after, pauses }) =>
            Effect.forkChild(Effect.andThen(pause(pauses), follow(run, after)))
          )
          yield* Effect.forEach(
            appenders,
            ({ batches, pauses }, appender) =>
              Effect.forEach(
                batches,
                (size, batch) =>
                  Effect.andThen(
                    pause(pauses),
                    log.append(
                      run,
                      counting(1, size).map((index) => text(`${appender}/${batch}/${index}/${size}`))
                    )
                  ),
                { discard: true }
              ),
            { concurrency: "unbounded", discard: true }
          )
          yield* log.append(run, [done])
          const all = yield* log.read(run, 0)
          assert.deepStrictEqual(sequences(all), counting(1, all.length))
          // What was appended in one step stands together, and each appender's steps in their order.
          const words = wordsOf(all)
          const expected = appenders.map(({ batches }, appender) =>
            batches.flatMap((size, batch) => counting(1, size).map((index) => `${appender}/${batch}/${index}/${size}`))
          )
          expected.forEach((own, appender) => {
            assert.deepStrictEqual(
              words.filter((word) => word.startsWith(`${appender}/`)),
              own
            )
          })
          words.forEach((word, position) => {
            const [appender, batch, index, size] = word.split("/")
            if (index !== undefined && index !== size) {
              assert.strictEqual(words[position + 1], `${appender}/${batch}/${Number(index) + 1}/${size}`)
            }
          })
          const seen = yield* Effect.forEach(following, Fiber.join)
          seen.forEach((entries, index) => {
            const after = followers[index]?.after ?? 0
            assert.deepStrictEqual(sequences(entries), counting(after + 1, all.length))
            assert.deepStrictEqual(wordsOf(entries), words.slice(after))
          })
        }),
      { arbitrary: { runs: 60 } }
    )
  })
}
