import * as Permission from "@castellan/core/role/Permission"
import { RoleOrigin } from "@castellan/core/role/Role"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { code, json, refusal } from "../support/JsonCall.ts"
import * as Site from "../support/Site.ts"
import { person } from "./People.ts"

const unknown = "0197c0de-0000-7000-8000-000000000000"
const adminOnly = "admin role required"

const named = (things: ReadonlyArray<{ readonly name: string }>) => things.map(({ name }) => name)

layer(Site.layer(), { timeout: "180 seconds" })("roles over HTTP", (it) => {
  it.effect("a role is made without a permission, changed, given permissions, and deleted", () =>
    Effect.gen(function* () {
      const at = new Date(yield* Clock.currentTimeMillis).toISOString()
      const made = yield* json("POST", "/v2/roles", { name: " Analyst ", description: "Asks" })
      assert.strictEqual(made.status, 201)
      const { id } = made.body
      assert.deepStrictEqual(made.body, {
        id,
        name: "Analyst",
        description: "Asks",
        is_system: false,
        is_scim_managed: false,
        allow_model_choice: true,
        created_at: at,
        updated_at: at
      })
      const path = `/v2/roles/${id}`
      assert.deepStrictEqual((yield* json("GET", `${path}/permissions`)).body, { permissions: [] })
      const { models } = (yield* json("GET", "/v2/models")).body
      const model: number = models[0].model_id
      yield* TestClock.adjust("1 minute")
      const changed = yield* json("PATCH", path, {
        name: "Data analyst",
        allow_model_choice: false,
        allowed_model_ids: [model],
        default_model_id: model
      })
      assert.deepStrictEqual(changed.body, {
        ...made.body,
        name: "Data analyst",
        allow_model_choice: false,
        allowed_model_ids: [model],
        default_model_id: model,
        updated_at: new Date(yield* Clock.currentTimeMillis).toISOString()
      })
      const cleared = yield* json("PATCH", path, { default_model_id: 0, clear_allowed_model_ids: true })
      assert.notProperty(cleared.body, "default_model_id")
      assert.notProperty(cleared.body, "allowed_model_ids")
      const permissions = ["chat:read", "chat:write"]
      assert.deepStrictEqual(yield* json("PUT", `${path}/permissions`, { permissions }), {
        status: 200,
        body: { permissions }
      })
      assert.deepStrictEqual((yield* json("GET", `${path}/permissions`)).body, { permissions })
      assert.deepStrictEqual((yield* json("GET", path)).body, cleared.body)
      assert.deepStrictEqual(named((yield* json("GET", "/v2/roles")).body.roles), ["admin", "member", "Data analyst"])
      assert.deepStrictEqual(yield* json("DELETE", path), { status: 200, body: { id, success: true } })
      for (const [method, rest, body] of [
        ["GET", "", undefined],
        ["PATCH", "", {}],
        ["DELETE", "", undefined],
        ["GET", "/permissions", undefined],
        ["PUT", "/permissions", { permissions }]
      ] as const) {
        assert.strictEqual(yield* refusal(code.notFound, method, path + rest, body), "role not found")
        yield* refusal(code.notFound, method, `/v2/roles/analyst${rest}`, body)
      }
    })
  )

  it.effect("a role that is deleted is nobody's any more, and a permission that is taken works at once", () =>
    Effect.gen(function* () {
      const { tenant } = yield* Site.Site
      const role = yield* Fixture.role(tenant.organizationId, { name: "Reader", permissions: ["chat:read"] })
      const one = yield* person({ member: { roles: [role] } })
      const call = ["GET", "/v2/chats", undefined, one.key] as const
      assert.strictEqual((yield* json(...call)).status, 200)
      yield* json("PUT", `/v2/roles/${role.id}/permissions`, { permissions: [] })
      yield* refusal(code.denied, ...call)
      yield* json("PUT", `/v2/roles/${role.id}/permissions`, { permissions: ["chat:read"] })
      assert.strictEqual((yield* json(...call)).status, 200)
      yield* json("DELETE", `/v2/roles/${role.id}`)
      yield* refusal(code.denied, ...call)
      assert.deepStrictEqual((yield* json("GET", `/v2/members/${one.id}/roles`)).body, {
        member_id: one.id,
        roles: []
      })
    })
  )

  it.effect("the built-in roles stay what they are, but for their models", () =>
    Effect.gen(function* () {
      const { tenant } = yield* Site.Site
      for (const { id } of [tenant.adminRole, tenant.memberRole]) {
        const path = `/v2/roles/${id}`
        yield* refusal(code.denied, "PATCH", path, { name: "root" })
        yield* refusal(code.denied, "PUT", `${path}/permissions`, { permissions: [] })
        yield* refusal(code.denied, "DELETE", path)
        const changed = yield* json("PATCH", path, { allow_model_choice: false })
        assert.deepStrictEqual([changed.status, changed.body.allow_model_choice], [200, false])
        yield* json("PATCH", path, { allow_model_choice: true })
      }
      const all = yield* json("GET", `/v2/roles/${tenant.adminRole.id}/permissions`)
      assert.deepStrictEqual(all.body.permissions, [...Permission.all])
    })
  )

  it.effect("a role of the identity provider keeps its name and description: 403", () =>
    Effect.gen(function* () {
      const { tenant } = yield* Site.Site
      const { id, name } = yield* Fixture.role(tenant.organizationId, { origin: RoleOrigin.cases.Scim.make({}) })
      assert.isTrue((yield* json("GET", `/v2/roles/${id}`)).body.is_scim_managed)
      yield* refusal(code.denied, "PATCH", `/v2/roles/${id}`, { name: "Mine" })
      yield* refusal(code.denied, "PATCH", `/v2/roles/${id}`, { description: "Mine" })
      assert.strictEqual((yield* json("GET", `/v2/roles/${id}`)).body.name, name)
    })
  )

  it.effect.each([
    ["POST", "", {}, /^name: is missing/u],
    ["POST", "", { name: " " }, /^name: /u],
    ["POST", "", { name: "x".repeat(101) }, /^name: /u],
    ["POST", "", { name: 7 }, /^name: .*got 7$/u],
    ["POST", "", { name: "New", description: "x".repeat(1_001) }, /^description: /u],
    ["PATCH", "/role", { name: "" }, /^name: /u],
    ["PATCH", "/role", { allowed_model_ids: [] }, /^allowed_model_ids: /u],
    ["PATCH", "/role", { allowed_model_ids: ["1"] }, /^allowed_model_ids\[0\]: /u],
    ["PATCH", "/role", { allowed_model_ids: [999] }, /allowed_model_ids: there is no model 999$/u],
    ["PATCH", "/role", { default_model_id: -1 }, /^default_model_id: /u],
    ["PATCH", "/role", { default_model_id: 1.5 }, /^default_model_id: /u],
    ["PATCH", "/role", { allowed_model_ids: [1], clear_allowed_model_ids: true }, /^clear_allowed_model_ids: /u],
    ["PATCH", "/role", { allow_model_choice: "no" }, /^allow_model_choice: /u],
    ["PUT", "/role/permissions", { permissions: ["chat:own"] }, /^permissions\[0\]: must be a permission/u],
    ["PUT", "/role/permissions", {}, /^permissions: is missing/u]
  ] as const)("%s /v2/roles%s %j is 400 and names the field", ([method, place, body, message]) =>
    Effect.gen(function* () {
      const { tenant } = yield* Site.Site
      const { id } = yield* Fixture.role(tenant.organizationId)
      const before = yield* json("GET", "/v2/roles")
      const path = `/v2/roles${place.replace("role", id)}`
      assert.match(yield* refusal(code.invalid, method, path, body), message)
      assert.deepStrictEqual(yield* json("GET", "/v2/roles"), before)
    })
  )

  it.effect("two roles do not have one name: 409", () =>
    Effect.gen(function* () {
      const { tenant } = yield* Site.Site
      const { id } = yield* Fixture.role(tenant.organizationId)
      assert.match(yield* refusal(code.conflict, "POST", "/v2/roles", { name: "admin" }), /exists already$/u)
      assert.match(yield* refusal(code.conflict, "PATCH", `/v2/roles/${id}`, { name: "member" }), /exists already$/u)
    })
  )

  it.effect("nobody but an administrator has to do with roles, and nobody grants what they do not hold", () =>
    Effect.gen(function* () {
      const { tenant } = yield* Site.Site
      const { key } = yield* person()
      const { id } = yield* Fixture.role(tenant.organizationId)
      const path = `/v2/roles/${id}`
      for (const [method, place, body] of [
        ["GET", "/v2/roles", undefined],
        ["POST", "/v2/roles", { name: "Mine" }],
        ["GET", path, undefined],
        ["PATCH", path, { description: "Mine" }],
        ["DELETE", path, undefined],
        ["GET", `${path}/permissions`, undefined],
        ["PUT", `${path}/permissions`, { permissions: ["chat:read"] }]
      ] as const) {
        assert.strictEqual(yield* refusal(code.denied, method, place, body, key), adminOnly, `${method} ${place}`)
      }
      // What is not there is so for everybody: existence comes before permission.
      yield* refusal(code.notFound, "GET", `/v2/roles/${unknown}`, undefined, key)
      const keeper = yield* Fixture.role(tenant.organizationId, { permissions: ["role:write", "chat:read"] })
      const one = yield* person({ member: { roles: [keeper] } })
      const put = (permissions: ReadonlyArray<string>) =>
        ["PUT", `${path}/permissions`, { permissions }, one.key] as const
      assert.strictEqual((yield* json(...put(["chat:read"]))).status, 200)
      assert.strictEqual(
        yield* refusal(code.denied, ...put(["chat:read", "audit:read"])),
        "permission denied: you do not hold audit:read"
      )
      assert.deepStrictEqual((yield* json("GET", `${path}/permissions`)).body, { permissions: ["chat:read"] })
    })
  )

  it.effect("roles of another organization are not there", () =>
    Effect.gen(function* () {
      const elsewhere = yield* Fixture.tenant("Elsewhere")
      const path = `/v2/roles/${elsewhere.memberRole.id}`
      for (const method of ["GET", "PATCH", "DELETE"]) {
        yield* refusal(code.notFound, method, path, method === "PATCH" ? { description: "" } : undefined)
      }
      const { id } = yield* person()
      const assignment = { roleId: elsewhere.adminRole.id }
      assert.strictEqual(yield* refusal(code.notFound, "POST", `/v2/members/${id}/roles`, assignment), "role not found")
      yield* refusal(code.notFound, "POST", `/v2/members/${elsewhere.adminId}/roles`, assignment)
    })
  )
})

