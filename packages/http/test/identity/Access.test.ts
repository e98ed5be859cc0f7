import { AppStore } from "@castellan/core/app/AppStore"
import * as AutomationSample from "@castellan/testing/fixture/AutomationSample"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { code, json, refusal } from "../support/JsonCall.ts"
import * as Site from "../support/Site.ts"
import { person } from "./People.ts"

const unknown = "0197c0de-0000-7000-8000-000000000000"

/** Makes a thing of the administrator's that nobody else knows of, and answers with its address. */
const make = {
  chats: Effect.gen(function* () {
    const { body } = yield* json("POST", "/v2/chats", { question: "What is the answer?" })
    return `/v2/chats/${body.chat_id}`
  }),
  playbooks: Effect.map(json("POST", "/v2/playbooks"), ({ body }) => `/v2/playbooks/${body.id}`),
  agents: Effect.gen(function* () {
    const { body } = yield* json("POST", "/v2/agents", { name: "Watch", prompt: "Look", connector_ids: [1] })
    return `/v2/agents/${body.id}`
  }),
  connectors: Effect.gen(function* () {
    const config = { host: "db.example", database: "shop", user: "reader" }
    const at = yield* Clock.currentTimeMillis
    const { body } = yield* json("POST", "/v2/connectors", {
      name: `shop_${at}`,
      type: "postgres",
      config,
      secret: "x"
    })
    return `/v2/connectors/${body.id}`
  }),
  apps: Effect.gen(function* () {
    const app = yield* AutomationSample.app((yield* Site.Site).admin, [])
    yield* AppStore.use((store) => store.save(app))
    return `/v2/apps/${app.id}`
  })
} as const

const kinds = ["chats", "playbooks", "agents", "connectors", "apps"] as const

/** How many of a kind somebody is shown. */
const counted = (kind: (typeof kinds)[number], key: string) =>
  Effect.map(json("GET", `/v2/${kind}`, undefined, key), ({ body }) => {
    if (Array.isArray(body)) return body.length
    assert.strictEqual(body[kind].length, body.total_count)
    return Number(body.total_count)
  })

const privately = { is_public: false, grants: [] }

