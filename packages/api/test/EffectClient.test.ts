import { EffectClient, layer } from "@castellan/api/client/EffectClient"
import { Unauthenticated } from "@castellan/core/error/Failure"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
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
})
