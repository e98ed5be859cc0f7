/** A wrong answer must not pass for a fast one: the load that the figures come from is itself held to the truth. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { createServer, type RequestListener } from "node:http"
import { BenchmarkFailure } from "../src/BenchmarkFailure.ts"
import { frames, lost } from "../src/fan-out/Script.ts"
import { eventsOf } from "../src/load/EventStream.ts"
import { exchange } from "../src/load/Exchange.ts"
import { follow } from "../src/load/Followers.ts"
import { joinChunks } from "../src/load/HttpResponse.ts"
import * as KeepAlive from "../src/load/KeepAlive.ts"
import { request, sockets } from "../src/load/Sockets.ts"

/** A server for one test. */
const serve = (listener: RequestListener): Effect.Effect<number, BenchmarkFailure, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => createServer(listener)),
    (server) => Effect.sync(() => server.close().closeAllConnections())
  ).pipe(
    Effect.flatMap((server) =>
      Effect.callback<number, BenchmarkFailure>((resume) => {
        server.listen(0, "127.0.0.1", () => {
          const address = server.address()
          resume(
            address === null || typeof address === "string"
              ? Effect.fail(new BenchmarkFailure({ message: "no port" }))
              : Effect.succeed(address.port)
          )
        })
      })
    )
  )

const get = request({ method: "GET", path: "/", bearer: "key" })

const driven = (listener: RequestListener, milliseconds: number = 30) =>
  Effect.gen(function* () {
    const port = yield* serve(listener)
    return yield* KeepAlive.drive(yield* sockets(port, 3), KeepAlive.always(get), milliseconds)
  })

describe("KeepAlive", () => {
  it.live("counts every answer, with its time", () =>
    Effect.gen(function* () {
      let served = 0
      const outcome = yield* driven((_, response) => {
        served += 1
        response.end("the same")
      })
      assert.strictEqual(outcome.responses, served)
      assert.strictEqual(outcome.latencies.length, served)
      assert.isAtLeast(served, 3)
      assert.deepStrictEqual(outcome.bodies.map(String), ["the same"])
      assert.deepStrictEqual(outcome.latencies, outcome.latencies.toSorted())
    })
  )

  it.live("puts an answer together that comes in pieces", () =>
    Effect.gen(function* () {
      const outcome = yield* driven((_, response) => {
        response.writeHead(200, { "content-length": 6 })
        response.write("one")
        setImmediate(() => response.end("two"))
      })
      assert.deepStrictEqual(outcome.bodies.map(String), ["onetwo"])
    })
  )

  it.live("ends at an answer that is not 2xx", () =>
    Effect.gen(function* () {
      let served = 0
      const failure = yield* Effect.flip(
        driven((_, response) => {
          served += 1
          response.statusCode = served === 5 ? 500 : 200
          response.end("x")
        }, 10_000)
      )
      assert.match(failure.message, /not an answer to measure[^]* 500 /)
    })
  )

  it.live("ends at an answer that differs from the first", () =>
    Effect.gen(function* () {
      let served = 0
      const failure = yield* Effect.flip(
        driven((_, response) => {
          served += 1
          response.end(served === 5 ? "another" : "the same")
        }, 10_000)
      )
      assert.match(failure.message, /differs from the first[^]*another/)
    })
  )

  /** Each connection asks for one subject after the other; `answer` is what the server says to each request. */
  const aboutThree = (answer: (subject: string, served: number) => string) =>
    Effect.gen(function* () {
      let served = 0
      const port = yield* serve((incoming, response) => {
        served += 1
        response.end(answer(incoming.url ?? "", served))
      })
      const turns = [0, 0, 0]
      const questions = [0, 1, 2].map((subject) => ({
        subject,
        request: request({ method: "GET", path: `/${subject}`, bearer: "key" })
      }))
      const next = (connection: number) => {
        const turn = (turns[connection] = (turns[connection] ?? 0) + 1)
        const question = questions[(connection + turn) % 3]
        if (question === undefined) throw new Error("no question")
        return question
      }
      return yield* KeepAlive.drive(yield* sockets(port, 3), next, 30)
    })

  it.live("holds every answer to the first about its own subject", () =>
    Effect.gen(function* () {
      const { bodies } = yield* aboutThree((subject) => `about ${subject}`)
      assert.deepStrictEqual(bodies.map(String), ["about /0", "about /1", "about /2"])
      const failure = yield* Effect.flip(aboutThree((subject, served) => `about ${subject} ${served === 7}`))
      assert.match(failure.message, /differs from the first[^]*true/)
    })
  )

  it.live("ends when the server closes a connection", () =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(driven((incoming) => void incoming.socket.destroy(), 10_000))
      assert.match(failure.message, /closed a connection|ECONNRESET/)
    })
  )
})

