import { Asset, AssetId } from "@castellan/core/asset/Asset"
import { CellId } from "@castellan/core/chat/Cell"
import { ChatId } from "@castellan/core/chat/Chat"
import { OrganizationId } from "@castellan/core/organization/Organization"
import { RunId } from "@castellan/core/run/Run"
import { RunEvent, type RunLogEntry } from "@castellan/core/run/RunEvent"
import { layerMemory, RunLog } from "@castellan/core/run/RunLog"
import * as AssetSignature from "@castellan/http/asset/AssetSignature"
import { HttpLimits } from "@castellan/http/HttpLimits"
import * as RunBroadcast from "@castellan/http/stream/RunBroadcast"
import type { Follower } from "@castellan/http/stream/RunFeed"
import * as CutShort from "@castellan/testing/fixture/CutShort"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Clock, DateTime, Effect, Exit, Fiber, Layer, Option, Redacted, Stream } from "effect"
import { TestClock } from "effect/testing"

const id = (digit: string) => `0197c0de-0000-7000-8000-${digit.repeat(12)}`
const run = { id: RunId.make(id("1")), organizationId: OrganizationId.make(id("3")), number: 0 }

const signatures = AssetSignature.layer({ secret: Redacted.make("s".repeat(32)), publicUrl: "https://example.com/x/" })

const over = (log: Layer.Layer<RunLog>, limits: Partial<HttpLimits> = {}) =>
  RunBroadcast.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(log, signatures)),
    Layer.provide(Layer.succeed(HttpLimits, { ...HttpLimits.defaultValue(), ...limits }))
  )

const text = (words: string) => RunEvent.cases.Text.make({ text: words })
const done = RunEvent.cases.Done.make({ status: "completed" })
const asset = RunEvent.cases.Asset.make({
  asset: new Asset({
    id: AssetId.make(id("2")),
    organizationId: OrganizationId.make(id("3")),
    chatId: ChatId.make(id("4")),
    name: "Sales",
    kind: "chart",
    formats: ["png", "svg"],
    cellId: CellId.make(id("5")),
    messageCellId: CellId.make(id("5")),
    createdAt: DateTime.makeUnsafe(0)
  })
})

const tell = (...events: ReadonlyArray<RunEvent>) => RunLog.use((log) => log.append(run, events))
const follow = (received: number) => RunBroadcast.RunBroadcast.use((broadcast) => broadcast.follow(run, received))
const state = RunBroadcast.RunBroadcast.use((broadcast) => broadcast.state)

/** Everything that is there for a follower now. */
const drain = (follower: Follower): string => {
  let taken = ""
  for (let piece = follower.take(); piece !== undefined; piece = follower.take())
    taken += Buffer.from(piece.bytes).toString()
  return taken
}

/** Everything until the end. */
const drainToEnd = (follower: Follower): Effect.Effect<string> =>
  Effect.callback((resume) => {
    let taken = ""
    const pass = () => {
      taken += drain(follower)
      if (follower.isAtEnd()) resume(Effect.succeed(taken))
      else follower.wait(pass)
    }
    pass()
  })

const addresses = (frames: string) =>
  [...frames.matchAll(/"(https:[^"]+)"/g)].map(([, address]) => new URL(address ?? ""))

