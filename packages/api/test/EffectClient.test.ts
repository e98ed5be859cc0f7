import { EffectClient, layer, make } from "@castellan/api/client/EffectClient"
import { Unauthenticated } from "@castellan/core/error/Failure"
import { assert, describe, it } from "@effect/vitest"
import { envelope } from "@castellan/api/error/ErrorEnvelope"
import { DateTime, Deferred, Effect, Fiber, Layer, Redacted, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import * as Domain from "./fixture/Domain.ts"
import * as Service from "./fixture/Service.ts"

/** The client, over the contract bound to handlers that take note of what they are asked. */
const clientLayer = (asked: Array<unknown>, apiKey = "key") =>
  layer({ baseUrl: "http://castellan.test", apiKey: Redacted.make(apiKey) }).pipe(
    Layer.provide(FetchHttpClient.layer),
    Layer.provide(
      Layer.effect(
        FetchHttpClient.Fetch,
        Effect.map(
          Service.make((question) => asked.push(question)),
          (fetch): typeof globalThis.fetch =>
            (input, init) =>
              fetch(new Request(input, init))
        )
      )
    )
  )

describe("the Effect client", () => {
  it.effect("asks in the wire's terms, and answers in the domain's", () => {
    const asked: Array<unknown> = []
    return Effect.gen(function* () {
      const client = yield* EffectClient
      const answer = yield* client.chats.ask({ payload: { question: "Why?", connector_ids: [] } })
      assert.strictEqual(answer.chat_id, Domain.chatId)
      assert.isTrue(DateTime.isUtc(answer.created_at))
      assert.deepStrictEqual(answer.created_at, Domain.at(0))
      assert.deepStrictEqual(yield* client.chats.list({ query: { limit: 3 } }), { chats: [], total_count: 0 })
      assert.deepStrictEqual(yield* client.chats.cells({ params: { id: Domain.chatId }, query: {} }), {
        chat_id: Domain.chatId,
        cells: [],
        has_more: false
      })
      assert.deepStrictEqual(yield* client.connectors.list(), [])
      assert.deepStrictEqual(yield* client.models.list(), { models: [] })
      assert.deepStrictEqual(yield* client.system.health(), { status: "ok" })
      assert.deepInclude(asked[0], { question: "Why?" })
      assert.deepInclude(asked[1], { limit: 3, offset: 0 })
      assert.deepStrictEqual(asked[2], { id: Domain.chatId, limit: 200, offset: 0 })
    }).pipe(Effect.provide(clientLayer(asked)))
  })

  it.effect("fails with the errors of the domain", () =>
    Effect.gen(function* () {
      const client = yield* EffectClient
      assert.deepStrictEqual(
        yield* Effect.flip(client.models.list()),
        new Unauthenticated({ message: "Authentication required" })
      )
      const refused = yield* client.chats
        .ask({ payload: { question: "Why?" } })
        .pipe(Effect.catchTag("Unauthenticated", ({ code }) => Effect.succeed(code)))
      assert.strictEqual(refused, "unauthenticated")
    }).pipe(Effect.provide(clientLayer([], "other")))
  )

  it.effect("takes a stream up again no sooner than the server asks", () =>
    Effect.gen(function* () {
      const refused = yield* Deferred.make<void>()
      const requests: Array<string> = []
      const fetch: typeof globalThis.fetch = async (input) => {
        requests.push(String(input))
        if (requests.length > 1) {
          const headers = { "content-type": "text/event-stream" }
          return new Response('id: 1\ndata: {"type":"done","status":"completed"}\n\n', { headers })
        }
        Deferred.doneUnsafe(refused, Effect.void)
        return Response.json(envelope("rate_limit_exceeded"), { status: 429, headers: { "retry-after": "30" } })
      }
      const client = yield* make({ baseUrl: "http://castellan.test", apiKey: Redacted.make("key") }).pipe(
        Effect.provide(FetchHttpClient.layer)
      )
      const fiber = yield* client
        .follow(Domain.chatId)
        .pipe(Stream.runCollect, Effect.provideService(FetchHttpClient.Fetch, fetch), Effect.forkChild)
      yield* Deferred.await(refused)
      // Answers are read in real time, which the test's clock does not move: let both pass, a little at a time.
      let seconds = 0
      while (requests.length === 1 && seconds < 200) {
        yield* TestClock.adjust("1 second")
        yield* TestClock.withLive(Effect.sleep("1 millis"))
        seconds += 1
      }
      assert.isAtLeast(seconds, 30)
      assert.deepStrictEqual(yield* Fiber.join(fiber), [{ type: "done", status: "completed" }])
    })
  )
})
