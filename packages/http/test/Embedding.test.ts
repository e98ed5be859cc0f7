import { CurrentPrincipal } from "@castellan/core/access/Principal"
import { Chats } from "@castellan/core/chat/Chats"
import { Connectors } from "@castellan/core/connector/Connectors"
import type { Run } from "@castellan/core/run/Run"
import { RunEvent } from "@castellan/core/run/RunEvent"
import * as CastellanHttp from "@castellan/http/CastellanHttp"
import { HttpLimits } from "@castellan/http/HttpLimits"
import * as NodeServer from "@castellan/http/server/NodeServer"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Exit, Fiber, Layer, Redacted, Scope, Stream } from "effect"
import { HttpEffect, HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import { Agent, createServer, get } from "node:http"
import { connect } from "node:net"
import * as Site from "./support/Site.ts"

const options = { assetSecret: Site.assetSecret }
const stalling = Deployment.layer({ script: () => Stream.never })

/** A deployment that a web handler and the test share. */
const shared = Effect.gen(function* () {
  const context = yield* Layer.build(stalling)
  const tenant = yield* Fixture.tenant().pipe(Effect.provide(context))
  const headers = { authorization: `Bearer ${Redacted.value(tenant.adminKey)}` }
  const ask = Chats.use((chats) => chats.ask({ question: "x", source: "api" })).pipe(
    Effect.provideService(CurrentPrincipal, Fixture.adminOf(tenant)),
    Effect.provide(context)
  )
  const tell = (run: Run, ...events: ReadonlyArray<RunEvent>) => Site.tell(run, ...events).pipe(Effect.provide(context))
  return { services: Layer.succeedContext(context), headers, ask, tell }
})

const handlerOf = (
  services: Layer.Layer<CastellanHttp.Services>,
  more: Partial<CastellanHttp.WebHandlerOptions> = {}
) =>
  Effect.acquireRelease(
    Effect.sync(() => CastellanHttp.toWebHandler(services, { ...options, ...more })),
    ({ dispose }) => Effect.promise(dispose)
  )

const decoder = new TextDecoder()

/** Reads a body until it has so many frames, or to its end. */
const readFrames = (reader: ReadableStreamDefaultReader<Uint8Array>, count = Number.POSITIVE_INFINITY) =>
  Effect.promise(async () => {
    let text = ""
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- a body is read one piece after another
      const { done, value } = await reader.read()
      if (done) return { text, ended: true }
      text += decoder.decode(value)
      if (Site.framesOf(text).length >= count) return { text, ended: false }
    }
  })

const bodyOf = (response: Response) => {
  if (response.body === null) throw new Error("no body")
  return response.body.getReader()
}

