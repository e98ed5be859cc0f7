import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { CurrentPrincipal } from "@castellan/core/access/Principal"
import { Chats } from "@castellan/core/chat/Chats"
import { RunLog } from "@castellan/core/run/RunLog"
import { CastellanHttp } from "@castellan/http/CastellanHttp"
import * as PassingTime from "@castellan/testing/fixture/PassingTime"
import { assert, describe, layer } from "@effect/vitest"
import { Duration, Effect, Fiber, Schedule, Stream } from "effect"
import * as Site from "./support/Site.ts"

const idsOf = (text: string) => Site.framesOf(text).map((frame) => Number(frame.id))
const typesOf = (text: string) => Site.framesOf(text).map((frame) => frame.data.type)
const from = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index)
const hasFrames = (count: number) => (text: string) =>
  Site.framesOf(text.slice(0, text.lastIndexOf("\n\n") + 2)).length >= count
const after = (id: number | string) => ({ headers: { "last-event-id": String(id) } })

/** Bytes of buffers that are in use, without those that nobody holds any more. */
const bytesInUse = (): number => {
  setFlagsFromString("--expose-gc")
  runInNewContext("gc()")
  return process.memoryUsage().arrayBuffers
}

/** Lets everything else that waits have its turn. */
const turn = Effect.callback<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

/** Waits until nobody follows any more. */
const nobodyFollows = CastellanHttp.use(({ streams }) =>
  Effect.repeat(streams, { until: (state) => state.followers === 0 })
)

/** A run with its opening and as many events after it as asked for. */
const toldRun = (count: number) =>
  Effect.gen(function* () {
    const run = yield* Site.stalledRun
    yield* RunLog.use((log) => Stream.runHead(log.follow(run, 0)))
    const opening = (yield* RunLog.use((log) => log.read(run, 0))).length
    yield* Site.tell(run, ...Array.from({ length: count }, (_, index) => Site.text(`piece ${index}`)))
    return { run, path: `/v2/chats/${run.chatId}/stream`, told: opening + count }
  })

