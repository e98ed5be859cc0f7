import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { TestClock } from "effect/testing"
import { code, json, refusal } from "../support/JsonCall.ts"
import * as Site from "../support/Site.ts"
import { person } from "./People.ts"

const keys = "/v2/api-keys"
const unknown = "0197c0de-0000-7000-8000-000000000000"
const notFound = "invalid API key: API key not found"

const inherit = { inheritAllRoles: true }

const idsOf = (reply: { readonly body: { readonly api_keys: ReadonlyArray<{ readonly id: string }> } }) =>
  reply.body.api_keys.map(({ id }) => id)

layer(Site.layer(), { timeout: "180 seconds" })("API keys over HTTP", (it) => {
  it.effect("a key is minted with its value shown once, works, and is listed without it", () =>
    Effect.gen(function* () {
      const { tenant } = yield* Site.Site
      const one = yield* person()
      const clientId = '{ "tenant": "acme" }'
      const now = yield* Clock.currentTimeMillis
      const request = {
        name: "embedded",
        assumedRoles: [tenant.memberRole.id],
        clientId,
        expirySeconds: 60,
        fullMemberAccess: false,
        somethingElse: 1
      }
      const minted = yield* json("POST", keys, request, one.key)
      assert.strictEqual(minted.status, 201)
      assert.deepStrictEqual(Object.keys(minted.body), ["key", "api_key"])
      const record = {
        id: minted.body.api_key.id,
        member_id: one.id,
        name: "embedded",
        client_id: clientId,
        assumed_roles: [tenant.memberRole.id],
        all_roles: false,
        full_member_access: false,
        status: "active",
        created_at: new Date(now).toISOString(),
        expires_at: new Date(now + 60_000).toISOString()
      }
      assert.deepStrictEqual(minted.body.api_key, record)
      assert.match(minted.body.key, /^[A-Za-z0-9+/]{48}$/u)
      assert.strictEqual((yield* json("GET", "/v2/chats", undefined, minted.body.key)).status, 200)
      const listed = yield* json("GET", keys, undefined, one.key)
      assert.notInclude(JSON.stringify(listed.body), minted.body.key)
      assert.sameMembers(idsOf(listed), [one.keyId, record.id])
      // Used now, and so the list says; K24 at the very moment of its expiry it works no longer.
      yield* TestClock.adjust("59999 millis")
      assert.strictEqual((yield* json("GET", "/v2/chats", undefined, minted.body.key)).status, 200)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* refusal(code.unauthenticated, "GET", "/v2/chats", undefined, minted.body.key), notFound)
      const later = (yield* json("GET", keys, undefined, one.key)).body.api_keys
      const found = later.find(({ id }: { readonly id: string }) => id === record.id)
      assert.deepInclude(found, { status: "expired", last_used_at: record.created_at })
    })
  )

  it.effect("a key whose expiry is not said lives for what the organization has set: 90 days, or for ever", () =>
    Effect.gen(function* () {
      const one = yield* person({ member: { roles: [(yield* Site.Site).tenant.adminRole] } })
      const now = yield* Clock.currentTimeMillis
      const first = yield* json("POST", keys, inherit, one.key)
      assert.strictEqual(first.body.api_key.expires_at, new Date(now + 90 * 86_400_000).toISOString())
      yield* json("PATCH", "/v2/organization", { key_expiry_seconds: 0 })
      assert.notProperty((yield* json("POST", keys, inherit, one.key)).body.api_key, "expires_at")
      yield* json("PATCH", "/v2/organization", { key_expiry_seconds: 90 * 86_400 })
    })
  )

  it.effect.each([
    ["K8", {}, /^assumedRoles: /u],
    ["K8", { assumedRoles: [] }, /^assumedRoles: /u],
    ["K8", { assumedRoles: [], inheritAllRoles: false }, /^assumedRoles: /u],
    ["K10", { assumedRoles: [unknown], ...inherit }, /^inheritAllRoles: /u],
    ["K25", { ...inherit, expirySeconds: 0 }, /^expirySeconds: must be an integer between 60 and 31536000, got 0$/u],
    ["K25", { ...inherit, expirySeconds: 59 }, /^expirySeconds: /u],
    ["K25", { ...inherit, expirySeconds: -1 }, /^expirySeconds: /u],
    ["K25", { ...inherit, expirySeconds: 60.5 }, /^expirySeconds: /u],
    ["K25", { ...inherit, expirySeconds: "60" }, /^expirySeconds: /u],
    ["K25", { ...inherit, expirySeconds: 1e20 }, /^expirySeconds: /u],
    ["K25", { ...inherit, expirySeconds: 31_536_001 }, /^expirySeconds: /u],
    ["R4", { ...inherit, clientId: "acme" }, /^clientId: /u],
    ["R4", { ...inherit, clientId: '["acme"]' }, /^clientId: /u],
    ["R4", { ...inherit, clientId: '{"a":1,"a":2}' }, /^clientId: /u],
    ["R4", { ...inherit, clientId: '{"__proto__":1}' }, /^clientId: /u],
    ["R4", { ...inherit, clientId: { tenant: "acme" } }, /^clientId: /u],
    ["", { assumedRoles: ["admin"] }, /^assumedRoles\[0\]: must be a UUID/u],
    ["", { ...inherit, name: " " }, /^name: /u],
    ["", { ...inherit, targetMemberId: "me" }, /^targetMemberId: must be a UUID/u],
    ["", { ...inherit, fullMemberAccess: "yes" }, /^fullMemberAccess: /u]
  ] as const)("%s %j is 400 and names the field", ([, body, message]) =>
    Effect.gen(function* () {
      const one = yield* person()
      assert.match(yield* refusal(code.invalid, "POST", keys, body, one.key), message)
      assert.deepStrictEqual(idsOf(yield* json("GET", keys, undefined, one.key)), [one.keyId])
    })
  )

  it.effect("nobody mints more than they have", () =>
    Effect.gen(function* () {
      const { tenant } = yield* Site.Site
      const [a, b] = [
        yield* Fixture.role(tenant.organizationId, { permissions: ["chat:read"] }),
        yield* Fixture.role(tenant.organizationId, { permissions: ["chat:write"] })
      ]
      const one = yield* person({ member: { roles: [a, b] } })
      const minted = yield* json("POST", keys, { assumedRoles: [a.id], expirySeconds: 600 }, one.key)
      const child = minted.body.key
      const denied = (body: unknown, key: string) => refusal(code.denied, "POST", keys, body, key)
      // K13, K12, K19
      assert.match(yield* denied({ assumedRoles: [tenant.adminRole.id] }, one.key), /a role that you do not hold/u)
      assert.match(yield* denied({ assumedRoles: [b.id] }, child), /a role that you do not hold/u)
      assert.match(
        yield* denied({ ...inherit, fullMemberAccess: true }, child),
        /^permission denied: fullMemberAccess/u
      )
      // K11, K26
      const grandchild = yield* json("POST", keys, { ...inherit, expirySeconds: 6_000 }, child)
      assert.deepStrictEqual(grandchild.body.api_key.assumed_roles, [a.id])
      assert.strictEqual(grandchild.body.api_key.expires_at, minted.body.api_key.expires_at)
    })
  )

  it.effect("a key for a service account needs organization:write, and a service account", () =>
    Effect.gen(function* () {
      const { key: admin, tenant } = yield* Site.Site
      const [one, human] = [yield* person(), yield* person()]
      const account = yield* json("POST", "/v2/members/service-accounts", { name: "Loader" })
      const body = (targetMemberId: string) => ({ assumedRoles: [tenant.memberRole.id], targetMemberId })
      assert.match(
        yield* refusal(code.denied, "POST", keys, body(account.body.id), one.key),
        /organization:write is required/u
      )
      // K14: the account does not hold the role yet. K16: a person is no service account, and nobody is neither.
      assert.match(yield* refusal(code.denied, "POST", keys, body(account.body.id), admin), /owner does not hold/u)
      assert.match(yield* refusal(code.denied, "POST", keys, body(human.id), admin), /must be a service account/u)
      assert.match(yield* refusal(code.denied, "POST", keys, body(unknown), admin), /must be a service account/u)
      yield* json("POST", `/v2/members/${account.body.id}/roles`, { roleId: tenant.memberRole.id })
      const minted = yield* json("POST", keys, body(account.body.id))
      assert.deepStrictEqual([minted.status, minted.body.api_key.member_id], [201, account.body.id])
      const listed = idsOf(yield* json("GET", `${keys}?scope=service_accounts`))
      assert.deepStrictEqual(listed, [minted.body.api_key.id])
      // K18: the body never says who asks.
      assert.strictEqual(
        yield* refusal(code.unauthenticated, "POST", keys, body(account.body.id), ""),
        "Authentication required"
      )
    })
  )

  it.effect("K27 a rotated key has another value and is the same in all else; the old one ends, or has its grace", () =>
    Effect.gen(function* () {
      const one = yield* person()
      const old = yield* json("POST", keys, { ...inherit, name: "mine", expirySeconds: 3_600 }, one.key)
      const { id, ...kept } = old.body.api_key
      yield* TestClock.adjust("1 minute")
      const rotated = yield* json("POST", `${keys}/${id}/rotate`, undefined, one.key)
      assert.strictEqual(rotated.status, 200)
      assert.deepStrictEqual(Object.keys(rotated.body), ["key", "api_key", "revoked_api_key_id"])
      assert.strictEqual(rotated.body.revoked_api_key_id, id)
      const { created_at: _, id: next, ...same } = rotated.body.api_key
      const { created_at: __, ...before } = kept
      assert.deepStrictEqual(same, before)
      assert.notStrictEqual(rotated.body.key, old.body.key)
      const chats = ["GET", "/v2/chats", undefined] as const
      assert.strictEqual(yield* refusal(code.unauthenticated, ...chats, old.body.key), notFound)
      assert.strictEqual((yield* json(...chats, rotated.body.key)).status, 200)
      // K28: what is not active is not revived.
      assert.match(yield* refusal(code.invalid, "POST", `${keys}/${id}/rotate`, {}, one.key), /is revoked$/u)
      const graceful = yield* json("POST", `${keys}/${next}/rotate`, { graceSeconds: 30 }, one.key)
      assert.strictEqual((yield* json(...chats, rotated.body.key)).status, 200)
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual(yield* refusal(code.unauthenticated, ...chats, rotated.body.key), notFound)
      assert.strictEqual((yield* json(...chats, graceful.body.key)).status, 200)
      for (const graceSeconds of [-1, 86_401, 1.5, "1"]) {
        const path = `${keys}/${graceful.body.api_key.id}/rotate`
        assert.match(yield* refusal(code.invalid, "POST", path, { graceSeconds }, one.key), /^graceSeconds: /u)
      }
    })
  )

  it.effect("K38 a key is revoked by its owner without a permission, by others with organization:write, and once", () =>
    Effect.gen(function* () {
      const { tenant } = yield* Site.Site
      const nothing = yield* Fixture.role(tenant.organizationId)
      const one = yield* person({ member: { roles: [nothing] } })
      const other = yield* person({ member: { roles: [nothing] } })
      const mine = (yield* json("POST", keys, inherit, one.key)).body.api_key.id
      const path = `${keys}/${mine}`
      assert.match(yield* refusal(code.denied, "DELETE", path, undefined, other.key), /organization:write is required/u)
      assert.deepStrictEqual(yield* json("DELETE", path, undefined, one.key), {
        status: 200,
        body: { id: mine, success: true }
      })
      assert.strictEqual(yield* refusal(code.invalid, "DELETE", path, undefined, one.key), "the API key is revoked")
      assert.strictEqual((yield* json("DELETE", `${keys}/${other.keyId}`)).status, 200)
      assert.strictEqual(yield* refusal(code.unauthenticated, "GET", keys, undefined, other.key), notFound)
      for (const id of [unknown, "nonsense"]) {
        yield* refusal(code.notFound, "DELETE", `${keys}/${id}`)
        yield* refusal(code.notFound, "POST", `${keys}/${id}/rotate`)
      }
      const elsewhere = yield* Fixture.tenant("Elsewhere")
      assert.strictEqual(
        yield* refusal(code.notFound, "DELETE", `${keys}/${elsewhere.adminKeyId}`),
        "API key not found"
      )
      const shown = yield* json("GET", `${keys}?include_revoked=true`, undefined, one.key)
      assert.sameMembers(idsOf(shown), [one.keyId, mine])
      const revoked = shown.body.api_keys.find(({ id }: { readonly id: string }) => id === mine)
      assert.deepInclude(revoked, { status: "revoked" })
      assert.property(revoked, "revoked_at")
      assert.deepStrictEqual(idsOf(yield* json("GET", keys, undefined, one.key)), [one.keyId])
    })
  )

  it.effect("K35 K36 K37 who sees which keys", () =>
    Effect.gen(function* () {
      const { tenant } = yield* Site.Site
      const one = yield* person()
      const staff = yield* person({ member: { standing: "staff" } })
      const superadmin = yield* person({ member: { standing: "superadmin", roles: [tenant.adminRole] } })
      assert.deepStrictEqual(idsOf(yield* json("GET", keys, undefined, one.key)), [one.keyId])
      assert.match(
        yield* refusal(code.denied, "GET", `${keys}?scope=all`, undefined, one.key),
        /organization:read is required/u
      )
      const all = (key?: string) => Effect.map(json("GET", `${keys}?page_size=200`, undefined, key), idsOf)
      assert.includeMembers([...(yield* all())], [one.keyId, tenant.adminKeyId])
      assert.notInclude(yield* all(), staff.keyId)
      assert.includeMembers([...(yield* all(superadmin.key))], [one.keyId, staff.keyId])
      assert.notInclude(idsOf(yield* json("GET", `${keys}?scope=personal`)), one.keyId)
      // What is hidden is not there for any verb.
      assert.strictEqual(yield* refusal(code.notFound, "DELETE", `${keys}/${staff.keyId}`), "API key not found")
      assert.strictEqual((yield* json("DELETE", `${keys}/${staff.keyId}`, undefined, superadmin.key)).status, 200)
    })
  )

  it.effect("pages are whole, while keys come and go; a token that nobody gave is 400", () =>
    Effect.gen(function* () {
      const one = yield* person()
      const minted: Array<string> = []
      for (let index = 0; index < 5; index++) {
        yield* TestClock.adjust("1 seconds")
        minted.unshift((yield* json("POST", keys, inherit, one.key)).body.api_key.id)
      }
      const page = (token?: string) =>
        json("GET", `${keys}?page_size=2${token === undefined ? "" : `&page_token=${token}`}`, undefined, one.key)
      const first = yield* page()
      yield* TestClock.adjust("1 seconds")
      yield* json("POST", keys, inherit, one.key)
      const second = yield* page(first.body.next_page_token)
      const third = yield* page(second.body.next_page_token)
      assert.deepStrictEqual([first, second, third].flatMap(idsOf), [...minted, one.keyId])
      assert.notProperty(third.body, "next_page_token")
      const token: string = first.body.next_page_token
      for (const [query, message] of [
        [`page_token=${token.slice(1)}`, /^page_token: must be a value that an earlier answer gave/u],
        [`page_token=${token.toUpperCase()}`, /^page_token: must be a value that an earlier answer gave/u],
        ["page_token=", /^page_token: must be a value that an earlier answer gave/u],
        ["page_size=0", /^page_size: must be an integer between 1 and 200/u],
        ["page_size=201", /^page_size: /u],
        ["page_size=2.5", /^page_size: /u],
        ["scope=mine", /^scope: must be one of personal, all, service_accounts/u],
        ["include_revoked=maybe", /^include_revoked: /u]
      ] as const) {
        assert.match(yield* refusal(code.invalid, "GET", `${keys}?${query}`, undefined, one.key), message)
      }
      // A token of one list is none of another.
      yield* refusal(code.invalid, "GET", `/v2/audit-events?page_token=${token}`)
    })
  )
})
