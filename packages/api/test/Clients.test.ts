/**
 * Both clients, on every operation of the contract: what they send is what the operation takes, and what they hand out
 * is what it answers.
 */
import * as CastellanClient from "@castellan/api/client/Client"
import * as EffectClient from "@castellan/api/client/EffectClient"
import { routes } from "@castellan/api/client/Routes"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer, Redacted, Schema, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { anyOf, codec, type Operation, operations } from "./fixture/Contract.ts"
import * as ExampleService from "./fixture/ExampleService.ts"

const baseUrl = "http://castellan.test/analytics"
const each = operations.map((operation) => [operation.id, operation] as const)

/** The service beneath a prefix, as a host mounts it. */
const serviceOf = (asked: Array<ExampleService.Asked>): typeof globalThis.fetch => {
  const fetch = ExampleService.make((one) => asked.push(one))
  return (input, init) => {
    const request = new Request(input, init)
    return fetch(request.url.replace("/analytics", ""), request)
  }
}

/** A method of an object that is made from a table, by its name. */
const methodOf = (value: unknown, name: string): ((...input: ReadonlyArray<unknown>) => unknown) => {
  const found: unknown = typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined
  if (typeof found !== "function") throw new Error(`the client has no method ${name}`)
  return (...input) => Reflect.apply(found, undefined, input)
}

const groupOf = (client: object, name: string): unknown => Reflect.get(client, name)

const form = (): FormData => {
  const made = new FormData()
  made.set("path", "uploads/carriers.csv")
  made.set("file", new Blob(["carrier,name\n"]), "carriers.csv")
  return made
}

/** What the promise client calls operations that it does not call as the contract does. */
const promiseNames: Readonly<Record<string, string>> = { streamChat: "stream", getAsset: "fetch" }

/** What the promise client's method of an operation takes. */
const inputOf = (operation: Operation): ReadonlyArray<unknown> => {
  const query = ExampleService.examplesOf(operation, "query")
  if (operation.id === "getAsset") {
    const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))
    const { id } = ExampleService.examplesOf(operation, "path")
    return [`/v2/assets/${String(id)}?${search.toString()}`]
  }
  const ids = Object.values(ExampleService.examplesOf(operation, "path"))
  if (operation.id === "uploadFile") return [...ids, form()]
  const body = ExampleService.bodyOf(operation)
  return [...ids, ...(operation.query === undefined ? [] : [query]), ...(body === undefined ? [] : [body])]
}

/** What an operation was asked, in the terms of its examples. */
const assertAsked = (operation: Operation, asked: ReadonlyArray<ExampleService.Asked>): void => {
  const [only, ...others] = asked
  assert.isDefined(only)
  assert.isEmpty(others)
  if (only === undefined) return
  assert.strictEqual(only.operation.id, operation.id)
  for (const [name, example] of Object.entries(ExampleService.examplesOf(operation, "query"))) {
    const sent = only.url.searchParams.getAll(name)
    const expected = Array.isArray(example) ? example.map(String) : [String(example)]
    // The same moment may be written with milliseconds.
    const isMoment = typeof example === "string" && /^\d{4}-\d\d-\d\dT/.test(example)
    assert.deepStrictEqual(isMoment ? sent.map((one) => one.replace(".000Z", "Z")) : sent, expected, name)
  }
  if (operation.id === "uploadFile") {
    assert.include(String(only.body), "carrier,name")
    assert.include(String(only.body), "uploads/carriers.csv")
  } else if (ExampleService.bodyOf(operation) !== undefined) {
    assert.deepStrictEqual(only.body, ExampleService.bodyOf(operation))
  }
}

