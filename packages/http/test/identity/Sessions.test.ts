import { createHmac } from "node:crypto"
import { MemberStatus } from "@castellan/core/member/Member"
import * as JwtIdentity from "@castellan/http/identity/JwtIdentity"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { assert, layer } from "@effect/vitest"
import { Clock, Context, Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { code, json, refusal } from "../support/JsonCall.ts"
import * as Site from "../support/Site.ts"
import * as KeyServer from "./KeyServer.ts"
import { person } from "./People.ts"

const secret = "a secret of the identity provider, long enough"

/** The identity provider of a site. */
class Provider extends Context.Service<Provider, KeyServer.KeyServer>()("@castellan/http/test/Provider") {}

const site = Site.layer().pipe(Layer.provide(JwtIdentity.layer({ secret: Redacted.make(secret) })))

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")

/** A token of the identity provider, which ends in so many seconds; others of its claims may be given. */
const tokenOf = Effect.fnUntraced(function* (member: string, life = 60, other: Record<string, unknown> = {}) {
  const { tenant } = yield* Site.Site
  const exp = (yield* Clock.currentTimeMillis) / 1000 + life
  const claims = { iss: "castellan", aud: "castellan", sub: member, org: tenant.organizationId, exp, ...other }
  const signed = `${part({ alg: "HS256" })}.${part(claims)}`
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`
})

const mint = (key: string) => json("POST", "/v2/sessions", undefined, key)

const rolesPath = (id: string, role?: string) => `/v2/members/${id}/roles${role === undefined ? "" : `/${role}`}`

const lost = "invalid or expired token"

layer(site, { timeout: "180 seconds" })("sessions over HTTP", (it) => {
  it.effect("a key mints a token of a quarter of an hour, which does as much and can be renewed", () =>
    Effect.gen(function* () {
      const one = yield* person()
      const now = yield* Clock.currentTimeMillis
      const minted = yield* mint(one.key)
      assert.strictEqual(minted.status, 201)
      assert.deepStrictEqual(Object.keys(minted.body), ["token", "expires_at"])
      assert.strictEqual(minted.body.expires_at, new Date(now + 900_000).toISOString())
      assert.strictEqual((yield* json("GET", "/v2/chats", undefined, minted.body.token)).status, 200)
      yield* TestClock.adjust("10 minutes")
      const renewed = yield* mint(minted.body.token)
      assert.strictEqual(renewed.status, 201)
      yield* TestClock.adjust("6 minutes")
      const call = ["GET", "/v2/chats", undefined] as const
      assert.strictEqual(yield* refusal(code.unauthenticated, ...call, minted.body.token), lost)
      assert.strictEqual((yield* json(...call, renewed.body.token)).status, 200)
    })
  )

  it.effect("K40 a role that is taken is gone from keys at once, and from a session when it is renewed", () =>
    Effect.gen(function* () {
      const { tenant } = yield* Site.Site
      const one = yield* person({ member: { roles: [tenant.adminRole, tenant.memberRole] } })
      const { token } = (yield* mint(one.key)).body
      const taken = yield* json("DELETE", rolesPath(one.id, tenant.adminRole.id))
      assert.deepStrictEqual(taken, {
        status: 200,
        body: { member_id: one.id, role_id: tenant.adminRole.id, success: true }
      })
      const call = ["GET", "/v2/members", undefined] as const
      assert.strictEqual(yield* refusal(code.denied, ...call, one.key), "admin role required")
      assert.strictEqual((yield* json(...call, token)).status, 200)
      const renewed = (yield* mint(token)).body.token
      assert.strictEqual(yield* refusal(code.denied, ...call, renewed), "admin role required")
    })
  )

  it.effect("a session ends with the key behind it", () =>
    Effect.gen(function* () {
      const one = yield* person()
      const { token } = (yield* mint(one.key)).body
      assert.strictEqual((yield* json("DELETE", `/v2/api-keys/${one.keyId}`, undefined, token)).status, 200)
      assert.strictEqual(yield* refusal(code.unauthenticated, "GET", "/v2/chats", undefined, token), lost)
      assert.strictEqual(yield* refusal(code.unauthenticated, "POST", "/v2/sessions", undefined, token), lost)
    })
  )

  it.effect("nobody without a credential has a session, and nobody whose token was altered", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        yield* refusal(code.unauthenticated, "POST", "/v2/sessions", undefined, ""),
        "Authentication required"
      )
      const { token } = (yield* mint((yield* person()).key)).body
      const [header, payload, signature] = token.split(".")
      const claims = JSON.parse(Buffer.from(payload, "base64url").toString())
      const widened = `${header}.${part({ ...claims, restricted: false, exp: claims.exp + 1 })}.${signature}`
      assert.strictEqual(yield* refusal(code.unauthenticated, "POST", "/v2/sessions", undefined, widened), lost)
    })
  )
})

layer(site, { timeout: "180 seconds" })("tokens of an identity provider over HTTP", (it) => {
  const call = ["GET", "/v2/chats", undefined] as const

  it.effect("let a member in with the roles that it holds now", () =>
    Effect.gen(function* () {
      const { tenant } = yield* Site.Site
      const one = yield* person()
      const token = yield* tokenOf(one.id)
      assert.strictEqual((yield* json(...call, token)).status, 200)
      assert.strictEqual(yield* refusal(code.denied, "GET", "/v2/members", undefined, token), "admin role required")
      assert.strictEqual((yield* json("POST", rolesPath(one.id), { roleId: tenant.adminRole.id })).status, 200)
      assert.strictEqual((yield* json("GET", "/v2/members", undefined, token)).status, 200)
    })
  )

  it.effect("may have fewer roles than their member, and never more", () =>
    Effect.gen(function* () {
      const { tenant } = yield* Site.Site
      const one = yield* person()
      const none = yield* tokenOf(one.id, 60, { roles: [] })
      assert.match(yield* refusal(code.denied, ...call, none), /^permission denied: chat:read/u)
      const more = yield* tokenOf(one.id, 60, { roles: [tenant.memberRole.id, tenant.adminRole.id] })
      assert.strictEqual((yield* json(...call, more)).status, 200)
      assert.strictEqual(yield* refusal(code.denied, "GET", "/v2/members", undefined, more), "admin role required")
      const session = (yield* mint(none)).body.token
      assert.match(yield* refusal(code.denied, ...call, session), /^permission denied: chat:read/u)
    })
  )

  it.effect("have 30 seconds for clocks that differ, and not one millisecond more", () =>
    Effect.gen(function* () {
      const one = yield* person()
      const now = (yield* Clock.currentTimeMillis) / 1000
      const ending = yield* tokenOf(one.id, 10)
      const beginning = yield* tokenOf(one.id, 600, { nbf: now + 60 })
      yield* TestClock.adjust("29999 millis")
      assert.strictEqual(yield* refusal(code.unauthenticated, ...call, beginning), lost)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* json(...call, beginning)).status, 200)
      yield* TestClock.adjust("9999 millis")
      assert.strictEqual((yield* json(...call, ending)).status, 200)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* refusal(code.unauthenticated, ...call, ending), lost)
    })
  )

  it.effect("let nobody in who is unknown, deactivated or of another organization, and say no more", () =>
    Effect.gen(function* () {
      const gone = yield* person({
        member: { status: MemberStatus.cases.Deactivated.make({ at: (yield* person()).member.createdAt }) }
      })
      const elsewhere = yield* Fixture.tenant("Elsewhere")
      const unknown = "0197c0de-0000-7000-8000-000000000000"
      for (const token of [
        yield* tokenOf(gone.id),
        yield* tokenOf(unknown),
        yield* tokenOf(elsewhere.adminId),
        yield* tokenOf(gone.id, 60, { org: unknown })
      ]) {
        assert.strictEqual(yield* refusal(code.unauthenticated, ...call, token), lost)
      }
      const theirs = yield* tokenOf(elsewhere.adminId, 60, { org: elsewhere.organizationId })
      const listed = yield* json("GET", "/v2/members", undefined, theirs)
      assert.deepStrictEqual([listed.status, listed.body.members.length], [200, 1])
    })
  )

  it.effect("K34 another credential beside the bearer value must name the same principal", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* person(), yield* person()]
      const status = (key: string, serviceKey: string | Array<string>, path = "/v2/chats") =>
        Effect.map(Site.call(path, { key, headers: { svc_api_key: serviceKey } }), (reply) => ({
          status: reply.status,
          message: reply.status === 200 ? "" : Site.envelopeOf(reply).message,
          challenge: reply.headers["www-authenticate"]
        }))
      const taken = { status: 200, message: "", challenge: undefined }
      const refused = (message: string) => ({ status: 401, message, challenge: "Bearer" })
      assert.deepStrictEqual(yield* status(one.key, one.key), taken)
      assert.deepStrictEqual(yield* status(one.key, ""), taken)
      const contradiction = refused("the credentials of the request name different principals")
      assert.deepStrictEqual(yield* status(one.key, other.key), contradiction)
      // The same member by two credentials is two principals: their authority may differ.
      assert.deepStrictEqual(yield* status(one.key, yield* tokenOf(one.id)), contradiction)
      assert.deepStrictEqual(yield* status(one.key, "abc"), refused("invalid API key format"))
      assert.deepStrictEqual(yield* status("abc", one.key), refused("invalid API key format"))
      assert.deepStrictEqual(yield* status(one.key, [one.key, one.key]), refused("invalid API key format"))
      assert.deepStrictEqual(yield* status("", one.key), refused("Authentication required"))
    })
  )
})

/** A site whose identity provider is away, and the address of its keys. */
const away = Layer.unwrap(
  Effect.map(KeyServer.serve(KeyServer.broken), (server) =>
    Layer.merge(
      Site.layer().pipe(Layer.provide(JwtIdentity.layer({ keySet: { url: server.url } }))),
      Layer.succeed(Provider, server)
    )
  )
)

layer(away, { timeout: "180 seconds" })("an identity provider that is away", (it) => {
  it.effect("makes a token wait, not its holder sign in again; keys work all the while", () =>
    Effect.gen(function* () {
      const provider = yield* Provider
      const { tenant } = yield* Site.Site
      const one = yield* person()
      const key = yield* KeyServer.key("one")
      const claims = KeyServer.claims({ sub: one.id, org: tenant.organizationId })
      const call = ["GET", "/v2/chats", undefined] as const
      const token = yield* key.sign(claims)
      assert.match(yield* refusal(code.timeout, ...call, token), /cannot be had now, try again$/u)
      assert.strictEqual((yield* json(...call, one.key)).status, 200)
      provider.answer(KeyServer.publishing([key]))
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* json(...call, token)).status, 200)
    })
  )
})
