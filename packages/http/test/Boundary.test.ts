import { Models } from "@castellan/core/model/Models"
import { Connectors } from "@castellan/core/connector/Connectors"
import { Chats } from "@castellan/core/chat/Chats"
import {
  Cancelled,
  Conflict,
  ExecutionFailed,
  type Failure,
  InvalidRequest,
  type NoReport,
  NotFound,
  PermissionDenied,
  RateLimitExceeded,
  TimedOut,
  Unauthenticated
} from "@castellan/core/error/Failure"
import * as CastellanHttp from "@castellan/http/CastellanHttp"
import { HttpLimits } from "@castellan/http/HttpLimits"
import { Readiness } from "@castellan/http/system/Readiness"
import { envelopeOf } from "./support/Site.ts"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Layer, Logger, Redacted, References } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { TestClock } from "effect/testing"

const assetSecret = Redacted.make("a secret of more than thirty-two characters")

/** Answers a request in the fiber of the test. */
const send = (path: string, init: RequestInit = {}) =>
  CastellanHttp.CastellanHttp.use(({ app }) =>
    Effect.scoped(
      Effect.provideService(
        app,
        HttpServerRequest.HttpServerRequest,
        HttpServerRequest.fromWeb(new Request(`http://localhost${path}`, init))
      )
    )
  ).pipe(
    Effect.map(HttpServerResponse.toWeb),
    Effect.flatMap((response) =>
      Effect.map(
        Effect.promise(() => response.text()),
        (text) => ({
          status: response.status,
          headers: Object.fromEntries(response.headers),
          text,
          body: Buffer.from(text)
        })
      )
    )
  )

const authorized = Effect.map(Fixture.tenant(), ({ adminKey }) => ({
  headers: { authorization: `Bearer ${Redacted.value(adminKey)}`, "x-request-id": "the-request" }
}))

/** The lines of the log, as a host would read them. */
const collecting = () => {
  const lines: Array<string> = []
  const logger = Logger.make(({ cause, fiber, logLevel, message }) => {
    lines.push(JSON.stringify([logLevel, message, fiber.getRef(References.CurrentLogAnnotations), String(cause)]))
  })
  return { lines, layer: Logger.layer([logger]) }
}

const over = <A, E, R>(replaced: Layer.Layer<A, E, R>, limits: Partial<HttpLimits> = {}) =>
  CastellanHttp.layer({ assetSecret }).pipe(
    Layer.provideMerge(replaced),
    Layer.provideMerge(Deployment.layer()),
    Layer.provide(Layer.succeed(HttpLimits, { ...HttpLimits.defaultValue(), ...limits }))
  )

const connectors = (list: Connectors["Service"]["list"]) => Layer.mock(Connectors, { list })
const secretCause = new Error("password=hunter2 at /srv/castellan/secret.ts")