describe("a web handler", () => {
  it.live("answers as the server does, errors as well", () =>
    Effect.gen(function* () {
      const { headers, services } = yield* shared
      const { handler } = yield* handlerOf(services)
      const send = (path: string, init: RequestInit = { headers }) =>
        Effect.promise(async () => {
          const response = await handler(new Request(`http://example.com${path}`, init))
          return { status: response.status, headers: response.headers, text: await response.text() }
        })
      assert.strictEqual((yield* send("/v2/models")).status, 200)
      const refused = yield* send("/v2/models", {})
      assert.deepStrictEqual([refused.status, refused.headers.get("www-authenticate")], [401, "Bearer"])
      for (const [path, init, status] of [
        ["/nope", { headers }, 404],
        ["/v2/models", { headers, method: "DELETE" }, 405],
        ["/v2/chats/nope", { headers }, 404],
        ["/v2/chats?limit=0", { headers }, 400],
        ["/v2/chats", { headers, method: "POST", body: "{" }, 415],
        ["/v2/chats", { headers: { ...headers, "content-type": "application/json" }, method: "POST", body: "{" }, 400],
        [
          "/v2/chats",
          { headers: { ...headers, "content-type": "application/json" }, method: "POST", body: "x".repeat(2e6) },
          413
        ],
        ["/v2/chats", { headers, method: "POST", body: new FormData() }, 400],
        [
          "/v2/chats",
          { headers: { ...headers, "content-type": "multipart/form-data; boundary=b" }, method: "POST" },
          400
        ]
      ] as const) {
        const reply = yield* send(path, init)
        assert.strictEqual(reply.status, status, path)
        assert.match(reply.text, /^\{"error":\{"code":"[a-z_]+","message":".+"\}\}$/s)
        assert.match(reply.headers.get("x-request-id") ?? "", /./)
      }
      assert.deepStrictEqual((yield* send("/v2/models", { headers, method: "HEAD" })).text, "")
    })
  )

  it.live("streams, and a reader that cancels or aborts leaves nothing behind", () =>
    Effect.gen(function* () {
      const { ask, headers, services, tell } = yield* shared
      const run = yield* ask
      const context = yield* Layer.build(Layer.provide(CastellanHttp.layer(options), services))
      const { app, streams } = Context.get(context, CastellanHttp.CastellanHttp)
      const handler = HttpEffect.toWebHandler(app)
      const followed = (count: number) => Effect.repeat(streams, { until: ({ followers }) => followers === count })
      const open = (init: RequestInit = {}) =>
        Effect.promise(() =>
          handler(new Request(`http://example.com/v2/chats/${run.chatId}/stream`, { headers, ...init }))
        )
      const first = bodyOf(yield* open())
      assert.strictEqual(Site.framesOf((yield* readFrames(first, 2)).text)[0]?.data.type, "metadata")
      yield* followed(1)
      yield* Effect.promise(() => first.cancel())
      yield* followed(0)

      const controller = new AbortController()
      const second = bodyOf(yield* open({ signal: controller.signal }))
      yield* readFrames(second, 2)
      yield* followed(1)
      controller.abort()
      yield* followed(0)

      const third = bodyOf(yield* open({ headers: { ...headers, "last-event-id": "2" } }))
      yield* tell(run, RunEvent.cases.Text.make({ text: "☃" }), RunEvent.cases.Done.make({ status: "completed" }))
      const { ended, text } = yield* readFrames(third)
      assert.isTrue(ended)
      assert.deepStrictEqual(
        Site.framesOf(text).map((frame) => frame.id),
        ["3", "4"]
      )
    })
  )

  it.live("takes paths with its prefix, and addresses have it", () =>
    Effect.gen(function* () {
      const { headers, services } = yield* shared
      const { handler } = yield* handlerOf(services, { prefix: "/analytics/", publicUrl: "/analytics" })
      const status = (path: string) =>
        Effect.promise(async () => (await handler(new Request(`http://example.com${path}`, { headers }))).status)
      assert.strictEqual(yield* status("/analytics/v2/models"), 200)
      assert.strictEqual(yield* status("/analytics/v2/models?x=1"), 200)
      assert.strictEqual(yield* status("/v2/models"), 200)
      assert.strictEqual(yield* status("/analytics"), 404)
      assert.strictEqual(yield* status("/analytics?x"), 404)
      assert.strictEqual(yield* status("/analyticsv2/models"), 404)
      const document = yield* Effect.promise(async () =>
        (await handler(new Request("http://example.com/analytics/openapi.json"))).json()
      )
      assert.deepStrictEqual(document.servers, [{ url: "/analytics" }])
    })
  )

  it.live("ends its streams when it is disposed of", () =>
    Effect.gen(function* () {
      const { ask, headers, services } = yield* shared
      const run = yield* ask
      const { dispose, handler } = CastellanHttp.toWebHandler(services, options)
      const reader = bodyOf(
        yield* Effect.promise(() =>
          handler(new Request(`http://example.com/v2/chats/${run.chatId}/stream`, { headers }))
        )
      )
      yield* readFrames(reader, 1)
      yield* Effect.promise(dispose)
      const { ended, text } = yield* readFrames(reader)
      assert.isTrue(ended)
      assert.notInclude(text, '"done"')
    })
  )

  it.live("rejects when its layer cannot be built", () =>
    Effect.gen(function* () {
      const { dispose, handler } = CastellanHttp.toWebHandler(
        Layer.effectContext<CastellanHttp.Services, string, never>(Effect.fail("no database")),
        options
      )
      const exit = yield* Effect.exit(Effect.tryPromise(() => handler(new Request("http://example.com/healthz"))))
      assert.isTrue(Exit.isFailure(exit))
      yield* Effect.promise(dispose)
    })
  )
})