layer(Site.layer(), { timeout: "180 seconds" })("access over HTTP", (it) => {
  it.effect.each(kinds)("%s are hidden until they are shared, and again when they no longer are", (kind) =>
    Effect.gen(function* () {
      const { tenant } = yield* Site.Site
      yield* TestClock.adjust("1 seconds")
      const path = yield* make[kind]
      const access = `${path}/access`
      const one = yield* person()
      const before = yield* counted(kind, one.key)
      const put = (grants: ReadonlyArray<unknown>, isPublic = false) =>
        json("PUT", access, { is_public: isPublic, grants })
      const own = (yield* json("GET", access)).body
      assert.isFalse(own.is_public)

      // Hidden: not there for any verb, and not counted.
      yield* refusal(code.notFound, "GET", access, undefined, one.key)
      yield* refusal(code.notFound, "PUT", access, { is_public: true, grants: [] }, one.key)

      const expiry = new Date((yield* Clock.currentTimeMillis) + 60_000).toISOString()
      const shared = yield* put([{ member_id: one.id, access_type: "viewer", expires_at: expiry }])
      assert.strictEqual(shared.status, 200)
      const grant = { member_id: one.id, access_type: "viewer", granted_by: tenant.adminId, expires_at: expiry }
      assert.deepStrictEqual(
        shared.body.grants.filter(({ member_id }: { readonly member_id?: string }) => member_id === one.id),
        [grant]
      )
      assert.deepStrictEqual((yield* json("GET", access)).body, shared.body)
      assert.strictEqual(yield* counted(kind, one.key), before + 1)
      assert.deepStrictEqual((yield* json("GET", access, undefined, one.key)).body, shared.body)
      // Visible, and not theirs to share: 403.
      yield* refusal(code.denied, "PUT", access, { is_public: true, grants: [] }, one.key)

      // At the very moment of its expiry a share is none.
      yield* TestClock.adjust("1 minute")
      yield* refusal(code.notFound, "GET", access, undefined, one.key)
      assert.strictEqual(yield* counted(kind, one.key), before)

      yield* put([{ role_id: tenant.memberRole.id, access_type: "viewer" }])
      assert.strictEqual(yield* counted(kind, one.key), before + 1)
      yield* put([], true)
      assert.strictEqual(yield* counted(kind, one.key), before + 1)
      yield* put([])
      assert.strictEqual(yield* counted(kind, one.key), before)
      yield* refusal(code.notFound, "GET", access, undefined, one.key)
    })
  )

  it.effect("K21 K22 an administrator knows of what is another's, and reads and shares it no more than anybody", () =>
    Effect.gen(function* () {
      const one = yield* person()
      const { body } = yield* json("POST", "/v2/chats", { question: "Mine?" }, one.key)
      const access = `/v2/chats/${body.chat_id}/access`
      assert.match(yield* refusal(code.denied, "GET", access), /viewer access to this chat is required/u)
      yield* refusal(code.denied, "PUT", access, privately)
      // Shared with a member without the permission: seen, and refused.
      const nothing = yield* Fixture.role((yield* Site.Site).tenant.organizationId)
      const powerless = yield* person({ member: { roles: [nothing] } })
      const grants = [{ member_id: powerless.id, access_type: "owner" }]
      assert.strictEqual((yield* json("PUT", access, { is_public: false, grants }, one.key)).status, 200)
      assert.match(yield* refusal(code.denied, "GET", access, undefined, powerless.key), /chat:read is required/u)
      yield* refusal(code.denied, "PUT", access, privately, powerless.key)
    })
  )

  it.effect("K20 a restricted key is not reached by shares with its member, but by those with its roles", () =>
    Effect.gen(function* () {
      const { tenant } = yield* Site.Site
      const access = `${yield* make.chats}/access`
      const one = yield* person({ key: { fullMemberAccess: false } })
      yield* json("PUT", access, { is_public: false, grants: [{ member_id: one.id, access_type: "editor" }] })
      yield* refusal(code.notFound, "GET", access, undefined, one.key)
      yield* json("PUT", access, {
        is_public: false,
        grants: [{ role_id: tenant.memberRole.id, access_type: "viewer" }]
      })
      assert.strictEqual((yield* json("GET", access, undefined, one.key)).status, 200)
    })
  )

  it.effect("an owner's own share stays, whatever is asked for", () =>
    Effect.gen(function* () {
      const access = `${yield* make.playbooks}/access`
      const one = yield* person()
      const owner = { member_id: one.id, access_type: "owner" }
      yield* json("PUT", access, { is_public: false, grants: [owner] })
      const replaced = yield* json("PUT", access, privately, one.key)
      assert.strictEqual(replaced.status, 200)
      assert.deepInclude(replaced.body.grants[0], owner)
      yield* json("PUT", access, { is_public: false, grants: [{ ...owner, access_type: "viewer" }] }, one.key)
      assert.deepInclude((yield* json("GET", access, undefined, one.key)).body.grants[0], owner)
    })
  )

  it.effect("all of it is replaced, or nothing: a grant that cannot be leaves the others as they were", () =>
    Effect.gen(function* () {
      const { tenant } = yield* Site.Site
      const access = `${yield* make.chats}/access`
      const one = yield* person()
      const elsewhere = yield* Fixture.tenant("Elsewhere")
      const good = { member_id: one.id, access_type: "viewer" }
      yield* json("PUT", access, { is_public: false, grants: [good] })
      const before = (yield* json("GET", access)).body
      const past = new Date((yield* Clock.currentTimeMillis) - 1).toISOString()
      for (const [grants, message] of [
        [[good, { member_id: unknown, access_type: "viewer" }], /^grants\[1\]\.member_id: there is no such member/u],
        [[good, { member_id: elsewhere.adminId, access_type: "viewer" }], /^grants\[1\]\.member_id: there is no such/u],
        [[{ role_id: elsewhere.adminRole.id, access_type: "viewer" }], /^grants\[0\]\.role_id: there is no such role/u],
        [[good, { ...good, access_type: "editor" }], /^grants\[1\]/u],
        [[{ ...good, expires_at: past }], /^grants\[0\]\.expires_at: /u],
        [[{ ...good, expires_at: "soon" }], /^grants\[0\]\.expires_at: must be an RFC 3339 date-time/u],
        [[{ ...good, role_id: tenant.memberRole.id }], /^grants\[0\]: must have either member_id or role_id/u],
        [[{ access_type: "viewer" }], /^grants\[0\]: must have either member_id or role_id/u],
        [[{ ...good, access_type: "admin" }], /^grants\[0\]\.access_type: must be one of viewer, editor, owner/u],
        [[{ member_id: "ada", access_type: "viewer" }], /^grants\[0\]\.member_id: must be a UUID/u],
        ["everybody", /^grants: must be an array/u],
        [undefined, /^grants: is missing/u]
      ] as const) {
        assert.match(yield* refusal(code.invalid, "PUT", access, { is_public: true, grants }), message)
        assert.deepStrictEqual((yield* json("GET", access)).body, before)
      }
      assert.match(yield* refusal(code.invalid, "PUT", access, { grants: [] }), /^is_public: is missing/u)
    })
  )

  it.effect("of two replacements at once one stays whole, and nothing of the other", () =>
    Effect.gen(function* () {
      const access = `${yield* make.chats}/access`
      const people = yield* Effect.forEach([1, 2, 3, 4], () => person())
      const wanted = [
        { is_public: true, grants: people.slice(0, 2).map(({ id }) => ({ member_id: id, access_type: "viewer" })) },
        { is_public: false, grants: people.slice(2).map(({ id }) => ({ member_id: id, access_type: "editor" })) }
      ]
      for (let round = 0; round < 10; round++) {
        yield* Effect.forEach(wanted, (body) => json("PUT", access, body), { concurrency: "unbounded" })
        const { body } = yield* json("GET", access)
        const granted = body.grants.filter(({ member_id }: { readonly member_id?: string }) =>
          people.some(({ id }) => id === member_id)
        )
        const plain = {
          is_public: body.is_public,
          grants: granted.map(({ access_type, member_id }: Record<string, string>) => ({ member_id, access_type }))
        }
        assert.deepInclude(wanted, plain)
      }
    })
  )

  it.effect("what is not there, or has no such id, or is another organization's, is 404 for every kind", () =>
    Effect.gen(function* () {
      const { key } = yield* person()
      for (const kind of kinds) {
        for (const id of kind === "connectors" ? ["999", "01", "1e0", "-1", "x"] : [unknown, "1"]) {
          yield* refusal(code.notFound, "GET", `/v2/${kind}/${id}/access`)
          yield* refusal(code.notFound, "PUT", `/v2/${kind}/${id}/access`, privately, key)
        }
      }
    })
  )

  it.effect("a share is on the audit log, before and after", () =>
    Effect.gen(function* () {
      const path = yield* make.chats
      const one = yield* person()
      yield* json("PUT", `${path}/access`, { is_public: true, grants: [{ member_id: one.id, access_type: "viewer" }] })
      const id = path.split("/").at(-1)
      const { body } = yield* json("GET", `/v2/audit-events?action=grant&target_id=${id}`)
      assert.strictEqual(body.audit_events.length, 1)
      assert.deepInclude(body.audit_events[0], { action: "grant", target: { type: "chat", id }, outcome: "succeeded" })
      assert.strictEqual(body.audit_events[0].before.isPublic, false)
      assert.strictEqual(body.audit_events[0].after.isPublic, true)
    })
  )
})
