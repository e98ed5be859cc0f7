import * as Envelope from "@castellan/api/error/ErrorEnvelope"
import { errorStatus } from "@castellan/api/error/ErrorStatus"
import * as Failure from "@castellan/core/error/Failure"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { HttpClient, HttpClientResponse, HttpRouter, HttpServer } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiClient, HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"

const message = "chat 7 – 南西 – is <gone>"

/** Every error of the set, with the status and the headers that it must have. */
const failures = {
  InvalidRequest: [new Failure.InvalidRequest({ message }), 400, {}],
  Unauthenticated: [new Failure.Unauthenticated({ message }), 401, { "www-authenticate": "Bearer" }],
  PermissionDenied: [new Failure.PermissionDenied({ message }), 403, {}],
  NotFound: [new Failure.NotFound({ message }), 404, {}],
  Conflict: [new Failure.Conflict({ message }), 409, {}],
  ExecutionFailed: [new Failure.ExecutionFailed({ message }), 422, {}],
  RateLimitExceeded: [new Failure.RateLimitExceeded({ message, retryAfterSeconds: 17 }), 429, { "retry-after": "17" }],
  Cancelled: [new Failure.Cancelled({ message }), 499, {}],
  Internal: [new Envelope.Internal({ message }), 500, {}],
  TimedOut: [new Failure.TimedOut({ message }), 504, {}]
} as const

const names = [
  "InvalidRequest",
  "Unauthenticated",
  "PermissionDenied",
  "NotFound",
  "Conflict",
  "ExecutionFailed",
  "RateLimitExceeded",
  "Cancelled",
  "Internal",
  "TimedOut"
] as const

/** One operation that fails as it is told. */
const Api = HttpApi.make("failing").add(
  HttpApiGroup.make("failing").add(
    HttpApiEndpoint.post("fail", "/fail", {
      payload: Schema.Struct({ name: Schema.Literals(names) }),
      success: HttpApiSchema.NoContent,
      error: [
        Envelope.InvalidRequestError,
        Envelope.ContentTooLargeError,
        Envelope.UnsupportedMediaTypeError,
        Envelope.UnauthenticatedError,
        Envelope.PermissionDeniedError,
        Envelope.NotFoundError,
        Envelope.ConflictError,
        Envelope.ExecutionFailedError,
        Envelope.RateLimitExceededError,
        Envelope.CancelledError,
        Envelope.InternalError,
        Envelope.TimeoutError
      ]
    })
  )
)

const Routes = HttpApiBuilder.layer(Api).pipe(
  Layer.provide(
    HttpApiBuilder.group(Api, "failing", (handlers) =>
      handlers.handle("fail", ({ payload }) => Effect.fail(failures[payload.name][0]))
    )
  ),
  Layer.provide(HttpServer.layerServices)
)

const service = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => HttpRouter.toWebHandler(Routes, { disableLogger: true })),
    ({ dispose }) => Effect.promise(dispose)
  ),
  ({ handler }) => handler
)

const clientOf = (fetch: (request: Request) => Promise<Response>) =>
  HttpApiClient.makeWith(Api, {
    baseUrl: "http://castellan.test",
    httpClient: HttpClient.make((request, url) =>
      Effect.map(
        Effect.promise(() =>
          fetch(
            new Request(url, {
              method: request.method,
              headers: { "content-type": "application/json" },
              body: request.body._tag === "Uint8Array" ? request.body.body.slice() : null
            })
          )
        ),
        (response) => HttpClientResponse.fromWeb(request, response)
      )
    )
  })

describe("an error of the domain", () => {
  it.effect.each(names)("%s goes over the wire in the envelope, and comes out as it was", (name) =>
    Effect.gen(function* () {
      const [failure, status, headers] = failures[name]
      const fetch = yield* service
      const response = yield* Effect.promise(() =>
        fetch(
          new Request("http://castellan.test/fail", {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ name })
          })
        )
      )
      assert.strictEqual(response.status, status)
      assert.strictEqual(response.headers.get("content-type"), "application/json")
      for (const [header, value] of Object.entries(headers)) assert.strictEqual(response.headers.get(header), value)
      assert.deepStrictEqual(yield* Effect.promise(() => response.json()), { error: { code: failure.code, message } })

      const client = yield* clientOf(fetch)
      const caught = yield* Effect.flip(client.failing.fail({ payload: { name } }))
      assert.deepStrictEqual(caught, failure)
      assert.strictEqual(caught.constructor, failure.constructor)
    })
  )

  it.effect.each([413, 415])("of the request's own shape is told at %d too", (status) =>
    Effect.gen(function* () {
      const body = JSON.stringify(Envelope.envelope("invalid_request", message))
      const client = yield* clientOf(() =>
        Promise.resolve(new Response(body, { status, headers: { "content-type": "application/json" } }))
      )
      const caught = yield* Effect.flip(client.failing.fail({ payload: { name: "NotFound" } }))
      assert.deepStrictEqual(caught, new Failure.InvalidRequest({ message }))
    })
  )

  it.effect("of a rate limit that names no time can be tried again in a second", () =>
    Effect.gen(function* () {
      const body = JSON.stringify(Envelope.envelope("rate_limit_exceeded"))
      const client = yield* clientOf(() =>
        Promise.resolve(new Response(body, { status: 429, headers: { "content-type": "application/json" } }))
      )
      const caught = yield* Effect.flip(client.failing.fail({ payload: { name: "NotFound" } }))
      assert.deepStrictEqual(
        caught,
        new Failure.RateLimitExceeded({ message: "Rate limit exceeded", retryAfterSeconds: 1 })
      )
    })
  )
})

describe("the table of statuses", () => {
  it("is the specification's", () => {
    assert.deepStrictEqual(errorStatus, {
      invalid_request: 400,
      unauthenticated: 401,
      permission_denied: 403,
      not_found: 404,
      conflict: 409,
      execution_failed: 422,
      no_report: 422,
      rate_limit_exceeded: 429,
      cancelled: 499,
      internal: 500,
      timeout: 504
    })
  })

  it("has the specification's text for every code", () => {
    for (const code of Failure.ErrorCode.literals) {
      const envelope = Schema.decodeUnknownSync(Envelope.ErrorEnvelope)(Envelope.envelope(code))
      assert.deepStrictEqual(envelope, { error: { code, message: Failure.defaultMessage[code] } })
    }
  })
})