/** Checks that every address in the frames works for at least so long from now. */
const assertLives = (frames: string, millis: number) =>
  Effect.gen(function* () {
    const { verify } = yield* AssetSignature.AssetSignature
    const now = yield* Clock.currentTimeMillis
    assert.isAtLeast(addresses(frames).length, 3)
    for (const address of addresses(frames)) {
      assert.match(address.href, /^https:\/\/example\.com\/x\/v2\/assets\//)
      const parts = { id: address.pathname.split("/").at(-1) ?? "", ...Object.fromEntries(address.searchParams) }
      assert.isTrue(Option.isSome(verify(parts, now + millis)), address.href)
    }
  })

describe("RunBroadcast", () => {
  it.effect("follows a run for others, and forgets it, at whatever step its first client leaves", () =>
    Effect.gen(function* () {
      yield* tell(text("a"))
      for (let step = 1; step < 80; step++) {
        yield* CutShort.at(step, follow(0))
        const next = yield* Effect.forkChild(follow(0))
        yield* Effect.forEach(Array.from({ length: 100 }), () => Effect.yieldNow)
        assert.isDefined(next.pollUnsafe(), `step ${step}`)
        // Whoever has not begun to read is no follower.
        yield* TestClock.adjust("2 minutes")
        assert.deepStrictEqual(yield* state, { runs: 0, followers: 0, bytes: 0 }, `step ${step}`)
      }
    }).pipe(Effect.provide(over(layerMemory)))
  )

  it.effect("forgets a run a minute after its last follower left, and reads it again for the next", () =>
    Effect.gen(function* () {
      yield* tell(text("a"), text("b"))
      const follower = yield* follow(0)
      assert.match(drain(follower), /^id: 1\n.*\n\nid: 2\n.*\n\n$/)
      yield* TestClock.adjust("10 minutes")
      assert.deepInclude(yield* state, { runs: 1, followers: 1 })
      follower.leave()
      yield* TestClock.adjust("45 seconds")
      assert.deepInclude(yield* state, { runs: 1, followers: 0 })
      yield* TestClock.adjust("45 seconds")
      assert.deepStrictEqual(yield* state, { runs: 0, followers: 0, bytes: 0 })
      yield* tell(text("c"), done)
      assert.strictEqual((yield* drainToEnd(yield* follow(1))).split("\n\n").length, 4)
    }).pipe(Effect.provide(over(layerMemory)))
  )

  it.effect("keeps no more for those who left than it may", () =>
    Effect.gen(function* () {
      yield* tell(text("x".repeat(100_000)), done)
      const follower = yield* follow(0)
      drain(follower)
      follower.leave()
      yield* TestClock.adjust("15 seconds")
      assert.deepStrictEqual(yield* state, { runs: 0, followers: 0, bytes: 0 })
    }).pipe(Effect.provide(over(layerMemory, { maxKeptBytes: 50_000 })))
  )

  it.effect("a follower that was never sent anything is none", () =>
    Effect.gen(function* () {
      yield* tell(text("a"))
      yield* follow(0)
      assert.deepInclude(yield* state, { runs: 1, followers: 0 })
    }).pipe(Effect.provide(over(layerMemory)))
  )

  it.effect("never shows an address that has lived more than a third of its life", () =>
    Effect.gen(function* () {
      yield* tell(asset, text("after"))
      const watching = yield* follow(0)
      yield* assertLives(drain(watching), 15 * 60_000 - 1)
      // One that has read nothing yet, and reads when the first addresses are long dead.
      const slow = yield* follow(0)
      assert.include(Buffer.from(slow.take()?.bytes ?? []).toString(), "asset")
      const late = yield* follow(0)
      for (let minute = 0; minute < 40; minute += 1) {
        yield* TestClock.adjust("1 minute")
        const frames = drain(yield* follow(0))
        assert.strictEqual(frames.split("\n\n").filter((block) => block.startsWith("id: ")).length, 2)
        yield* assertLives(frames, 10 * 60_000 - 1)
      }
      yield* assertLives(drain(late), 9 * 60_000)
      yield* tell(done)
      yield* Effect.yieldNow
      assert.strictEqual(
        yield* drainToEnd(watching).pipe(Effect.map((rest) => rest.replaceAll(/^:.*\n\n/gm, ""))),
        'id: 3\ndata: {"type":"done","status":"completed"}\n\n'
      )
    }).pipe(Effect.provide(over(layerMemory)))
  )

  it.effect("a log that breaks off ends the stream with a failed `done` that has no id", () =>
    Effect.gen(function* () {
      const log = yield* RunLog
      const entries: ReadonlyArray<RunLogEntry> = yield* Effect.andThen(
        log.append(run, [text("a"), text("b")]),
        log.read(run, 0)
      )
      const breaking = Layer.succeed(RunLog, {
        ...log,
        read: () => Effect.succeed(entries.slice(0, 1)),
        follow: () =>
          Stream.concat(Stream.fromIterable(entries.slice(1)), Stream.die(new Error("the database is gone")))
      })
      yield* Effect.gen(function* () {
        const frames = (yield* drainToEnd(yield* follow(0))).replaceAll(/^:.*\n\n/gm, "").split("\n\n")
        assert.deepStrictEqual(frames.slice(2), ['data: {"type":"done","status":"failed","error":"internal"}', ""])
        assert.match(frames[1] ?? "", /^id: 2\n/)
        // The next one tries again.
        assert.deepInclude(yield* state, { runs: 0 })
      }).pipe(Effect.provide(over(breaking)))
    }).pipe(Effect.provide(layerMemory))
  )

  it.effect("a log that cannot be read is an error before the first frame", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(follow(0))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      assert.deepInclude(yield* state, { runs: 0 })
    }).pipe(
      Effect.provide(
        over(
          Layer.succeed(RunLog, {
            append: () => Effect.void,
            read: () => Effect.die(new Error("the database is gone")),
            follow: () => Stream.never,
            remove: () => Effect.void
          })
        )
      )
    )
  )

  it.effect("one fiber reads the log, however many follow", () =>
    Effect.gen(function* () {
      let reads = 0
      const counting = Layer.effect(
        RunLog,
        Effect.map(RunLog, (log) => ({
          ...log,
          read: (...all: Parameters<typeof log.read>) =>
            Effect.andThen(
              Effect.sync(() => (reads += 1)),
              log.read(...all)
            ),
          follow: (...all: Parameters<typeof log.follow>) => {
            reads += 1
            return log.follow(...all)
          }
        }))
      ).pipe(Layer.provide(layerMemory))
      yield* Effect.gen(function* () {
        yield* tell(text("a"))
        const followers = yield* Effect.forEach(Array.from({ length: 100 }), () => follow(0), {
          concurrency: "unbounded"
        })
        const ends = yield* Effect.forkChild(Effect.forEach(followers, drainToEnd, { concurrency: "unbounded" }))
        yield* Effect.yieldNow
        yield* tell(text("b"))
        yield* Effect.yieldNow
        yield* tell(done)
        const texts = yield* Fiber.join(ends)
        assert.strictEqual(new Set(texts.map((one) => one.replaceAll(/^:.*\n\n/gm, ""))).size, 1)
        assert.strictEqual(reads, 2)
      }).pipe(Effect.provide(over(counting)))
    })
  )
})
