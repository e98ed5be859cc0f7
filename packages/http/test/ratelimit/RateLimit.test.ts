import * as Fixture from "@castellan/testing/fixture/Fixture"
import { Organization, type RateLimit } from "@castellan/core/organization/Organization"
import { OrganizationStore } from "@castellan/core/organization/OrganizationStore"
import { assert, describe, layer } from "@effect/vitest"
import { DateTime, Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { keyed, newKey, server } from "../support/Keyed.ts"
import * as Site from "../support/Site.ts"

/** A tenant with a limit, and its administrator's key. */
const tenantWith = (rateLimit: RateLimit) =>
  Effect.gen(function* () {
    const tenant = yield* Fixture.tenant()
    const store = yield* OrganizationStore
    const createdAt = yield* DateTime.now
    yield* store.save(new Organization({ id: tenant.organizationId, name: "Limited", createdAt, rateLimit }))
    return Redacted.value(tenant.adminKey)
  })

const limited = (reply: Site.Reply, retryAfter: number) => {
  assert.strictEqual(reply.status, 429, reply.text.slice(0, 300))
  assert.strictEqual(Site.envelopeOf(reply).code, "rate_limit_exceeded")
  assert.strictEqual(reply.headers["retry-after"], String(retryAfter))
}

const small: RateLimit = { requestsPerMinute: 60, burst: 3 }

layer(
  Site.layer({ limits: { failedAuthentications: { requestsPerMinute: 60, burst: 5 } }, http: { trustedProxies: 1 } }),
  {
    timeout: "180 seconds"
  }
)("rate limits over HTTP", (it) => {
  describe("of an organization", () => {
    it.effect("are told with every authenticated answer, errors as well", () =>
      Effect.gen(function* () {
        const key = yield* tenantWith({ requestsPerMinute: 600, burst: 10 })
        for (const [path, call, status, remaining] of [
          ["/v2/chats", {}, 200, 9],
          ["/v2/chats?limit=0", {}, 400, 8],
          ["/v2/chats/nothing", {}, 404, 7],
          ["/v2/chats", { method: "POST", body: "{", headers: { "content-type": "application/json" } }, 400, 6],
          ["/v2/chats", { method: "POST", body: "x", headers: { "content-type": "text/plain" } }, 415, 5],
          ["/v2/playbooks", { method: "POST", ...keyed("no key") }, 400, 4]
        ] as const) {
          const reply = yield* Site.call(path, { ...call, key })
          assert.strictEqual(reply.status, status, reply.text)
          assert.strictEqual(reply.headers["ratelimit-policy"], '"organization";q=600;w=60;burst=10')
          assert.strictEqual(reply.headers["ratelimit"], `"organization";r=${remaining};t=1`)
        }
        for (const [path, call] of [
          ["/v2/chats", { key: "nonsense" }],
          ["/v2/nothing", { key }],
          ["/v2/chats", { key, method: "PUT" }],
          ["/openapi.json", { key: "" }]
        ] as const) {
          const { headers } = yield* Site.call(path, call)
          assert.isUndefined(headers["ratelimit"])
          assert.isUndefined(headers["ratelimit-policy"])
        }
        const after = yield* Site.call("/v2/chats", { key })
        assert.strictEqual(after.headers["ratelimit"], '"organization";r=3;t=1')
      })
    )

    it.effect("refuse what comes too often, before anything else of it is looked at, and nobody else's", () =>
      Effect.gen(function* () {
        const key = yield* tenantWith(small)
        for (let time = 0; time < 3; time++) assert.strictEqual((yield* Site.call("/v2/chats", { key })).status, 200)
        const refused = yield* Site.call("/v2/chats", { key })
        limited(refused, 1)
        assert.strictEqual(refused.headers["ratelimit"], '"organization";r=0;t=3')
        limited(yield* Site.call("/v2/chats?limit=0", { key }), 1)
        limited(yield* Site.post("/v2/chats", "{", { key }), 1)
        assert.strictEqual((yield* Site.call("/v2/nothing", { key })).status, 404)
        assert.strictEqual((yield* Site.call("/v2/chats")).status, 200)
        yield* TestClock.adjust("1 seconds")
        assert.strictEqual((yield* Site.call("/v2/chats", { key })).status, 200)
        limited(yield* Site.call("/v2/chats", { key }), 1)
      })
    )

    it.effect("count on every server of the deployment together", () =>
      Effect.gen(function* () {
        const site = yield* Site.Site
        const second = yield* server()
        const key = yield* tenantWith({ requestsPerMinute: 600, burst: 30 })
        const statuses = yield* Effect.forEach(
          Array.from({ length: 60 }, (_, index) => (index % 2 === 0 ? site : second)),
          (one) =>
            Effect.map(Effect.provideService(Site.call("/v2/chats", { key }), Site.Site, one), ({ status }) => status),
          { concurrency: 10 }
        )
        assert.strictEqual(statuses.filter((status) => status === 200).length, 30)
        assert.strictEqual(statuses.filter((status) => status === 429).length, 30)
      }).pipe(Effect.scoped)
    )

    it.effect("never become the answer to a request with a key", () =>
      Effect.gen(function* () {
        const key = yield* tenantWith({ requestsPerMinute: 60, burst: 1 })
        const idempotencyKey = newKey()
        const create = Site.call("/v2/playbooks", { method: "POST", key, ...keyed(idempotencyKey) })
        yield* Site.call("/v2/chats", { key })
        limited(yield* create, 1)
        yield* TestClock.adjust("1 seconds")
        const made = yield* create
        assert.strictEqual(made.status, 201)
        yield* TestClock.adjust("1 seconds")
        const again = yield* create
        assert.strictEqual(again.headers["idempotent-replayed"], "true")
        assert.strictEqual(again.headers["ratelimit"], '"organization";r=0;t=1')
      })
    )

    it.effect("are told in the terms of Connect to who speaks it", () =>
      Effect.gen(function* () {
        const key = yield* tenantWith({ requestsPerMinute: 60, burst: 1 })
        const trigger = Site.post("/v1/agents/webhook/trigger", "{}", {
          key,
          headers: { "connect-protocol-version": "1" }
        })
        yield* trigger
        const refused = yield* trigger
        assert.deepStrictEqual([refused.status, JSON.parse(refused.text).code], [429, "resource_exhausted"])
        assert.strictEqual(refused.headers["retry-after"], "1")
        assert.strictEqual(refused.headers["ratelimit"], '"organization";r=0;t=1')
      })
    )
  })

  describe("of failed authentication", () => {
    const from = (address: string, key: string) =>
      Site.call("/v2/chats", { key, headers: { "x-forwarded-for": `10.9.9.9, ${address}` } })

    it.effect("answer an address with 429 that fails too often, and let it in with what is valid", () =>
      Effect.gen(function* () {
        const site = yield* Site.Site
        for (let time = 0; time < 5; time++) assert.strictEqual((yield* from("192.0.2.1", "nonsense")).status, 401)
        const refused = yield* from("192.0.2.1", "nonsense")
        limited(refused, 1)
        assert.isUndefined(refused.headers["ratelimit"])
        // Behind the same address as others that fail.
        assert.strictEqual((yield* from("192.0.2.1", site.key)).status, 200)
        // Somewhere else.
        assert.strictEqual((yield* from("192.0.2.2", "nonsense")).status, 401)
        // Who does not say who they are has failed at nothing.
        assert.strictEqual((yield* from("192.0.2.1", "")).status, 401)
        yield* TestClock.adjust("1 seconds")
        assert.strictEqual((yield* from("192.0.2.1", "nonsense")).status, 401)
        limited(yield* from("192.0.2.1", "nonsense"), 1)
      })
    )

    it.effect("count an IPv6 host once, whichever of its addresses it takes", () =>
      Effect.gen(function* () {
        for (let host = 0; host < 5; host++) {
          assert.strictEqual((yield* from(`2001:db8::${host}`, "nonsense")).status, 401)
        }
        limited(yield* from("2001:db8:0:0:ffff::1", "nonsense"), 1)
        assert.strictEqual((yield* from("2001:db8:0:1::1", "nonsense")).status, 401)
      })
    )
  })
})
