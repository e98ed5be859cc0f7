import * as CastellanClient from "@castellan/api/client/Client"
import { envelope } from "@castellan/api/error/ErrorEnvelope"
import { componentExamples } from "@castellan/api/openapi/Examples"
import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import * as Domain from "./fixture/Domain.ts"
import { eventStream, hang, json, serve } from "./fixture/LoopbackServer.ts"

/** A `fetch` without a network: it takes note of its requests and answers them one after another. */
type Answer = (request: Request) => Response | Promise<Response>

const scripted = (...answers: ReadonlyArray<Answer>) => {
  const requests: Array<Request> = []
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init)
    requests.push(request)
    request.signal.throwIfAborted()
    const answer = answers[requests.length - 1]
    if (answer === undefined) throw new TypeError("no such answer")
    return answer(request)
  }
  return { fetch, requests }
}

const ok = (body: unknown) => () => Response.json(body)

/** A client over scripted answers, and what it asked. */
const clientOf = (answers: ReadonlyArray<Answer>, baseUrl: string | URL = "https://c.test") => {
  const { fetch, requests } = scripted(...answers)
  return { client: CastellanClient.make({ baseUrl, apiKey: "key", fetch }), requests }
}

/** The error that a promise rejects with. */
const rejection = async (promise: Promise<unknown>): Promise<CastellanClient.CastellanError> => {
  try {
    await promise
  } catch (error) {
    if (error instanceof CastellanClient.CastellanError) return error
    throw error
  }
  throw new Error("it did not reject")
}

const { chatId } = Domain

describe("an operation", () => {
  type Call = (client: CastellanClient.Client) => Promise<unknown>
  it.each<readonly [string, Call, string, unknown]>([
    ["POST /v2/chats", (client) => client.chats.ask({ question: "Why?" }), "Answer", { question: "Why?" }],
    ["GET /v2/chats", (client) => client.chats.list(), "ChatList", undefined],
    [
      "GET /v2/chats?limit=5&offset=0&search_term=a+%26+b&sort_by=name&sort_direction=asc",
      (client) =>
        client.chats.list({ limit: 5, offset: 0, search_term: "a & b", sort_by: "name", sort_direction: "asc" }),
      "ChatList",
      undefined
    ],
    [`GET /v2/chats/${chatId}`, (client) => client.chats.get(chatId), "ChatView", undefined],
    ["GET /v2/chats/a%2F..%2Fb", (client) => client.chats.get("a/../b"), "ChatView", undefined],
    [`GET /v2/chats/${chatId}/cells`, (client) => client.chats.cells(chatId), "CellList", undefined],
    [
      `GET /v2/chats/${chatId}/cells?limit=2`,
      (client) => client.chats.cells(chatId, { limit: 2 }),
      "CellList",
      undefined
    ],
    [`POST /v2/chats/${chatId}/cancel`, (client) => client.chats.cancel(chatId), "Cancellation", undefined],
    ["GET /v2/connectors", (client) => client.connectors.list(), "ConnectorList", undefined],
    ["GET /v2/models", (client) => client.models.list(), "ModelList", undefined]
  ])("is %s", async (expected, call, example, body) => {
    const { client, requests } = clientOf([ok(componentExamples[example])])
    assert.deepStrictEqual(await call(client), componentExamples[example])
    const [request] = requests
    assert.isDefined(request)
    assert.strictEqual(`${request?.method} ${request?.url}`, expected.replace(" ", " https://c.test"))
    assert.strictEqual(request?.headers.get("authorization"), "Bearer key")
    const sent = (await request?.text()) ?? ""
    assert.deepStrictEqual(sent === "" ? undefined : JSON.parse(sent), body)
    assert.strictEqual(request?.headers.get("content-type"), body === undefined ? null : "application/json")
  })

  it.each(["https://c.test/analytics", "https://c.test/analytics/", new URL("https://c.test/analytics//")])(
    "goes to wherever the service is mounted: %s",
    async (baseUrl) => {
      const { client, requests } = clientOf([ok([])], baseUrl)
      await client.connectors.list()
      assert.strictEqual(requests[0]?.url, "https://c.test/analytics/v2/connectors")
    }
  )

  it("asks for a key each time, where keys are renewed, and sends the headers that every request has", async () => {
    const { fetch, requests } = scripted(ok([]), ok([]))
    let count = 0
    const client = CastellanClient.make({
      baseUrl: "https://c.test",
      apiKey: async () => `token-${(count += 1)}`,
      headers: { "x-tenant": "acme" },
      fetch
    })
    await client.connectors.list()
    await client.connectors.list()
    assert.deepStrictEqual(
      requests.map(({ headers }) => [headers.get("authorization"), headers.get("x-tenant")]),
      [
        ["Bearer token-1", "acme"],
        ["Bearer token-2", "acme"]
      ]
    )
  })
})