describe("the promise client", () => {
  it.effect.each(each)("%s is sent, and answered", ([, operation]) =>
    Effect.gen(function* () {
      const asked: Array<ExampleService.Asked> = []
      const client = CastellanClient.make({ baseUrl, apiKey: "key", fetch: serviceOf(asked) })
      const name = promiseNames[operation.id] ?? operation.endpoint
      const answer = methodOf(groupOf(client, operation.group), name)(...inputOf(operation))
      if (operation.stream === "events") {
        assert.isTrue(typeof answer === "object" && answer !== null && Symbol.asyncIterator in answer)
        const events: Array<unknown> = []
        const { chats } = client
        const stream = operation.id === "streamChat" ? chats.stream({ question: "Why?" }) : chats.follow("c")
        if (operation.id === "streamChat") {
          yield* Effect.promise(async () => {
            for await (const event of stream) events.push(event)
          })
          assert.deepStrictEqual(events, [{ type: "done", status: "completed" }])
        }
        return
      }
      const value = yield* Effect.promise(() => Promise.resolve(answer))
      assertAsked(operation, asked)
      if (operation.stream === "bytes") {
        assert.isTrue(value instanceof Response)
        if (value instanceof Response) assert.strictEqual(yield* Effect.promise(() => value.text()), "bytes")
      } else assert.deepStrictEqual(value, ExampleService.successOf(operation).example)
    })
  )

  it("has a method for every operation, and no other", () => {
    const client = CastellanClient.make({ baseUrl, apiKey: "key" })
    const methods = Object.entries(client).flatMap(([group, found]) =>
      Object.keys(found).map((name) => `${group}.${name}`)
    )
    assert.sameMembers(
      methods,
      operations.map(({ endpoint, group, id }) => `${group}.${promiseNames[id] ?? endpoint}`)
    )
  })

  it("sends the table's requests as the contract has them", () => {
    for (const { described, endpoint, group, method, path, query } of operations) {
      const table: unknown = Reflect.get(routes, group)
      const route: unknown = typeof table === "object" && table !== null ? Reflect.get(table, endpoint) : undefined
      if (typeof route !== "string") continue
      const { requestBody } = described
      const kind = requestBody === undefined ? (query === undefined ? "" : " ?") : requestBody.required ? " !" : " !?"
      assert.strictEqual(route, `${method} ${path}${kind}`)
    }
  })

  it.effect("sends what a caller adds to a request, and lets what may be left out be left out", () =>
    Effect.gen(function* () {
      const asked: Array<ExampleService.Asked> = []
      const { apiKeys, playbooks } = CastellanClient.make({ baseUrl, apiKey: "key", fetch: serviceOf(asked) })
      const id = "01980c70-3c00-7b20-9d00-2a3b4c5d6e01"
      yield* Effect.promise(() => playbooks.run(id))
      yield* Effect.promise(() => playbooks.run(id, undefined, { idempotencyKey: "once" }))
      yield* Effect.promise(() => playbooks.list())
      yield* Effect.promise(() => apiKeys.list({ include_revoked: false, page_size: 3 }))
      assert.deepStrictEqual(
        asked.map(({ body, request, url }) => [body, request.headers.get("idempotency-key"), url.search]),
        [
          ["", null, ""],
          ["", "once", ""],
          ["", null, ""],
          ["", null, "?include_revoked=false&page_size=3"]
        ]
      )
    })
  )

  it.effect.each([
    [400, "invalid_argument", "invalid_request"],
    [401, "unauthenticated", "unauthenticated"],
    [404, "not_found", "not_found"],
    [400, "failed_precondition", "conflict"],
    [429, "resource_exhausted", "rate_limit_exceeded"],
    [504, "deadline_exceeded", "timeout"],
    [499, "canceled", "cancelled"]
  ] as const)("reads a Connect error %i %s as %s", ([status, code, ours]) =>
    Effect.gen(function* () {
      const fetch: typeof globalThis.fetch = () =>
        Promise.resolve(Response.json({ code, message: "why", details: [] }, { status }))
      const { webhook } = CastellanClient.make({ baseUrl, apiKey: "key", fetch })
      const call = webhook.trigger({ triggerId: "01980c70-3c00-7b20-9d00-2a3b4c5d6e11" })
      const error = yield* Effect.flip(Effect.tryPromise({ try: () => call, catch: (cause) => cause }))
      assert.instanceOf(error, CastellanClient.CastellanError)
      if (error instanceof CastellanClient.CastellanError) {
        assert.deepStrictEqual([error.code, error.message, error.status], [ours, "why", status])
      }
    })
  )
})

const isDrainable = (value: unknown): value is Stream.Stream<unknown, unknown> => Stream.isStream(value)
const isRunnable = (value: unknown): value is Effect.Effect<unknown, unknown> => Effect.isEffect(value)

const EffectClientLayer = EffectClient.layer({ baseUrl, apiKey: Redacted.make("key") }).pipe(
  Layer.provide(FetchHttpClient.layer)
)

layer(EffectClientLayer)("the Effect client", (live) => {
  /** The examples of parameters, as the contract reads them. */
  const valuesOf = (operation: Operation, schema: Schema.Top | undefined, place: "path" | "query" | "header") => {
    if (schema === undefined) return Effect.succeed(undefined)
    const texts = Object.entries(ExampleService.examplesOf(operation, place)).map(([name, example]) => [
      place === "header" ? name.toLowerCase() : name,
      Array.isArray(example) ? example.map(String) : String(example)
    ])
    return Schema.decodeUnknownEffect(codec(schema))(Object.fromEntries(texts))
  }

  const payloadOf = (operation: Operation) => {
    if (operation.id === "uploadFile") return Effect.succeed(form())
    if (operation.payloads.length === 0) return Effect.succeed(undefined)
    return Schema.decodeUnknownEffect(anyOf(operation.payloads))(ExampleService.bodyOf(operation))
  }

  live.effect.each(each)("%s is sent, and answered", ([, operation]) =>
    Effect.gen(function* () {
      const asked: Array<ExampleService.Asked> = []
      const client = yield* EffectClient.EffectClient
      const call = methodOf(
        groupOf(client, operation.group),
        operation.endpoint
      )({
        params: yield* valuesOf(operation, operation.params, "path"),
        query: yield* valuesOf(operation, operation.query, "query"),
        headers: yield* valuesOf(operation, operation.headers, "header"),
        payload: yield* payloadOf(operation)
      })
      if (!isRunnable(call)) throw new Error("the method makes no effect")
      const value = yield* call.pipe(
        Effect.flatMap((answer) => (isDrainable(answer) ? Stream.runDrain(answer) : Effect.succeed(answer))),
        Effect.provideService(FetchHttpClient.Fetch, serviceOf(asked))
      )
      assertAsked(operation, asked)
      const { example, status } = ExampleService.successOf(operation)
      const schemas = operation.successes.get(status)
      if (schemas === undefined) return
      assert.deepStrictEqual(yield* Schema.encodeEffect(anyOf(schemas))(value), example)
    })
  )
})