layer(Site.layer(), { timeout: "180 seconds" })("members over HTTP", (it) => {
  const list = (key?: string) => Effect.map(json("GET", "/v2/members", undefined, key), ({ body }) => body.members)

  it.effect("whoever is invited is there, with a role; deactivated they are not; invited again they start anew", () =>
    Effect.gen(function* () {
      const { tenant } = yield* Site.Site
      const at = new Date(yield* Clock.currentTimeMillis).toISOString()
      const email = "ada@example.com"
      assert.deepStrictEqual(yield* json("POST", "/v2/members/invite", { email }), {
        status: 200,
        body: { success: true }
      })
      const found = (yield* list()).find((member: { readonly email: string }) => member.email === email)
      assert.deepStrictEqual(found, {
        id: found.id,
        email,
        roles: ["member"],
        is_admin: false,
        is_service_account: false,
        is_scim_managed: false,
        created_at: at
      })
      yield* refusal(code.conflict, "POST", "/v2/members/invite", { email })
      const roles = `/v2/members/${found.id}/roles`
      yield* json("POST", roles, { roleId: tenant.adminRole.id })
      const path = `/v2/members/${found.id}`
      assert.deepStrictEqual(yield* json("DELETE", path), { status: 200, body: { id: found.id, success: true } })
      assert.notInclude(JSON.stringify(yield* list()), email)
      yield* refusal(code.conflict, "DELETE", path)
      yield* refusal(code.conflict, "POST", roles, { roleId: tenant.memberRole.id })
      yield* json("POST", "/v2/members/invite", { email, role: "member" })
      const again = (yield* list()).find((member: { readonly email: string }) => member.email === email)
      assert.deepStrictEqual([again.id, again.roles], [found.id, ["member"]])
      assert.strictEqual((yield* json("DELETE", `${path}?hard_delete=true`)).status, 200)
      yield* refusal(code.notFound, "DELETE", path)
      yield* refusal(code.notFound, "GET", roles)
    })
  )

  it.effect("somebody is invited to a role by its name or its id", () =>
    Effect.gen(function* () {
      const { tenant } = yield* Site.Site
      const role = yield* Fixture.role(tenant.organizationId, { name: "Guest" })
      for (const [email, wanted] of [
        ["one@example.com", "Guest"],
        ["two@example.com", role.id]
      ]) {
        yield* json("POST", "/v2/members/invite", { email, role: wanted })
        const found = (yield* list()).find((member: { readonly email: string }) => member.email === email)
        assert.deepStrictEqual(found.roles, ["Guest"])
      }
      const nobody = { email: "three@example.com", role: "Nobody" }
      assert.strictEqual(yield* refusal(code.notFound, "POST", "/v2/members/invite", nobody), "role not found")
      assert.notInclude(JSON.stringify(yield* list()), "three@example.com")
    })
  )

  it.effect("a member that is removed can do nothing from then on, by no credential (K33)", () =>
    Effect.gen(function* () {
      const one = yield* person()
      const { token } = (yield* json("POST", "/v2/sessions", undefined, one.key)).body
      yield* json("DELETE", `/v2/members/${one.id}`)
      const call = ["GET", "/v2/chats", undefined] as const
      assert.strictEqual(yield* refusal(code.unauthenticated, ...call, one.key), "invalid API key: API key not found")
      assert.strictEqual(yield* refusal(code.unauthenticated, ...call, token), "invalid or expired token")
    })
  )

  it.effect("a service account starts without a role, and has no name of another", () =>
    Effect.gen(function* () {
      const made = yield* json("POST", "/v2/members/service-accounts", { name: "Nightly" })
      assert.strictEqual(made.status, 201)
      assert.deepInclude(made.body, { name: "Nightly", roles: [], is_service_account: true, is_admin: false })
      assert.deepInclude([...(yield* list())], made.body)
      yield* refusal(code.invalid, "POST", "/v2/members/service-accounts", { name: "" })
    })
  )

  it.effect("roles are assigned and taken; one that is not held is not found; the last admin stays", () =>
    Effect.gen(function* () {
      const { tenant } = yield* Site.Site
      const one = yield* person({ member: { roles: [] } })
      const path = `/v2/members/${one.id}/roles`
      const answer = { status: 200, body: { member_id: one.id, role_id: tenant.memberRole.id, success: true } }
      const assign = () => json("POST", path, { roleId: tenant.memberRole.id })
      assert.deepStrictEqual(yield* assign(), answer)
      assert.deepStrictEqual(yield* assign(), answer)
      const held = yield* json("GET", path, undefined, one.key)
      assert.strictEqual(held.body.member_id, one.id)
      assert.deepStrictEqual(named(held.body.roles), ["member"])
      const taken = () => json("DELETE", `${path}/${tenant.memberRole.id}`)
      assert.deepStrictEqual(yield* taken(), answer)
      assert.deepStrictEqual([(yield* taken()).status, (yield* json("GET", path)).body.roles], [404, []])
      const last = "the member is the last admin of the organization"
      const admin = `/v2/members/${tenant.adminId}`
      assert.strictEqual(yield* refusal(code.conflict, "DELETE", `${admin}/roles/${tenant.adminRole.id}`), last)
      assert.strictEqual(yield* refusal(code.conflict, "DELETE", admin), last)
      assert.strictEqual(yield* refusal(code.conflict, "DELETE", `${admin}?hard_delete=true`), last)
      assert.strictEqual((yield* list())[0].is_admin, true)
    })
  )

  it.effect("two administrators who remove each other at once do not both succeed", () =>
    Effect.gen(function* () {
      const { tenant } = yield* Site.Site
      const [one, other] = [
        yield* person({ member: { roles: [tenant.adminRole] } }),
        yield* person({ member: { roles: [tenant.adminRole] } })
      ]
      // The first administrator steps back, so that these two are all.
      const own = `/v2/members/${tenant.adminId}/roles`
      assert.strictEqual((yield* json("DELETE", `${own}/${tenant.adminRole.id}`)).status, 200)
      const removed = yield* Effect.all(
        [
          json("DELETE", `/v2/members/${other.id}`, undefined, one.key),
          json("DELETE", `/v2/members/${one.id}`, undefined, other.key)
        ],
        { concurrency: "unbounded" }
      )
      const left = removed[0].status === 200 ? one : other
      assert.strictEqual(removed.filter(({ status }) => status === 200).length, 1)
      assert.strictEqual((yield* json("POST", own, { roleId: tenant.adminRole.id }, left.key)).status, 200)
    })
  )

  it.effect("nobody but an administrator has to do with others; one's own roles everybody sees", () =>
    Effect.gen(function* () {
      const { tenant } = yield* Site.Site
      const [one, other] = [yield* person(), yield* person()]
      const path = `/v2/members/${other.id}`
      for (const [method, place, body] of [
        ["GET", "/v2/members", undefined],
        ["POST", "/v2/members/invite", { email: "eve@example.com" }],
        ["POST", "/v2/members/service-accounts", { name: "Mine" }],
        ["DELETE", path, undefined],
        ["GET", `${path}/roles`, undefined],
        ["POST", `${path}/roles`, { roleId: tenant.memberRole.id }],
        ["DELETE", `${path}/roles/${tenant.memberRole.id}`, undefined]
      ] as const) {
        assert.strictEqual(yield* refusal(code.denied, method, place, body, one.key), adminOnly, `${method} ${place}`)
      }
      assert.strictEqual((yield* json("GET", `/v2/members/${one.id}/roles`, undefined, one.key)).status, 200)
      // K23: an administrator's key without the role is no administrator's.
      const keyOfMember = (yield* json("POST", "/v2/api-keys", { assumedRoles: [tenant.memberRole.id] })).body.key
      assert.strictEqual(yield* refusal(code.denied, "GET", "/v2/members", undefined, keyOfMember), adminOnly)
    })
  )

  it.effect.each([
    ["/invite", {}, /^email: is missing/u],
    ["/invite", { email: "ada" }, /^email: must be an e-mail address/u],
    ["/invite", { email: "ada@example.com", role: "" }, /^role: /u],
    ["/service-accounts", { name: "x".repeat(101) }, /^name: /u],
    ["/0197c0de-0000-7000-8000-000000000000/roles", {}, /^roleId: is missing/u],
    ["/0197c0de-0000-7000-8000-000000000000/roles", { role_id: unknown }, /^roleId: is missing/u],
    ["/0197c0de-0000-7000-8000-000000000000/roles", { roleId: "admin" }, /^roleId: must be a UUID/u]
  ] as const)("POST /v2/members%s %j is 400 and names the field", ([place, body, message]) =>
    Effect.gen(function* () {
      assert.match(yield* refusal(code.invalid, "POST", `/v2/members${place}`, body), message)
    })
  )

  it.effect("a malformed id is not found, and a malformed flag is 400", () =>
    Effect.gen(function* () {
      yield* refusal(code.notFound, "DELETE", "/v2/members/ada")
      yield* refusal(code.notFound, "DELETE", `/v2/members/${unknown}/roles/admin`)
      const { id } = yield* person()
      assert.match(yield* refusal(code.invalid, "DELETE", `/v2/members/${id}?hard_delete=1`), /^hard_delete: /u)
    })
  )
})