describe("an asset", () => {
  it("is fetched by its address, without the key or anything else that is the service's", async () => {
    const { fetch, requests } = scripted(
      () => new Response("<svg/>", { headers: { "content-type": "image/svg+xml" } }),
      () => new Response("<svg/>")
    )
    const client = CastellanClient.make({
      baseUrl: "https://c.test/a",
      apiKey: "key",
      headers: { "x-tenant": "acme" },
      fetch
    })
    const response = await client.assets.fetch("https://other.test/v2/assets/1?format=svg")
    assert.strictEqual(await response.text(), "<svg/>")
    await client.assets.fetch("/v2/assets/1?format=svg")
    assert.deepStrictEqual(
      requests.map(({ headers, url }) => [url, headers.get("authorization"), headers.get("x-tenant")]),
      [
        ["https://other.test/v2/assets/1?format=svg", null, null],
        ["https://c.test/a/v2/assets/1?format=svg", null, null]
      ]
    )
  })

  it("that has expired is an error", async () => {
    const { client } = clientOf([() => Response.json(envelope("permission_denied", "expired"), { status: 403 })])
    const error = await rejection(client.assets.fetch("/v2/assets/1"))
    assert.deepInclude(error, { code: "permission_denied", status: 403, message: "expired" })
  })
})

describe("an error", () => {
  it("has the code, the status, and the id of the request in the server's log", async () => {
    const { client } = clientOf([
      () =>
        Response.json(envelope("rate_limit_exceeded", "budget of Acme"), {
          status: 429,
          headers: { "x-request-id": "r-7", "retry-after": "30" }
        })
    ])
    const error = await rejection(client.models.list())
    assert.instanceOf(error, Error)
    assert.deepInclude(error, {
      name: "CastellanError",
      code: "rate_limit_exceeded",
      message: "budget of Acme",
      status: 429,
      requestId: "r-7",
      retryAfterSeconds: 30,
      isTransient: true
    })
  })

  it.each<readonly [string, () => Response]>([
    ["a page", () => new Response("<h1>Bad gateway</h1>", { status: 502 })],
    ["nothing", () => new Response(null, { status: 502 })],
    ["JSON of another kind", () => Response.json({ error: "bad" }, { status: 502 })],
    ["a code that is not known", () => Response.json({ error: { code: "teapot", message: "!" } }, { status: 502 })],
    [
      "a code that every object has",
      () => Response.json({ error: { code: "toString", message: "!" } }, { status: 502 })
    ]
  ])("with %s for an envelope is not the service's", async (_, answer) => {
    const { client } = clientOf([answer])
    assert.deepInclude(await rejection(client.models.list()), {
      code: "unexpected_response",
      message: "the service answered 502 without an error envelope",
      status: 502
    })
  })

  it("is there for an answer that is no JSON, though it is a success", async () => {
    const { client } = clientOf([() => new Response("<h1>Welcome</h1>", { headers: { "x-request-id": "r-8" } })])
    const error = await rejection(client.models.list())
    assert.deepInclude(error, { code: "unexpected_response", status: 200, requestId: "r-8", isTransient: false })
    assert.instanceOf(error.cause, SyntaxError)
  })

  it("is there for a service that cannot be reached", async () => {
    const { client } = clientOf([() => Promise.reject(new TypeError("fetch failed"))])
    const error = await rejection(client.models.list())
    assert.deepInclude(error, { code: "connection_failed", status: undefined, isTransient: true })
    assert.deepInclude(error.cause, { message: "fetch failed" })
  })

  it("is there for an answer that breaks off", async () => {
    const body = () =>
      new ReadableStream<Uint8Array>({
        start: (controller) => {
          controller.enqueue(new TextEncoder().encode('{"models":['))
          controller.error(new TypeError("terminated"))
        }
      })
    const { client } = clientOf([() => new Response(body())])
    assert.deepInclude(await rejection(client.models.list()), { code: "connection_failed", status: 200 })
  })

  it.each(["nonsense", "7", "null", '{"text":"x"}'])("is there for a stream that holds %s", async (data) => {
    const { client } = clientOf([() => new Response(`id: 1\ndata: ${data}\n\n`)])
    const next = client.chats.stream({ question: "Why?" })[Symbol.asyncIterator]().next()
    assert.deepInclude(await rejection(next), { code: "unexpected_response" })
  })
})

