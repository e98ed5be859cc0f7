/** Both clients, over real connections that break in every way that connections do. */
import { ChatStreamEvent, ofRunEvent } from "@castellan/api/chat/ChatStreamEvent"
import * as ChatStreamFrame from "@castellan/api/chat/ChatStreamFrame"
import * as Client from "@castellan/api/client/Client"
import * as EffectClient from "@castellan/api/client/EffectClient"
import { envelope } from "@castellan/api/error/ErrorEnvelope"
import type { ChatId } from "@castellan/core/chat/Chat"
import { RunEvent } from "@castellan/core/run/RunEvent"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Redacted, Schema, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import * as Domain from "./fixture/Domain.ts"
import { cut, eventStream, finish, hang, json, serve } from "./fixture/LoopbackServer.ts"

/** What a client made of a stream: the events that it handed out, and the code of the error that it ended with. */
interface Outcome {
  readonly events: ReadonlyArray<unknown>
  readonly error: string | undefined
}

interface Question {
  readonly question: string
  readonly chat_id?: ChatId
}

/** One of the two clients, in terms that they share. */
interface Flavour {
  readonly stream: (url: string, request: Question, attempts?: number) => Effect.Effect<Outcome>
  readonly follow: (url: string, lastEventId?: string, attempts?: number) => Effect.Effect<Outcome>
  /** Reads so many events and leaves. */
  readonly leave: (url: string, count: number) => Effect.Effect<Outcome>
}

const promiseClient = (url: string, attempts = 8) =>
  Client.make({ baseUrl: url, apiKey: "key", resume: { attempts, initialDelay: 1, maximumDelay: 4 } })

const collect = (events: AsyncIterable<Client.ChatStreamEvent>, count = Infinity): Effect.Effect<Outcome> =>
  Effect.promise(async () => {
    const seen: Array<unknown> = []
    try {
      for await (const event of events) {
        seen.push(event)
        if (seen.length === count) break
      }
      return { events: seen, error: undefined }
    } catch (error) {
      return { events: seen, error: error instanceof Client.CastellanError ? error.code : String(error) }
    }
  })

const effectClient = (url: string, attempts = 8) =>
  EffectClient.make({
    baseUrl: url,
    apiKey: Redacted.make("key"),
    resume: { attempts, initialDelay: Duration.millis(1), maximumDelay: Duration.millis(4) }
  }).pipe(Effect.provide(FetchHttpClient.layer))

const codes: Readonly<Record<string, string>> = {
  Conflict: "conflict",
  NotFound: "not_found",
  Internal: "internal",
  StreamLost: "stream_lost",
  RateLimitExceeded: "rate_limit_exceeded",
  HttpClientError: "unexpected_response"
}

const run = (events: Stream.Stream<ChatStreamEvent, EffectClient.StreamError>): Effect.Effect<Outcome> => {
  const seen: Array<unknown> = []
  return events.pipe(
    Stream.runForEach((event) => Effect.sync(() => seen.push(Schema.encodeSync(ChatStreamEvent)(event)))),
    Effect.match({
      onSuccess: () => ({ events: seen, error: undefined }),
      onFailure: (error) => ({ events: seen, error: codes[error._tag] ?? error._tag })
    })
  )
}

const flavours: Readonly<Record<string, Flavour>> = {
  "the promise client": {
    stream: (url, request, attempts) => collect(promiseClient(url, attempts).chats.stream(request)),
    follow: (url, lastEventId, attempts) =>
      collect(promiseClient(url, attempts).chats.follow(Domain.chatId, { lastEventId })),
    leave: (url, count) => collect(promiseClient(url).chats.stream({ question: "Why?" }), count)
  },
  "the Effect client": {
    stream: (url, request, attempts) =>
      Effect.flatMap(effectClient(url, attempts), (client) => run(client.stream(request))),
    follow: (url, lastEventId, attempts) =>
      Effect.flatMap(effectClient(url, attempts), (client) =>
        run(client.follow(Domain.chatId, lastEventId === undefined ? {} : { lastEventId }))
      ),
    leave: (url, count) =>
      Effect.flatMap(effectClient(url), (client) => run(Stream.take(client.stream({ question: "Why?" }), count)))
  }
}

/** The events of a run as they are sent, and as they should be received. */
const all = Domain.events.map((event) =>
  JSON.parse(JSON.stringify(Schema.encodeSync(ChatStreamEvent)(ofRunEvent(event, Domain.sign))))
)
const frames = Domain.events.map((event, index) => ChatStreamFrame.encode({ event, sequence: index + 1 }, Domain.sign))
const from = (first: number, last: number = frames.length): string => frames.slice(first - 1, last).join("")

