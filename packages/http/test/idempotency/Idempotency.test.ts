import { AssumedRoles } from "@castellan/core/apikey/ApiKey"
import * as CastellanHttp from "@castellan/http/CastellanHttp"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { conflict, create, idOf, isReplay, keyed, newKey, playbooks, server } from "../support/Keyed.ts"
import * as Site from "../support/Site.ts"

layer(Site.layer(), { timeout: "180 seconds" })("idempotent requests", (it) => {
  describe("the same request", () => {
    it.effect("is carried out once: the answer comes again, to the byte", () =>
      Effect.gen(function* () {
        const key = newKey()
        const before = yield* playbooks
        const first = yield* create(key)
        assert.strictEqual(first.status, 201, first.text)
        assert.isFalse(isReplay(first))
        for (let time = 0; time < 3; time++) {
          const again = yield* create(key)
          assert.isTrue(isReplay(again))
          assert.strictEqual(again.status, 201)
          assert.strictEqual(again.text, first.text)
          assert.strictEqual(again.headers["content-type"], first.headers["content-type"])
          assert.notStrictEqual(again.headers["x-request-id"], first.headers["x-request-id"])
        }
        assert.strictEqual(yield* playbooks, before + 1)
      })
    )

    it.effect("without a key is carried out each time", () =>
      Effect.gen(function* () {
        const before = yield* playbooks
        for (let time = 0; time < 2; time++) {
          assert.strictEqual((yield* Site.call("/v2/playbooks", { method: "POST" })).status, 201)
        }
        assert.strictEqual(yield* playbooks, before + 2)
      })
    )

    it.effect("is remembered for 24 hours", () =>
      Effect.gen(function* () {
        const key = newKey()
        const first = yield* create(key)
        yield* TestClock.adjust("86399 seconds")
        assert.isTrue(isReplay(yield* create(key)))
        yield* TestClock.adjust("1 seconds")
        const later = yield* create(key)
        assert.isFalse(isReplay(later))
        assert.notStrictEqual(idOf(later), idOf(first))
      })
    )

    it.effect("is refused again where it was refused", () =>
      Effect.gen(function* () {
        const body = JSON.stringify({ question: "x", chat_id: "0197c0de-0000-7000-8000-000000000000" })
        const key = newKey()
        const [first, again] = [
          yield* Site.post("/v2/chats/stream", body, keyed(key)),
          yield* Site.post("/v2/chats/stream", body, keyed(key))
        ]
        assert.strictEqual(first.status, 404)
        assert.isTrue(isReplay(again))
        assert.deepStrictEqual([again.status, again.text], [first.status, first.text])
      })
    )

    it.effect("mints one key", () =>
      Effect.gen(function* () {
        const key = newKey()
        const body = { name: "once", inheritAllRoles: true }
        const first = yield* Site.post("/v2/api-keys", body, keyed(key))
        assert.strictEqual(first.status, 201, first.text)
        const again = yield* Site.post("/v2/api-keys", body, keyed(key))
        assert.isTrue(isReplay(again))
        assert.strictEqual(again.text, first.text)
        assert.strictEqual((yield* Site.call("/v2/chats", { key: JSON.parse(first.text).key })).status, 200)
      })
    )
  })

  describe("a stream", () => {
    const question = { question: "How much?" }

    it.effect("is joined, not run again", () =>
      Effect.gen(function* () {
        const key = newKey()
        const first = yield* Site.post("/v2/chats/stream", question, keyed(key))
        assert.strictEqual(first.status, 200)
        const again = yield* Site.post("/v2/chats/stream", question, keyed(key))
        assert.isTrue(isReplay(again))
        assert.strictEqual(again.headers["content-type"], "text/event-stream")
        assert.deepStrictEqual(Site.framesOf(again.text), Site.framesOf(first.text))
      })
    )

    it.effect("is joined while it goes on, from the start, also when its client has left", () =>
      Effect.gen(function* () {
        const key = newKey()
        const call = {
          ...keyed(key, { "content-type": "application/json" }),
          method: "POST",
          body: '{"question":"stall"}'
        }
        const first = yield* Site.read("/v2/chats/stream", call)
        const opening = yield* first.until((text) => text.includes('"metadata"'))
        first.leave()
        const again = yield* Site.read("/v2/chats/stream", call)
        yield* again.until((text) => text.includes('"metadata"'))
        const [frame] = Site.framesOf(opening)
        const [joined] = Site.framesOf(again.text())
        assert.deepStrictEqual(joined, frame)
        const chatId = String(frame?.data["chat_id"])
        yield* Site.call(`/v2/chats/${chatId}/cancel`, { method: "POST" })
        const { complete, text } = yield* again.end
        assert.isTrue(complete)
        assert.include(text, '"done"')
      }).pipe(Effect.scoped)
    )

    it.effect("of a chat that is gone is not there", () =>
      Effect.gen(function* () {
        const key = newKey()
        const first = yield* Site.post("/v2/chats/stream", question, keyed(key))
        const chatId = String(Site.framesOf(first.text)[0]?.data["chat_id"])
        assert.strictEqual((yield* Site.call(`/v2/chats/${chatId}`, { method: "DELETE" })).status, 200)
        assert.strictEqual((yield* Site.post("/v2/chats/stream", question, keyed(key))).status, 404)
      })
    )
  })

  describe("another request", () => {
    it.effect("with the key of one is 409", () =>
      Effect.gen(function* () {
        const key = newKey()
        const ask = (body: unknown, what: Site.Call = {}) =>
          Site.post("/v2/chats", body, { ...what, headers: { "idempotency-key": key, ...what.headers } })
        assert.strictEqual((yield* ask({ question: "a" })).status, 200)
        conflict(yield* ask({ question: "b" }), /another request/)
        conflict(yield* ask('{"question": "a"}'), /another request/)
        conflict(
          yield* ask({ question: "a" }, { headers: { "content-type": "application/json; charset=utf-8" } }),
          /another/
        )
        assert.isTrue(isReplay(yield* ask({ question: "a" })))
      })
    )

    it.effect("of another route, or of another owner, has its own keys", () =>
      Effect.gen(function* () {
        const { tenant } = yield* Site.Site
        const key = newKey()
        const first = yield* create(key)
        const agents = yield* Site.post("/v2/chats", { question: "a" }, keyed(key))
        assert.deepStrictEqual([agents.status, isReplay(agents)], [200, false])
        const owner = yield* Fixture.member(tenant.organizationId, { roles: [tenant.memberRole] })
        const { secret } = yield* Fixture.key(owner)
        const other = yield* create(key, { key: Redacted.value(secret) })
        assert.deepStrictEqual([other.status, isReplay(other)], [201, false])
        assert.notStrictEqual(idOf(other), idOf(first))
      })
    )

    it.effect("of another object of the same route is 409", () =>
      Effect.gen(function* () {
        const [one, two] = [idOf(yield* create(newKey())), idOf(yield* create(newKey()))]
        const key = newKey()
        const undeploy = (id: string) => Site.call(`/v2/playbooks/${id}/deploy`, { method: "POST", ...keyed(key) })
        yield* undeploy(one)
        conflict(yield* undeploy(two), /another request/)
      })
    )

    it.effect("that is no POST does not look at the key", () =>
      Effect.gen(function* () {
        const key = newKey()
        for (const path of ["/v2/chats", "/v2/models"]) {
          const reply = yield* Site.call(path, keyed(key))
          assert.deepStrictEqual([reply.status, isReplay(reply)], [200, false])
          assert.strictEqual((yield* Site.call(path, keyed("no key\tat all"))).status, 200)
        }
      })
    )
  })

  describe("keys of one owner", () => {
    it.effect("share what they ask for, but not across end users, nor with fewer roles", () =>
      Effect.gen(function* () {
        const { tenant } = yield* Site.Site
        const roles = [tenant.adminRole, tenant.memberRole]
        const owner = yield* Fixture.member(tenant.organizationId, { roles })
        const issue = (options: Parameters<typeof Fixture.key>[1]) =>
          Effect.map(Fixture.key(owner, options), ({ secret }) => Redacted.value(secret))
        const client = (id: string) => ({ clientMetadata: { text: JSON.stringify({ id }), attributes: { id } } })
        const whole = yield* issue({ fullMemberAccess: true })
        const alike = yield* issue({ fullMemberAccess: true })
        const fewer = yield* issue({
          fullMemberAccess: true,
          assumedRoles: AssumedRoles.cases.Snapshot.make({ roles: [tenant.memberRole.id] })
        })
        const [restricted, another] = [yield* issue({}), yield* issue({})]
        const [anna, annaAgain, ben] = [
          yield* issue(client("anna")),
          yield* issue(client("anna")),
          yield* issue(client("ben"))
        ]

        const key = newKey()
        const first = yield* create(key, { key: whole })
        assert.strictEqual(first.status, 201, first.text)
        assert.strictEqual((yield* create(key, { key: alike })).text, first.text)
        conflict(yield* create(key, { key: fewer }), /roles/)
        const own = yield* create(key, { key: restricted })
        const annas = yield* create(key, { key: anna })
        for (const [reply, replayed] of [
          [own, false],
          [yield* create(key, { key: restricted }), true],
          [yield* create(key, { key: another }), false],
          [annas, false],
          [yield* create(key, { key: annaAgain }), true],
          [yield* create(key, { key: ben }), false]
        ] as const) {
          assert.deepStrictEqual([reply.status, isReplay(reply)], [201, replayed])
        }
        assert.strictEqual(new Set([first, own, annas].map(idOf)).size, 3)
      })
    )

    it.effect("of one end user share it as well, but a restricted one is not given what a whole one was", () =>
      Effect.gen(function* () {
        const { tenant } = yield* Site.Site
        const owner = yield* Fixture.member(tenant.organizationId, { roles: [tenant.memberRole] })
        const anna = { clientMetadata: { text: '{"id":"anna"}', attributes: { id: "anna" } } }
        const issue = (options: Parameters<typeof Fixture.key>[1]) =>
          Effect.map(Fixture.key(owner, options), ({ secret }) => Redacted.value(secret))
        const [whole, restricted] = [yield* issue({ ...anna, fullMemberAccess: true }), yield* issue(anna)]
        const mint = (key: string, by: string) => Site.call("/v2/sessions", { method: "POST", key: by, ...keyed(key) })

        const key = newKey()
        const first = yield* mint(key, whole)
        assert.strictEqual(first.status, 201, first.text)
        conflict(yield* mint(key, restricted), /access/)

        const other = newKey()
        const less = yield* mint(other, restricted)
        assert.strictEqual(less.status, 201, less.text)
        assert.strictEqual((yield* mint(other, whole)).text, less.text)
      })
    )
  })

  describe("a form", () => {
    const form = (boundary: string, question: string) => ({
      body: `--${boundary}\r\nContent-Disposition: form-data; name="question"\r\n\r\n${question}\r\n--${boundary}--\r\n`,
      headers: { "content-type": `multipart/form-data; boundary=${boundary}` }
    })

    it.effect("is the same with another boundary, and another with another field", () =>
      Effect.gen(function* () {
        const key = newKey()
        const ask = (boundary: string, question: string) => {
          const { body, headers } = form(boundary, question)
          return Site.call("/v2/chats", { method: "POST", body, ...keyed(key, headers) })
        }
        const first = yield* ask("b1", "How much?")
        assert.strictEqual(first.status, 200, first.text)
        const again = yield* ask("another-boundary", "How much?")
        assert.isTrue(isReplay(again))
        assert.strictEqual(again.text, first.text)
        conflict(yield* ask("b1", "How many?"), /another request/)
      })
    )
  })

  describe("a body", () => {
    it.effect("that is too large is 413, and leaves its key free", () =>
      Effect.gen(function* () {
        const key = newKey()
        const large = yield* Site.post("/v2/chats", { question: "x".repeat(2 * 1024 * 1024) }, keyed(key))
        assert.strictEqual(large.status, 413, large.text.slice(0, 300))
        const reply = yield* Site.post("/v2/chats", { question: "a" }, keyed(key))
        assert.deepStrictEqual([reply.status, isReplay(reply)], [200, false])
      })
    )
  })

  describe("a host's own server", () => {
    it.effect("keeps to the same, with the web's requests and responses", () =>
      Effect.gen(function* () {
        const site = yield* Site.Site
        const services = yield* Effect.context<CastellanHttp.Services>()
        const web = yield* Effect.acquireRelease(
          Effect.sync(() =>
            CastellanHttp.toWebHandler(Layer.succeedContext(services), { assetSecret: Site.assetSecret, prefix: "/a" })
          ),
          ({ dispose }) => Effect.promise(dispose)
        )
        const send = (key: string, path: string, body: BodyInit, type?: string) =>
          Effect.promise(async () => {
            const response = await web.handler(
              new Request(`https://example.com/a${path}`, {
                method: "POST",
                body,
                headers: {
                  authorization: `Bearer ${site.key}`,
                  "idempotency-key": key,
                  ...(type === undefined ? {} : { "content-type": type })
                }
              })
            )
            const text = await response.text()
            return { status: response.status, replayed: response.headers.get("idempotent-replayed") === "true", text }
          })
        const form = () => {
          const fields = new FormData()
          fields.set("question", "How much?")
          return fields
        }
        for (const [path, type, body, other] of [
          ["/v2/chats", "application/json", () => '{"question":"a"}', () => '{"question":"b"}'],
          ["/v2/chats/stream", "application/json", () => '{"question":"a"}', () => '{"question":"b"}'],
          ["/v2/chats", undefined, form, () => new FormData()]
        ] as const) {
          const key = newKey()
          const first = yield* send(key, path, body(), type)
          assert.deepStrictEqual([first.status, first.replayed], [200, false], first.text)
          assert.deepStrictEqual(yield* send(key, path, body(), type), { ...first, replayed: true })
          assert.strictEqual((yield* send(key, path, other(), type)).status, 409)
        }
      }).pipe(Effect.scoped)
    )
  })

  describe("a key of the wrong form", () => {
    for (const [what, key] of [
      ["an empty one", ""],
      ["one with a blank", "a b"],
      ["one of 256 characters", "x".repeat(256)],
      ["one beyond ASCII", "k\u00e9y"],
      ["two", ["a", "b"]]
    ] as const) {
      it.effect(`is 400: ${what}`, () =>
        Effect.gen(function* () {
          const reply = yield* Site.call("/v2/playbooks", {
            method: "POST",
            headers: { "idempotency-key": typeof key === "string" ? key : [...key] }
          })
          assert.strictEqual(reply.status, 400)
          const { code, message } = Site.envelopeOf(reply)
          assert.strictEqual(code, "invalid_request")
          assert.match(message, /^idempotency-key: must be 1 to 255 visible ASCII characters/)
        })
      )
    }

    it.effect("is told after the credentials, and 255 characters are fine", () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* create("a b", { key: "nonsense" })).status, 401)
        assert.strictEqual((yield* create(`!${"~".repeat(254)}`)).status, 201)
      })
    )
  })

  describe("at once", () => {
    it.effect("on two servers: one wins, the others wait their turn or get its answer", () =>
      Effect.gen(function* () {
        const site = yield* Site.Site
        const second = yield* server()
        const servers = [site, second]
        for (let round = 0; round < 10; round++) {
          const key = newKey()
          const before = yield* playbooks
          const replies = yield* Effect.forEach(
            Array.from({ length: 16 }, (_, index) => index),
            (index) => Effect.provideService(create(key), Site.Site, servers[index % 2] ?? site),
            { concurrency: 16 }
          )
          const made = replies.filter((reply) => reply.status === 201)
          assert.strictEqual(made.filter((reply) => !isReplay(reply)).length, 1)
          assert.strictEqual(new Set(made.map(idOf)).size, 1)
          for (const reply of replies.filter(({ status }) => status !== 201)) {
            conflict(reply, /still being carried out/)
            assert.strictEqual(reply.headers["retry-after"], "1")
          }
          assert.strictEqual(yield* playbooks, before + 1)
          const later = yield* Effect.provideService(create(key), Site.Site, second)
          assert.isTrue(isReplay(later))
        }
      }).pipe(Effect.scoped)
    )
  })

  describe("a client that leaves", () => {
    it.effect("finds its request underway, and then its answer", () =>
      Effect.gen(function* () {
        const key = newKey()
        const ask = Site.post("/v2/chats", { question: "stall" }, keyed(key))
        const chatCount = Effect.map(Site.call("/v2/chats?limit=1"), ({ text }) => JSON.parse(text).total_count)
        const before: number = yield* chatCount
        const first = yield* Effect.forkChild(ask)
        yield* Effect.repeat(chatCount, { until: (count) => count === before + 1 })
        yield* Fiber.interrupt(first)
        for (let time = 0; time < 20; time++) conflict(yield* ask, /still being carried out/)
        const [chat] = JSON.parse((yield* Site.call("/v2/chats?limit=1&sort_by=created_at")).text).chats
        yield* Site.call(`/v2/chats/${chat.id}/cancel`, { method: "POST" })
        const answered = yield* Effect.repeat(ask, { until: isReplay })
        assert.deepStrictEqual([answered.status, Site.envelopeOf(answered).code], [499, "cancelled"])
        assert.strictEqual(yield* chatCount, before + 1)
      })
    )
  })
})