layer(Site.layer(), { excludeTestServices: true, timeout: "180 seconds" })("streams", (it) => {
  describe("the events of a question", () => {
    const form = '--b\r\nContent-Disposition: form-data; name="question"\r\n\r\nHow much?\r\n--b--\r\n'
    const bodies = [
      ["JSON", { body: '{"question":"How much?"}', headers: { "content-type": "application/json" } }],
      ["a form", { body: form, headers: { "content-type": "multipart/form-data; boundary=b" } }]
    ] as const

    for (const [what, body] of bodies) {
      it.effect(`as ${what}: metadata first, exactly one done last, ids from 1`, () =>
        Effect.gen(function* () {
          const reply = yield* Site.call("/v2/chats/stream", { method: "POST", ...body })
          assert.strictEqual(reply.status, 200)
          assert.strictEqual(reply.headers["content-type"], "text/event-stream")
          assert.match(reply.headers["cache-control"] ?? "", /no-store/)
          assert.match(reply.headers["x-request-id"] ?? "", /./)
          const types = typesOf(reply.text)
          assert.strictEqual(types[0], "metadata")
          assert.deepStrictEqual(idsOf(reply.text), from(1, types.length))
          assert.strictEqual(types.indexOf("done"), types.length - 1)
          assert.include(types, "text")
          assert.deepStrictEqual(Site.framesOf(reply.text).at(-1)?.data, { type: "done", status: "completed" })
        })
      )
    }

    it.effect("the waited-for answer is the streamed one", () =>
      Effect.gen(function* () {
        const answer = JSON.parse((yield* Site.post("/v2/chats", { question: "How much?" })).text)
        const replay = yield* Site.call(`/v2/chats/${answer.chat_id}/stream`)
        const frames = Site.framesOf(replay.text)
        assert.strictEqual(frames[0]?.data["id"], answer.id)
        const words = frames.filter((frame) => frame.data.type === "text").map((frame) => frame.data["text"])
        assert.strictEqual(words.join(""), answer.response)
        assert.strictEqual(answer.response, "The answer is 42.")
      })
    )
  })

  describe("resumption", () => {
    it.effect("after every event of a run that has ended, byte for byte", () =>
      Effect.gen(function* () {
        const { path, run, told } = yield* toldRun(40)
        yield* Site.tell(run, Site.done)
        const whole = yield* Site.call(path)
        assert.deepStrictEqual(idsOf(whole.text), from(1, told + 1))
        const blocks = whole.text.split("\n\n").slice(0, -1)
        for (let k = 0; k <= told + 1; k += 1) {
          const rest = yield* Site.call(path, after(k))
          assert.strictEqual(rest.status, 200)
          const frames = rest.text.split("\n\n").filter((block) => block !== "" && !block.startsWith(":"))
          assert.deepStrictEqual(frames, blocks.slice(k), `after ${k}`)
        }
      })
    )

    it.effect("after a cut at every event of a run that goes on", () =>
      Effect.gen(function* () {
        const { path, run, told } = yield* toldRun(0)
        for (let k = told; k < told + 25; k += 1) {
          const first = yield* Site.read(path)
          yield* Site.tell(run, Site.text(`piece ${k}`))
          const seen = idsOf(yield* first.until(hasFrames(k + 1))).slice(0, k + 1)
          assert.deepStrictEqual(seen, from(1, k + 1))
          first.leave()
          const second = yield* Site.read(path, after(k))
          assert.deepStrictEqual(idsOf(yield* second.until(hasFrames(1))), [k + 1])
          second.leave()
        }
        const last = yield* Site.read(path, after(told + 20))
        yield* Site.tell(run, Site.text("piece"), Site.done)
        const { complete, text } = yield* last.end
        assert.isTrue(complete)
        assert.deepStrictEqual(idsOf(text), from(told + 21, told + 27))
      })
    )

    it.effect("a value that is no event's id is 400", () =>
      Effect.gen(function* () {
        const { path, told } = yield* toldRun(3)
        for (const id of [
          "-1",
          "x",
          "1.5",
          "1e3",
          "+1",
          "0x1",
          "1, 2",
          String(told + 1),
          "1000001",
          "999999999999999",
          "9".repeat(40)
        ]) {
          const reply = yield* Site.call(path, after(id))
          assert.strictEqual(reply.status, 400, id)
          assert.match(Site.envelopeOf(reply).message, /^last-event-id: /)
        }
        const twice = yield* Site.call(path, { headers: { "last-event-id": ["1", "2"] } })
        assert.strictEqual(twice.status, 400)
        // Some clients send it empty before the first event.
        const empty = yield* Site.read(path, after(""))
        assert.deepStrictEqual(idsOf(yield* empty.until(hasFrames(told))), from(1, told))
      })
    )

    it.effect("goes on with the run that was cut off, not in the middle of the next", () =>
      Effect.gen(function* () {
        const first = JSON.parse((yield* Site.post("/v2/chats", { question: "first" })).text)
        const path = `/v2/chats/${first.chat_id}/stream`
        const one = yield* Site.call(path)
        const two = yield* Site.post("/v2/chats/stream", { question: "second", chat_id: first.chat_id })
        const ids = [...idsOf(one.text), ...idsOf(two.text)]
        assert.deepStrictEqual(
          ids,
          ids.toSorted((a, b) => a - b)
        )
        assert.strictEqual(new Set(ids).size, ids.length)
        assert.strictEqual((yield* Site.call(path)).text, two.text.replace(/^:.*\n\n/, ""))
        const rest = yield* Site.call(path, after(2))
        assert.deepStrictEqual(idsOf(rest.text), idsOf(one.text).slice(2))
        const tail = yield* Site.call(path, after(idsOf(two.text)[1] ?? 0))
        assert.deepStrictEqual(idsOf(tail.text), idsOf(two.text).slice(2))
      })
    )
  })

  describe("followers", () => {
    it.effect("get the same bytes, whenever they come", () =>
      Effect.gen(function* () {
        const { path, run } = yield* toldRun(5)
        const early = yield* Effect.forEach(from(1, 10), () => Site.read(path))
        yield* Site.tell(run, ...from(1, 50).map((n) => Site.text(`${n} ☃ ${"x".repeat(n * 7)}`)))
        const late = yield* Effect.forEach(from(1, 10), () => Site.read(path))
        yield* Site.tell(run, Site.text("last"), Site.done)
        const texts = yield* Effect.forEach([...early, ...late], (reading) => reading.end)
        const without = texts.map(({ text }) => text.replaceAll(/^:.*\n\n/gm, ""))
        assert.strictEqual(new Set(without).size, 1)
        assert.isTrue(texts.every(({ complete }) => complete))
        assert.strictEqual(typesOf(without[0] ?? "").filter((type) => type === "done").length, 1)
      })
    )

    it.effect("leave nothing behind, and the run goes on without them", () =>
      Effect.gen(function* () {
        const { path, run, told } = yield* toldRun(1)
        const readings = yield* Effect.forEach(from(1, 30), () => Site.read(path))
        yield* Effect.forEach(readings, (reading) => reading.until(hasFrames(told)))
        const busy = yield* CastellanHttp.use(({ streams }) => streams)
        assert.isAtLeast(busy.followers, 30)
        for (const reading of readings) reading.leave()
        yield* nobodyFollows
        const chat = JSON.parse((yield* Site.call(`/v2/chats/${run.chatId}`)).text)
        assert.isTrue(chat.chat.is_running)
        yield* Site.tell(run, Site.text("still there"), Site.done)
        assert.deepStrictEqual(idsOf((yield* Site.call(path)).text), from(1, told + 2))
      })
    )

    it.effect("are answered at once, though the next event is far off", () =>
      Effect.gen(function* () {
        const { path, told } = yield* toldRun(1)
        const reading = yield* Site.read(path, after(told))
        assert.strictEqual(reading.status, 200)
        assert.match(yield* reading.until((text) => text.length > 0), /^: /)
      })
    )

    it.effect("that do not read cost the others nothing, and the server no more than their sockets", () =>
      Effect.gen(function* () {
        const { path, run, told } = yield* toldRun(0)
        const slow = yield* Effect.forEach(from(1, 6), () => Site.read(path))
        yield* Effect.forEach(slow, (reading) => reading.until(hasFrames(told)))
        for (const reading of slow) reading.pause()
        const fast = yield* Site.read(path)
        const before = bytesInUse()
        // 20 MB a follower: more than the buffers of a connection, and 120 MB if it were kept for each.
        const size = 100_000
        const event = Site.text("x".repeat(size))
        for (let n = 1; n <= 200; n += 1) {
          yield* Site.tell(run, event)
          yield* fast.until((text) => text.length > n * size)
        }
        // The run's own frames, with room to grow, and one piece for each that waits.
        const bound = before + 50_000_000
        // Buffers are given back by a thread of its own, which may come late on a busy machine.
        const inUse = yield* Effect.repeat(Effect.andThen(turn, Effect.sync(bytesInUse)), {
          until: (bytes) => bytes < bound,
          times: 1000,
          schedule: Schedule.spaced("10 millis")
        })
        assert.isBelow(inUse, bound)
        assert.isTrue(slow.every((reading) => reading.text().length < size))
        yield* Site.tell(run, Site.done)
        const numbers = (text: string) => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
        for (const reading of slow) reading.resume()
        for (const reading of slow) {
          const { complete, text } = yield* reading.end
          assert.isTrue(complete)
          assert.deepStrictEqual(numbers(text), from(1, told + 201))
        }
      })
    )
  })

  describe("ends", () => {
    it.effect("a cancel ends the stream and the run, once", () =>
      Effect.gen(function* () {
        const { path, run } = yield* toldRun(2)
        const reading = yield* Site.read(path)
        const cancel = () => Site.call(`/v2/chats/${run.chatId}/cancel`, { method: "POST" })
        assert.deepStrictEqual(JSON.parse((yield* cancel()).text), { cancelled: true })
        const { text } = yield* reading.end
        assert.deepStrictEqual(Site.framesOf(text).at(-1)?.data, { type: "done", status: "failed", error: "cancelled" })
        assert.deepStrictEqual(JSON.parse((yield* cancel()).text), { cancelled: false })
        const chat = JSON.parse((yield* Site.call(`/v2/chats/${run.chatId}`)).text)
        assert.isFalse(chat.chat.is_running)
      })
    )

    it.effect("a client that leaves does not stop the run that it asked for", () =>
      Effect.gen(function* () {
        const { admin } = yield* Site.Site
        const question = { body: '{"question":"stall"}', headers: { "content-type": "application/json" } }
        const listed = Chats.use((chats) =>
          chats.list({ limit: 100, offset: 0, sortBy: "created_at", sortDirection: "desc" })
        ).pipe(Effect.provideService(CurrentPrincipal, admin), Effect.orDie)
        const before = (yield* listed).totalCount
        const streaming = yield* Site.read("/v2/chats/stream", { method: "POST", ...question })
        yield* streaming.until(hasFrames(1))
        streaming.leave()
        const waiting = yield* Effect.forkChild(Site.post("/v2/chats", question.body))
        yield* Effect.repeat(listed, { until: (page) => page.totalCount === before + 2 })
        waiting.interruptUnsafe()
        yield* nobodyFollows
        const { chats } = yield* listed
        assert.deepStrictEqual(
          chats.slice(0, 2).map(({ chat }) => chat.activity._tag),
          ["Running", "Running"]
        )
      })
    )

    it.effect("a cancelled answer that somebody waits for is 499", () =>
      Effect.gen(function* () {
        const waiting = yield* Effect.forkChild(Site.post("/v2/chats", { question: "stall now" }))
        const listed = Effect.map(Site.call("/v2/chats?search_term=stall%20now"), ({ text }) => JSON.parse(text).chats)
        const [chat] = yield* Effect.repeat(listed, { until: (chats) => chats.length === 1 })
        yield* Site.call(`/v2/chats/${chat.id}/cancel`, { method: "POST" })
        const reply = yield* Fiber.join(waiting)
        assert.strictEqual(reply.status, 499)
      })
    )
  })
})