describe("an abort", () => {
  const reason = new Error("enough")
  const rejects = async (promise: Promise<unknown>): Promise<void> => {
    try {
      await promise
    } catch (error) {
      assert.strictEqual(error, reason)
      return
    }
    assert.fail("it did not reject")
  }

  it("before a request keeps it from being made", async () => {
    const { client, requests } = clientOf([])
    await rejects(client.models.list({ signal: AbortSignal.abort(reason) }))
    const events = client.chats.follow(chatId, { signal: AbortSignal.abort(reason) })
    await rejects(events[Symbol.asyncIterator]().next())
    assert.lengthOf(requests, 2)
  })

  it.live("during a request ends it", () =>
    Effect.gen(function* () {
      const abort = new AbortController()
      const server = yield* serve([
        async () => {
          abort.abort(reason)
        }
      ])
      const client = CastellanClient.make({ baseUrl: server.url, apiKey: "key" })
      yield* Effect.promise(() => rejects(client.models.list({ signal: abort.signal })))
      yield* Effect.promise(() => server.someoneLeft)
    })
  )

  it.live("during a stream ends it, and does not take it up again", () =>
    Effect.gen(function* () {
      const abort = new AbortController()
      const server = yield* serve([eventStream(['id: 1\ndata: {"type":"text","text":"a"}\n\n'], hang)])
      const client = CastellanClient.make({ baseUrl: server.url, apiKey: "key" })
      yield* Effect.promise(async () => {
        const events = client.chats.follow(chatId, { signal: abort.signal })[Symbol.asyncIterator]()
        assert.deepStrictEqual(await events.next(), { done: false, value: { type: "text", text: "a" } })
        const next = events.next()
        abort.abort(reason)
        await rejects(next)
        assert.deepStrictEqual(await events.next(), { done: true, value: undefined })
      })
      yield* Effect.promise(() => server.someoneLeft)
      assert.lengthOf(server.received, 1)
    })
  )

  it.live("between two attempts ends the waiting", () =>
    Effect.gen(function* () {
      const abort = new AbortController()
      const server = yield* serve([
        async (response) => {
          response.on("close", () => abort.abort(reason))
          await json(503, envelope("internal"))(response)
        }
      ])
      const client = CastellanClient.make({
        baseUrl: server.url,
        apiKey: "key",
        resume: { initialDelay: 3_600_000, maximumDelay: 3_600_000 }
      })
      const events = client.chats.follow(chatId, { signal: abort.signal })[Symbol.asyncIterator]()
      yield* Effect.promise(() => rejects(events.next()))
      assert.lengthOf(server.received, 1)
    })
  )
})