describe("a host's own router", () => {
  it.live("has everything of ours beneath a prefix, and its own routes beside it", () =>
    Effect.gen(function* () {
      const { ask, headers, services, tell } = yield* shared
      const run = yield* ask
      const host = Layer.mergeAll(
        HttpRouter.add("GET", "/own", HttpServerResponse.text("the host's")),
        CastellanHttp.mount("/analytics").pipe(
          Layer.provide(CastellanHttp.layer({ ...options, publicUrl: "/analytics" })),
          Layer.provide(services)
        )
      )
      yield* Effect.gen(function* () {
        const base = HttpServer.formatAddress((yield* HttpServer.HttpServer).address)
        const send = (path: string, init: RequestInit = { headers }) =>
          Effect.promise(async () => {
            const response = await fetch(base + path, init)
            return { status: response.status, text: await response.text() }
          })
        assert.strictEqual((yield* send("/own")).text, "the host's")
        assert.strictEqual((yield* send("/analytics/v2/models")).status, 200)
        assert.strictEqual((yield* send("/analytics/v2/models", {})).status, 401)
        const unknown = yield* send("/analytics/v2/nope")
        assert.deepStrictEqual(
          [unknown.status, unknown.text],
          [404, '{"error":{"code":"not_found","message":"no such route"}}']
        )
        assert.strictEqual((yield* send("/analytics/v2/models", { method: "PUT", headers })).status, 405)
        assert.strictEqual((yield* send("/v2/models")).status, 404)
        yield* tell(run, RunEvent.cases.Done.make({ status: "completed" }))
        const stream = yield* send(`/analytics/v2/chats/${run.chatId}/stream`)
        assert.strictEqual(Site.framesOf(stream.text).at(-1)?.data.type, "done")
        const chat = yield* send(`/analytics/v2/chats/${run.chatId}`)
        assert.strictEqual(chat.status, 200)
      }).pipe(
        Effect.provide(
          HttpRouter.serve(host, { disableLogger: true, disableListenLog: true }).pipe(
            Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, gracefulShutdownTimeout: 1_000 }))
          )
        )
      )
    })
  )
})