/** Answers with frames, one write each. */
const streaming =
  (sent: ReadonlyArray<Buffer>): RequestListener =>
  (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    for (const frame of sent) response.write(frame)
    response.end()
  }

const followed = (sent: ReadonlyArray<Buffer>) =>
  Effect.gen(function* () {
    const port = yield* serve(streaming(sent))
    const followers = yield* follow(yield* sockets(port, 3), get)
    yield* followers.attached
    yield* followers.ended
    return yield* followers.streams
  })

describe("Followers", () => {
  it.live("receive every event, and tell how often the server wrote", () =>
    Effect.gen(function* () {
      const streams = yield* followed(frames)
      assert.strictEqual(streams.length, 3)
      for (const stream of streams) {
        assert.isTrue(stream.complete)
        assert.strictEqual(stream.chunks, frames.length)
        assert.strictEqual(lost(eventsOf(stream.body)), 0)
      }
    })
  )

  it.live("notice an event that is lost, repeated, or out of its place", () =>
    Effect.gen(function* () {
      const [first = Buffer.alloc(0), second = Buffer.alloc(0), ...rest] = frames
      const lostIn = (sent: ReadonlyArray<Buffer>) =>
        Effect.map(followed(sent), (streams) => lost(eventsOf(streams[0]?.body ?? Buffer.alloc(0))))
      assert.isAbove(yield* lostIn([first, ...rest]), 0)
      assert.isAbove(yield* lostIn([first, second, second, ...rest]), 0)
      assert.isAbove(yield* lostIn([second, first, ...rest]), 0)
      assert.strictEqual(yield* lostIn([Buffer.from(": a comment\n\n"), ...frames]), 0)
    })
  )

  it.live("fail at an answer that is no stream", () =>
    Effect.gen(function* () {
      const port = yield* serve((_, response) => void response.writeHead(403).end("no"))
      const followers = yield* follow(yield* sockets(port, 2), get)
      assert.match((yield* Effect.flip(followers.ended)).message, /403/)
    })
  )

  it.live("fail at a stream that is cut off", () =>
    Effect.gen(function* () {
      const port = yield* serve((incoming, response) => {
        response.writeHead(200).write(frames[0])
        setImmediate(() => incoming.socket.destroy())
      })
      const followers = yield* follow(yield* sockets(port, 1), get)
      assert.match((yield* Effect.flip(followers.ended)).message, /before its stream had ended|ECONNRESET/)
    })
  )
})

describe("Exchange", () => {
  it.live("tells when each mark came, in one answer after the other", () =>
    Effect.gen(function* () {
      const port = yield* serve((_, response) => {
        response.writeHead(200).write("data: first\n\n")
        setImmediate(() => response.end("data: second\n\n"))
      })
      const marks = [Buffer.from("first"), Buffer.from("second")]
      for (const socket of yield* sockets(port, 1)) {
        yield* exchange(socket, get, marks)
        const { ended, marks: seen, stream } = yield* exchange(socket, get, marks)
        const [first = Number.NaN, second = Number.NaN] = seen
        assert.isAtMost(first, second)
        assert.isAtMost(second, ended)
        assert.deepStrictEqual(
          eventsOf(stream.body).map(({ data }) => data),
          ["first", "second"]
        )
      }
    })
  )

  it.live("fails when a mark does not come", () =>
    Effect.gen(function* () {
      const port = yield* serve((_, response) => {
        response.writeHead(200).write("data: first\n\n")
        response.end()
      })
      for (const socket of yield* sockets(port, 1)) {
        const failure = yield* Effect.flip(exchange(socket, get, [Buffer.from("second")]))
        assert.match(failure.message, /lacks an event/)
      }
    })
  )
})

describe("joinChunks", () => {
  it("joins, counts, and tells a body that is whole", () => {
    assert.deepStrictEqual(joinChunks(Buffer.from("3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n")), {
      body: Buffer.from("abc0123456789"),
      chunks: 2,
      complete: true
    })
    assert.deepStrictEqual(joinChunks(Buffer.from("3\r\nabc\r\nA\r\n0123")), {
      body: Buffer.from("abc"),
      chunks: 1,
      complete: false
    })
  })
})

describe("eventsOf", () => {
  it("reads ids and data, and leaves comments and other fields out", () => {
    const body = Buffer.from(
      ": hello\n\nretry: 5\nid: 1\ndata: a\ndata: b\n\nid:2\r\ndata:c\r\n\r\nevent: x\n\ndata: unfinished"
    )
    assert.deepStrictEqual(eventsOf(body), [
      { id: "1", data: "a\nb" },
      { id: "2", data: "c" }
    ])
  })
})