const bytes = new TextEncoder().encode(from(1))
/** The whole stream, a few bytes at a time: cuts fall inside characters, line ends and names. */
const crumbs = (size: number) =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.slice(index * size, (index + 1) * size))

const whole: Outcome = { events: all, error: undefined }
const question = { question: "Why?" }
const resumption = (id: string | undefined) => ({
  method: "GET",
  path: `/v2/chats/${Domain.chatId}/stream`,
  lastEventId: id
})

for (const [name, client] of Object.entries(flavours)) {
  /** Answers as the exchanges say, and holds the client's requests and outcome against what is expected. */
  const expectStream = (
    exchanges: Parameters<typeof serve>[0],
    expected: { readonly outcome: Outcome; readonly resumed: ReadonlyArray<string | undefined> },
    ask: (url: string) => Effect.Effect<Outcome> = (url) => client.stream(url, question)
  ) =>
    Effect.gen(function* () {
      const server = yield* serve(exchanges)
      assert.deepStrictEqual(yield* ask(server.url), expected.outcome)
      const [first, ...others] = server.received
      assert.deepInclude(first, { method: "POST", path: "/v2/chats/stream" })
      assert.strictEqual(first?.headers.authorization, "Bearer key")
      assert.deepStrictEqual(
        others.map(({ headers, method, path }) => ({ method, path, lastEventId: headers["last-event-id"] })),
        expected.resumed.map(resumption)
      )
    })

  describe(`a stream of ${name}`, () => {
    it.live("has every event, and ends at done though the connection stays open", () =>
      expectStream([eventStream([from(1)], hang)], { outcome: whole, resumed: [] })
    )

    it.live.each([1, 2, 3, 7])("does not mind pieces of %d bytes", (size) =>
      expectStream([eventStream(crumbs(size), finish)], { outcome: whole, resumed: [] })
    )

    it.live("reads every line end, and does not see comments", () =>
      expectStream(
        [
          eventStream(
            [": hello\n\n", from(1, 3).replaceAll("\n", "\r\n"), ":\r\r", from(4).replaceAll("\n", "\r")],
            finish
          )
        ],
        { outcome: whole, resumed: [] }
      )
    )

    it.live.each([2, 3, 4, 5])("goes on after event %d when it is cut in the middle of the next", (last) =>
      expectStream(
        [eventStream([from(1, last), (frames[last] ?? "").slice(0, 9)], cut), eventStream([from(last + 1)], finish)],
        {
          outcome: whole,
          resumed: [String(last)]
        }
      )
    )

    it.live("goes on when the server ends it before done", () =>
      expectStream([eventStream([from(1, 2)], finish), eventStream([from(3)], finish)], {
        outcome: whole,
        resumed: ["2"]
      })
    )

    it.live("is cut again and again, and comes through", () =>
      expectStream(
        [
          eventStream([from(1, 1)], cut),
          eventStream([from(2, 2)], cut),
          eventStream([], cut),
          eventStream([from(3, 4)], finish),
          json(503, envelope("internal")),
          json(500, envelope("internal")),
          json(429, envelope("rate_limit_exceeded"), { "retry-after": "0" }),
          eventStream([from(5)], finish)
        ],
        { outcome: whole, resumed: ["1", "2", "2", "4", "4", "4", "4"] }
      )
    )

    it.live("hands out nothing twice, though the server repeats itself", () =>
      expectStream([eventStream([from(1, 3)], cut), eventStream([from(1)], finish)], { outcome: whole, resumed: ["3"] })
    )

    it.live("ends with a done that has no id of its own", () =>
      expectStream(
        [eventStream([from(1, 2), 'data: {"type":"done","status":"failed","error":"internal"}\n\n'], finish)],
        {
          outcome: {
            events: [...all.slice(0, 2), { type: "done", status: "failed", error: "internal" }],
            error: undefined
          },
          resumed: []
        }
      )
    )

    it.live("is given up after as many attempts as it may make", () =>
      expectStream(
        [eventStream([from(1, 2)], cut), eventStream([], cut), eventStream([], finish), eventStream([from(3)], finish)],
        { outcome: { events: all.slice(0, 2), error: "stream_lost" }, resumed: ["2", "2"] },
        (url) => client.stream(url, question, 2)
      )
    )

    it.live("counts attempts anew after each event", () =>
      expectStream(
        [1, 2, 3, 4, 5, 6].map((event) => eventStream([from(event, event)], cut)),
        { outcome: whole, resumed: ["1", "2", "3", "4", "5"] },
        (url) => client.stream(url, question, 1)
      )
    )

    it.live("fails as its request does, and does not ask twice", () =>
      Effect.gen(function* () {
        for (const [status, code] of [
          [409, "conflict"],
          [500, "internal"]
        ] as const) {
          yield* Effect.scoped(
            expectStream([json(status, envelope(code))], { outcome: { events: [], error: code }, resumed: [] })
          )
        }
      })
    )

    it.live("does not ask again when a proxy answers", () =>
      expectStream(
        [
          async (response) => {
            response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad gateway</h1>")
          }
        ],
        { outcome: { events: [], error: "unexpected_response" }, resumed: [] }
      )
    )

    it.live("is lost when it is cut before it named its chat", () =>
      expectStream([eventStream([": hello\n\n"], cut)], { outcome: { events: [], error: "stream_lost" }, resumed: [] })
    )

    it.live("of a chat that is known goes on even then", () =>
      expectStream(
        [eventStream([": hello\n\n"], cut), eventStream([from(1)], finish)],
        { outcome: whole, resumed: [undefined] },
        (url) => client.stream(url, { ...question, chat_id: Domain.chatId })
      )
    )

    it.live("is lost when another run has taken its place", () => {
      const other = RunEvent.cases.Metadata.make({
        messageCellId: Domain.questionCellId,
        createdAt: Domain.at(900),
        model: Domain.model,
        chatId: Domain.chatId,
        isContinuation: true
      })
      const frame = ChatStreamFrame.encode({ event: other, sequence: 1_000_001 }, Domain.sign)
      return expectStream([eventStream([from(1, 3)], cut), eventStream([frame], finish)], {
        outcome: { events: all.slice(0, 3), error: "stream_lost" },
        resumed: ["3"]
      })
    })

    it.live("fails when its chat is gone", () =>
      expectStream([eventStream([from(1, 3)], cut), json(404, envelope("not_found"))], {
        outcome: { events: all.slice(0, 3), error: "not_found" },
        resumed: ["3"]
      })
    )

    it.live("closes its connection when nobody reads it any more", () =>
      Effect.gen(function* () {
        const server = yield* serve([eventStream([from(1, 3)], hang)])
        assert.deepStrictEqual(yield* client.leave(server.url, 2), { events: all.slice(0, 2), error: undefined })
        yield* Effect.promise(() => server.someoneLeft)
        assert.deepStrictEqual(server.left, [0])
        assert.lengthOf(server.received, 1)
      })
    )

    it.live("sends the question as it is", () =>
      Effect.gen(function* () {
        const server = yield* serve([eventStream([from(1)], finish)])
        yield* client.stream(server.url, { question: "Wie viele Flüge? 南西", chat_id: Domain.chatId })
        assert.deepStrictEqual(JSON.parse(server.received[0]?.body ?? ""), {
          question: "Wie viele Flüge? 南西",
          chat_id: Domain.chatId
        })
      })
    )
  })

  describe(`a follower of ${name}`, () => {
    const expectFollow = (
      exchanges: Parameters<typeof serve>[0],
      expected: { readonly outcome: Outcome; readonly asked: ReadonlyArray<string | undefined> },
      lastEventId?: string
    ) =>
      Effect.gen(function* () {
        const server = yield* serve(exchanges)
        assert.deepStrictEqual(yield* client.follow(server.url, lastEventId), expected.outcome)
        assert.deepStrictEqual(
          server.received.map(({ headers, method, path }) => ({ method, path, lastEventId: headers["last-event-id"] })),
          expected.asked.map(resumption)
        )
      })

    it.live("sees a run from its start", () =>
      expectFollow([eventStream([from(1)], finish)], { outcome: whole, asked: [undefined] })
    )

    it.live("goes on where it was", () =>
      expectFollow(
        [eventStream([from(5)], finish)],
        { outcome: { events: all.slice(4), error: undefined }, asked: ["4"] },
        "4"
      )
    )

    it.live("tries again when the server cannot answer at first", () =>
      expectFollow(
        [json(503, envelope("internal")), eventStream([from(3, 4)], cut), eventStream([from(5)], finish)],
        { outcome: { events: all.slice(2), error: undefined }, asked: ["2", "2", "4"] },
        "2"
      )
    )

    it.live("is refused at once", () =>
      expectFollow([json(404, envelope("not_found"))], {
        outcome: { events: [], error: "not_found" },
        asked: [undefined]
      })
    )
  })
}