describe("an operation that takes too long", () => {
  /** Nobody is ever told of a connector. */
  const hanging = Layer.mergeAll(stalling, Layer.mock(Connectors, { list: Effect.never })).pipe(
    Layer.provideMerge(Layer.succeed(HttpLimits, { ...HttpLimits.defaultValue(), requestTimeout: Duration.millis(50) }))
  )

  const late = '{"error":{"code":"timeout","message":"The request timed out"}}'

  it.live("is 504 by a web handler, of a layer and of the application", () =>
    Effect.gen(function* () {
      const context = yield* Layer.build(hanging)
      const tenant = yield* Fixture.tenant().pipe(Effect.provide(context))
      const headers = { authorization: `Bearer ${Redacted.value(tenant.adminKey)}` }
      const services = Layer.succeedContext(context)
      const own = yield* handlerOf(services)
      const { app } = Context.get(
        yield* Layer.build(Layer.provide(CastellanHttp.layer(options), services)),
        CastellanHttp.CastellanHttp
      )
      for (const handler of [own.handler, HttpEffect.toWebHandler(app)]) {
        const [status, text] = yield* Effect.promise(async () => {
          const response = await handler(new Request("http://example.com/v2/connectors", { headers }))
          return [response.status, await response.text()] as const
        })
        assert.deepStrictEqual([status, text], [504, late])
      }
      const host = CastellanHttp.mount("/analytics").pipe(
        Layer.provide(CastellanHttp.layer({ ...options, publicUrl: "/analytics" })),
        Layer.provide(services)
      )
      yield* Effect.gen(function* () {
        const base = HttpServer.formatAddress((yield* HttpServer.HttpServer).address)
        const [status, text] = yield* Effect.promise(async () => {
          const response = await fetch(`${base}/analytics/v2/connectors`, { headers })
          return [response.status, await response.text()] as const
        })
        assert.deepStrictEqual([status, text], [504, late])
      }).pipe(
        Effect.provide(
          HttpRouter.serve(host, { disableLogger: true, disableListenLog: true }).pipe(
            Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, gracefulShutdownTimeout: 1_000 }))
          )
        )
      )
    })
  )
})

describe("a server that stops", () => {
  it.live("ends streams where they are, answers what is in flight, and takes nothing new", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(
        // Longer than anybody waits: whatever holds it up is seen.
        Site.layer({ server: { shutdownTimeout: Duration.hours(1) } }),
        scope
      )
      yield* Effect.gen(function* () {
        const run = yield* Site.stalledRun
        const reading = yield* Site.read(`/v2/chats/${run.chatId}/stream`)
        yield* reading.until((text) => text.includes("metadata"))
        // Connections that are kept, and ones that were opened for later, must not hold anything up.
        const { port } = yield* Site.Site
        const agent = new Agent({ keepAlive: true })
        yield* Effect.callback<void>((resume) => {
          get({ port, path: "/healthz", agent }, (response) => response.resume().on("end", () => resume(Effect.void)))
        })
        const silent = connect(port)
        yield* Effect.callback<void>((resume) => {
          silent.once("connect", () => resume(Effect.void))
        })
        yield* Site.call("/healthz")
        yield* Scope.close(scope, Exit.void)
        agent.destroy()
        silent.destroy()
        const { complete, text } = yield* reading.end
        assert.isTrue(complete)
        assert.notInclude(text, '"done"')
        const refused = yield* Effect.exit(Effect.tryPromise(() => fetch(`http://127.0.0.1:${port}/healthz`)))
        assert.isTrue(Exit.isFailure(refused))
      }).pipe(Effect.provide(context))
    })
  )

  it.live("waits for answers only so long", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(
        Site.layer({ server: { shutdownTimeout: Duration.millis(100) } }),
        scope
      )
      yield* Effect.gen(function* () {
        const waiting = yield* Effect.forkChild(Site.post("/v2/chats", { question: "stall" }))
        const running = Effect.map(Site.call("/v2/chats"), ({ text }) => JSON.parse(text).total_count)
        yield* Effect.repeat(running, { until: (count) => count === 1 })
        yield* Scope.close(scope, Exit.void)
        const reply = yield* Fiber.join(waiting)
        assert.strictEqual(reply.status, 503)
        assert.strictEqual(reply.headers["retry-after"], "1")
        Site.envelopeOf(reply)
      }).pipe(Effect.provide(context))
    })
  )

  it.live("says so when it cannot listen", () =>
    Effect.gen(function* () {
      const { port } = yield* NodeServer.NodeServer
      const second = yield* Effect.flip(Layer.build(NodeServer.layer({ port }).pipe(Layer.provide(Site.layerApp()))))
      assert.strictEqual(second._tag, "ListenError")
      assert.strictEqual(second.message, `cannot listen on 127.0.0.1:${port}: the port is taken`)
    }).pipe(Effect.provide(NodeServer.layer().pipe(Layer.provide(Site.layerApp()))))
  )
})
