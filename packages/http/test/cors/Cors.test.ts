import * as Cors from "@castellan/http/cors/Cors"
import { assert, describe, it, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"
import * as Site from "../support/Site.ts"

const origin = "https://app.example.com"
const preflight = (from: string, method = "POST"): Site.Call => ({
  method: "OPTIONS",
  key: "",
  headers: { origin: from, "access-control-request-method": method, "access-control-request-headers": "authorization" }
})

const corsHeaders = ({ headers }: Site.Reply) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("access-control-")))

layer(Site.layer({ http: { cors: { origins: [origin, "http://localhost:5173"], maxAge: Duration.minutes(5) } } }), {
  excludeTestServices: true,
  timeout: "180 seconds"
})("pages of other origins", (it) => {
  it.effect("that are allowed may ask what they may send, and read what they are answered", () =>
    Effect.gen(function* () {
      const asked = yield* Site.call("/v2/chats", preflight(origin))
      assert.strictEqual(asked.status, 204)
      const { "access-control-allow-headers": sent, ...rest } = corsHeaders(asked)
      assert.deepInclude(rest, {
        "access-control-allow-origin": origin,
        "access-control-allow-methods": "GET, HEAD, OPTIONS, POST",
        "access-control-max-age": "300"
      })
      for (const name of ["Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID"])
        assert.include(sent, name)
      assert.strictEqual(asked.headers["vary"], "Origin")

      for (const [path, call, status] of [
        ["/v2/chats", {}, 200],
        ["/v2/chats", { key: "nonsense" }, 401],
        ["/v2/nothing", {}, 404],
        ["/v2/chats", { method: "PUT" }, 405]
      ] as const) {
        const reply = yield* Site.call(path, { ...call, headers: { origin } })
        assert.strictEqual(reply.status, status)
        const exposed = reply.headers["access-control-expose-headers"]
        assert.strictEqual(reply.headers["access-control-allow-origin"], origin)
        for (const name of ["X-Request-Id", "RateLimit", "RateLimit-Policy", "Retry-After", "Idempotent-Replayed"]) {
          assert.include(exposed, name)
        }
        assert.isUndefined(reply.headers["access-control-allow-credentials"])
        assert.strictEqual(reply.headers["vary"], "Origin")
      }
      const stream = yield* Site.post("/v2/chats/stream", { question: "a" }, { headers: { origin } })
      assert.strictEqual(stream.headers["access-control-allow-origin"], origin)
    })
  )

  it.effect("that are not allowed are told nothing", () =>
    Effect.gen(function* () {
      for (const other of [
        "https://evil.example",
        "https://app.example.com.evil.example",
        "http://app.example.com",
        "https://app.example.com:8443",
        "null"
      ]) {
        for (const call of [preflight(other), { headers: { origin: other } }]) {
          const reply = yield* Site.call("/v2/chats", call)
          assert.isEmpty(corsHeaders(reply), other)
          assert.strictEqual(reply.headers["vary"], "Origin")
        }
      }
    })
  )

  it.effect("ask about a path that there is", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* Site.call("/v2/nothing", preflight(origin))).status, 404)
      const plain = yield* Site.call("/v2/chats", { method: "OPTIONS", key: "" })
      assert.deepStrictEqual([plain.status, plain.headers["allow"]], [204, "GET, HEAD, OPTIONS, POST"])
      assert.isEmpty(corsHeaders(plain))
    })
  )
})

layer(Site.layer(), { excludeTestServices: true, timeout: "180 seconds" })("without the option", (it) => {
  it.effect("no page of another origin is told anything", () =>
    Effect.gen(function* () {
      for (const call of [preflight(origin), { headers: { origin } }]) {
        const reply = yield* Site.call("/v2/chats", call)
        assert.isEmpty(corsHeaders(reply))
        assert.isUndefined(reply.headers["vary"])
      }
    })
  )
})

describe("an origin", () => {
  it("is written as browsers write it", () => {
    for (const wrong of [
      "*",
      "app.example.com",
      "https://app.example.com/",
      "https://App.example.com",
      "https://a.example/x"
    ]) {
      assert.throws(() => Cors.make({ origins: [wrong] }), /is no origin/)
    }
  })
})