describe("a connection that is silent", () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  const text = { type: "text", text: "a" }
  const done = { type: "done", status: "completed" }
  const frame = (id: number, event: unknown) => `id: ${id}\ndata: ${JSON.stringify(event)}\n\n`

  /** An answer whose body is written as time passes, and breaks when its request is aborted. */
  const streaming =
    (write: (send: (piece: string) => void) => void) =>
    (request: Request): Response =>
      new Response(
        new ReadableStream<Uint8Array>({
          start: (controller) => {
            request.signal.addEventListener("abort", () => controller.error(request.signal.reason))
            write((piece) => controller.enqueue(new TextEncoder().encode(piece)))
          }
        })
      )

  const collect = async (events: AsyncIterable<unknown>): Promise<ReadonlyArray<unknown>> => {
    const seen: Array<unknown> = []
    for await (const event of events) seen.push(event)
    return seen
  }

  it("for 45 seconds counts as cut, whether it has answered yet or not", async () => {
    const { client, requests } = clientOf([
      streaming((send) => send(frame(1, text))),
      (request) =>
        new Promise((_, reject) => {
          request.signal.addEventListener("abort", () => reject(request.signal.reason))
        }),
      streaming((send) => send(frame(2, done)))
    ])
    const events = collect(client.chats.follow(chatId))
    await vi.advanceTimersByTimeAsync(44_999)
    assert.lengthOf(requests, 1)
    await vi.advanceTimersByTimeAsync(1 + 250)
    assert.lengthOf(requests, 2)
    await vi.advanceTimersByTimeAsync(45_000 + 500)
    assert.deepStrictEqual(await events, [text, done])
    assert.deepStrictEqual(
      requests.map(({ headers }) => headers.get("last-event-id")),
      [null, "1", "1"]
    )
  })

  it("but for its heartbeats is alive", async () => {
    const { client, requests } = clientOf([
      streaming((send) => {
        const timer = setInterval(() => send(": heartbeat\n\n"), 15_000)
        setTimeout(() => {
          clearInterval(timer)
          send(frame(1, done))
        }, 600_000)
      })
    ])
    const events = collect(client.chats.follow(chatId))
    await vi.advanceTimersByTimeAsync(600_000)
    assert.deepStrictEqual(await events, [done])
    assert.lengthOf(requests, 1)
  })

  it("is not held against it while the reader is slow", async () => {
    const { client, requests } = clientOf([
      streaming((send) => {
        send(frame(1, text))
        send(frame(2, done))
      })
    ])
    const events = client.chats.follow(chatId)[Symbol.asyncIterator]()
    assert.deepStrictEqual((await events.next()).value, text)
    await vi.advanceTimersByTimeAsync(600_000)
    assert.deepStrictEqual((await events.next()).value, done)
    assert.lengthOf(requests, 1)
  })

  it("while a question is being taken is waited for: it cannot be asked again", async () => {
    const { client, requests } = clientOf([
      (request) =>
        new Promise((resolve, reject) => {
          request.signal.addEventListener("abort", () => reject(request.signal.reason))
          setTimeout(() => resolve(streaming((send) => send(frame(1, done)))(request)), 300_000)
        })
    ])
    const events = collect(client.chats.stream({ question: "Why?" }))
    await vi.advanceTimersByTimeAsync(300_000)
    assert.deepStrictEqual(await events, [done])
    assert.lengthOf(requests, 1)
  })

  it("is taken up again no sooner than the server asks", async () => {
    const { client, requests } = clientOf([
      () => Response.json(envelope("rate_limit_exceeded"), { status: 429, headers: { "retry-after": "30" } }),
      streaming((send) => send(frame(1, done)))
    ])
    const events = collect(client.chats.follow(chatId))
    await vi.advanceTimersByTimeAsync(29_999)
    assert.lengthOf(requests, 1)
    await vi.advanceTimersByTimeAsync(1)
    assert.deepStrictEqual(await events, [done])
  })

  it("is followed by ever longer pauses, until it is given up", async () => {
    const moments: Array<number> = []
    const refuse = () => {
      moments.push(Date.now())
      return Promise.reject(new TypeError("fetch failed"))
    }
    const { client } = clientOf(Array.from({ length: 20 }, () => refuse))
    const outcome = rejection(collect(client.chats.follow(chatId)))
    await vi.advanceTimersByTimeAsync(60_000)
    assert.deepInclude(await outcome, { code: "stream_lost" })
    assert.lengthOf(moments, 9)
    const pauses = moments.slice(1).map((moment, index) => moment - (moments[index] ?? 0))
    for (const [index, pause] of pauses.entries()) {
      const longest = Math.min(5_000, 250 * 2 ** index)
      assert.isAtLeast(pause, Math.floor(longest / 2), `pause ${index}`)
      assert.isAtMost(pause, longest, `pause ${index}`)
    }
  })
})