layer(Site.layer({ limits: { heartbeat: Duration.millis(30) } }), { excludeTestServices: true })(
  "a stream where nothing happens",
  (it) => {
    it.effect("carries a comment now and then", () =>
      Effect.gen(function* () {
        const { path, run, told } = yield* toldRun(1)
        const reading = yield* Site.read(path, after(told))
        yield* reading.until((text) => text.split(": heartbeat\n\n").length > 4)
        yield* Site.tell(run, Site.done)
        const { text } = yield* reading.end
        assert.deepStrictEqual(idsOf(text), [told + 1])
      })
    )
  }
)

layer(Site.layer({ limits: { answerTimeout: Duration.millis(500) } }))("an answer that does not come", (it) => {
  it.effect("is 504, and its run goes on", () =>
    Effect.gen(function* () {
      const asking = yield* Effect.forkChild(Site.post("/v2/chats", { question: "stall" }))
      const running = Effect.map(Site.call("/v2/chats"), ({ text }) => JSON.parse(text).total_count)
      yield* Effect.repeat(running, { until: (count) => count === 1 })
      const reply = yield* PassingTime.join(asking)
      assert.strictEqual(reply.status, 504)
      assert.strictEqual(Site.envelopeOf(reply).code, "timeout")
      const { chats } = JSON.parse((yield* Site.call("/v2/chats")).text)
      assert.isTrue(chats[0].is_running)
    })
  )
})