describe("the boundary of a request", () => {
  const log = collecting()
  it.effect("a defect is 500 without its cause, which the log has under the request's id", () =>
    Effect.gen(function* () {
      const reply = yield* send("/v2/connectors?signature=do-not-log", yield* authorized)
      assert.strictEqual(reply.status, 500)
      assert.deepStrictEqual(envelopeOf(reply), { code: "internal", message: "Internal server error" })
      assert.strictEqual(reply.headers["x-request-id"], "the-request")
      assert.notInclude(JSON.stringify(reply.headers), "hunter2")
      const lines = log.lines.filter((line) => line.includes("hunter2"))
      assert.strictEqual(lines.length, 1)
      assert.include(lines[0], '"request_id":"the-request"')
      assert.include(lines[0], '"path":"/v2/connectors"')
      assert.notInclude(lines[0] ?? "", "do-not-log")
    }).pipe(Effect.provide(Layer.merge(over(connectors(Effect.die(secretCause))), log.layer)))
  )

  const told = collecting()
  it.effect("what an operation logs has the request's id beside what the application and the host have annotated", () =>
    Effect.gen(function* () {
      yield* Effect.annotateLogs(send("/v2/models", yield* authorized), { tenant: "north" })
      assert.deepStrictEqual(
        told.lines.filter((line) => line.includes("being listed")),
        ['["Info",["being listed"],{"tenant":"north","deployment":"blue","request_id":"the-request"},"Cause([])"]']
      )
    }).pipe(
      Effect.provide(
        over(Layer.mock(Models, { list: Effect.as(Effect.logInfo("being listed"), []) })).pipe(
          Layer.provide(Layer.succeed(References.CurrentLogAnnotations, { deployment: "blue" })),
          Layer.provideMerge(told.layer)
        )
      )
    )
  )

  const parents: Array<string> = []
  it.effect("an operation is a part of its request's span, and not of the one that the application was made in", () =>
    Effect.gen(function* () {
      yield* Effect.withSpan(send("/v2/models", yield* authorized), "the request")
      assert.deepStrictEqual(parents, ["the request"])
    }).pipe(
      Effect.provide(
        Layer.span("the start").pipe((start) =>
          over(
            Layer.mock(Models, {
              list: Effect.map(Effect.orDie(Effect.currentSpan), ({ name }) => {
                parents.push(name)
                return []
              })
            })
          ).pipe(Layer.provide(start))
        )
      )
    )
  )

  it.effect("an error that its operation does not declare is answered by its code", () =>
    Effect.gen(function* () {
      const reply = yield* send("/v2/models", yield* authorized)
      assert.strictEqual(reply.status, 409)
      assert.deepStrictEqual(envelopeOf(reply), { code: "conflict", message: "busy" })
    }).pipe(Effect.provide(over(Layer.mock(Models, { list: Effect.die(new Conflict({ message: "busy" })) }))))
  )

  it.effect("what the core answers with and no schema takes is 500", () =>
    Effect.gen(function* () {
      const reply = yield* send("/v2/models", yield* authorized)
      assert.deepStrictEqual([reply.status, envelopeOf(reply).code], [500, "internal"])
    }).pipe(
      Effect.provide(
        over(
          Layer.mock(Models, {
            // A model whose id is nothing that the wire takes.
            list: Effect.sync(() => [
              {
                isDefault: true,
                model: Object.assign(Object.create(null), { id: 1, number: 0, provider: null, name: "" })
              }
            ])
          })
        )
      )
    )
  )

  it.effect("an operation that takes too long is 504, at its limit", () =>
    Effect.gen(function* () {
      const asked = yield* authorized
      // As servers carry requests out: interruptible is what the operation does, and not what is around it.
      const served = { startImmediately: true, uninterruptible: true } as const
      const fiber = yield* Effect.forkChild(send("/v2/connectors", asked), served)
      yield* TestClock.adjust(Duration.millis(29_999))
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust(Duration.millis(1))
      const reply = yield* Fiber.join(fiber)
      assert.deepStrictEqual([reply.status, envelopeOf(reply).code], [504, "timeout"])
    }).pipe(Effect.provide(over(connectors(Effect.never))))
  )

  it.effect("a request that is interrupted by the server is told so, and its work is interrupted", () =>
    Effect.gen(function* () {
      const started = yield* Deferred.make<void>()
      const stopped = yield* Deferred.make<void>()
      const list = Effect.andThen(Deferred.succeed(started, undefined), Effect.never).pipe(
        Effect.onInterrupt(() => Deferred.succeed(stopped, undefined))
      )
      yield* Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(send("/v2/connectors", yield* authorized))
        yield* Deferred.await(started)
        yield* Fiber.interrupt(fiber)
        yield* Deferred.await(stopped)
      }).pipe(Effect.provide(over(connectors(list))))
    })
  )

  it.effect("a process that is not ready says so, and is up all the same", () =>
    Effect.gen(function* () {
      const ready = yield* send("/readyz")
      assert.deepStrictEqual([ready.status, JSON.parse(ready.text)], [503, { status: "unavailable" }])
      assert.strictEqual((yield* send("/healthz")).status, 200)
    }).pipe(Effect.provide(over(Layer.empty)), Effect.provideService(Readiness, Effect.succeed(false)))
  )

  const failures: ReadonlyArray<
    readonly [failure: Exclude<Failure, NoReport>, status: number, headers: Record<string, string>]
  > = [
    [new InvalidRequest({ message: "no" }), 400, {}],
    [new Unauthenticated({ message: "no" }), 401, { "www-authenticate": "Bearer" }],
    [new PermissionDenied({ message: "no" }), 403, {}],
    [new NotFound({ message: "no" }), 404, {}],
    [new Conflict({ message: "no" }), 409, {}],
    [new ExecutionFailed({ message: "no" }), 422, {}],
    [new RateLimitExceeded({ message: "no", retryAfterSeconds: 7 }), 429, { "retry-after": "7" }],
    [new Cancelled({ message: "no" }), 499, {}],
    [new TimedOut({ message: "no" }), 504, {}]
  ]
  for (const [failure, status, headers] of failures) {
    for (const path of ["/v2/chats", "/v2/chats/stream"]) {
      it.effect(`${failure._tag} of POST ${path} is ${status}`, () =>
        Effect.gen(function* () {
          const asked = yield* authorized
          const reply = yield* send(path, {
            method: "POST",
            body: '{"question":"x"}',
            headers: { ...asked.headers, "content-type": "application/json" }
          })
          assert.strictEqual(reply.status, status)
          assert.deepStrictEqual(envelopeOf(reply), { code: failure.code, message: "no" })
          assert.deepInclude(reply.headers, { ...headers, "x-request-id": "the-request" })
        }).pipe(Effect.provide(over(Layer.mock(Chats, { ask: () => Effect.fail(failure) }))))
      )
    }
  }
})
