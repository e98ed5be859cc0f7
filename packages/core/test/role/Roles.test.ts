import { MemberStore } from "@castellan/core/member/MemberStore"
import { ModelNumber } from "@castellan/core/model/Model"
import { type Role, RoleId, RoleOrigin } from "@castellan/core/role/Role"
import { Roles } from "@castellan/core/role/Roles"
import { RoleStore } from "@castellan/core/role/RoleStore"
import { ScimGroupTarget } from "@castellan/core/scim/ScimGroupMapping"
import { ScimGroupMappingStore } from "@castellan/core/scim/ScimGroupMappingStore"
import { as, audited, failure, trail } from "@castellan/testing/fixture/Acting"
import * as AdministrationSample from "@castellan/testing/fixture/AdministrationSample"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { TestClock } from "effect/testing"

const scene = Effect.gen(function* () {
  const tenant = yield* Fixture.tenant()
  const other = yield* Fixture.tenant("Globex")
  const steward = yield* Fixture.role(tenant.organizationId, {
    name: "steward",
    permissions: ["role:write", "chat:read"]
  })
  return {
    tenant,
    admin: Fixture.adminOf(tenant),
    foreignAdmin: Fixture.adminOf(other),
    foreignRole: other.memberRole,
    steward: yield* Fixture.someone(tenant, { roles: [steward] }),
    somebody: yield* Fixture.someone(tenant)
  }
})

const deployment = Deployment.layer()

const stored = (role: Pick<Role, "id" | "organizationId">) =>
  RoleStore.use((store) => store.get(role.organizationId, role.id))

describe("Roles", () => {
  it.effect("makes a role without a permission, and says so in the audit log", () =>
    Effect.gen(function* () {
      const { admin, tenant } = yield* scene
      yield* TestClock.adjust("1 minute")
      const role = yield* as(admin)(Roles.use((roles) => roles.create({ name: " Data team ", description: "d" })))
      assert.deepStrictEqual(
        [role.name, role.description, role.permissions, role.origin._tag, role.organizationId, role.models],
        ["Data team", "d", [], "Custom", tenant.organizationId, { allowModelChoice: true }]
      )
      assert.deepStrictEqual(yield* stored(role), Option.some(role))
      const [event, ...more] = yield* audited(tenant.organizationId)
      assert.isEmpty(more)
      assert.deepStrictEqual(
        [event?.action, event?.target, event?.actor.memberId, event?.before, event?.after, event?.outcome._tag],
        [
          "create",
          { type: "role", id: role.id },
          admin.memberId,
          undefined,
          { name: "Data team", description: "d", permissions: [], allowModelChoice: true },
          "Succeeded"
        ]
      )
    }).pipe(Effect.provide(deployment))
  )

  it.effect("a name is there once in an organization, also when two ask at once", () =>
    Effect.gen(function* () {
      const { admin, foreignAdmin, tenant } = yield* scene
      const create = (name: string) => Roles.use((roles) => roles.create({ name }))
      const outcomes = yield* Effect.all([failure(create("twin")), failure(create("twin "))], {
        concurrency: "unbounded"
      }).pipe(as(admin))
      assert.sameMembers(outcomes, ["succeeds", 'Conflict: a role named "twin" exists already'])
      assert.strictEqual(yield* as(admin)(failure(create("member"))), 'Conflict: a role named "member" exists already')
      assert.strictEqual(yield* as(foreignAdmin)(failure(create("twin"))), "succeeds")
      const role = yield* Fixture.role(tenant.organizationId, { name: "single" })
      assert.strictEqual(
        yield* as(admin)(failure(Roles.use((roles) => roles.patch(role.id, { name: " twin", description: "d" })))),
        'Conflict: a role named "twin" exists already'
      )
      assert.deepStrictEqual(yield* stored(role), Option.some(role))
      assert.deepStrictEqual(yield* trail(tenant.organizationId), ["create role"])
    }).pipe(Effect.provide(deployment))
  )

  it.effect("changes a part, and leaves the rest", () =>
    Effect.gen(function* () {
      const { admin, tenant } = yield* scene
      const role = yield* Fixture.role(tenant.organizationId, { name: "old", permissions: ["chat:read"] })
      yield* TestClock.adjust("1 minute")
      const patched = yield* as(admin)(
        Roles.use((roles) =>
          roles.patch(role.id, { name: "new", defaultModel: ModelNumber.make(1), allowedModels: [ModelNumber.make(1)] })
        )
      )
      assert.deepStrictEqual(
        { ...patched, updatedAt: role.updatedAt },
        { ...role, name: "new", models: { allowModelChoice: true, defaultModel: 1, allowedModels: [1] } }
      )
      assert.notDeepEqual(patched.updatedAt, role.updatedAt)
      const cleared = yield* as(admin)(
        Roles.use((roles) => roles.patch(role.id, { defaultModel: 0, clearAllowedModels: true }))
      )
      assert.deepStrictEqual(cleared.models, { allowModelChoice: true })
      assert.deepStrictEqual(yield* stored(role), Option.some(cleared))
      assert.deepStrictEqual(yield* trail(tenant.organizationId), ["update role", "update role"])
      const [first] = yield* audited(tenant.organizationId)
      assert.deepStrictEqual(
        [first?.before, first?.after],
        [
          { name: "old", description: "", permissions: ["chat:read"], allowModelChoice: true },
          {
            name: "new",
            description: "",
            permissions: ["chat:read"],
            allowModelChoice: true,
            defaultModel: 1,
            allowedModels: [1]
          }
        ]
      )
    }).pipe(Effect.provide(deployment))
  )

  it.effect("a patch that changes nothing leaves nothing in the audit log", () =>
    Effect.gen(function* () {
      const { admin, tenant } = yield* scene
      yield* TestClock.adjust("1 minute")
      const same = yield* as(admin)(
        Roles.use((roles) => roles.patch(tenant.memberRole.id, { name: "member", allowModelChoice: true }))
      )
      assert.deepStrictEqual(same, tenant.memberRole)
      assert.deepStrictEqual(yield* trail(tenant.organizationId), [])
    }).pipe(Effect.provide(deployment))
  )

  it.effect("a system role's models can be configured, and it keeps its name", () =>
    Effect.gen(function* () {
      const { admin, tenant } = yield* scene
      const patch = (name: string) =>
        Roles.use((roles) => roles.patch(tenant.memberRole.id, { name, allowModelChoice: false }))
      assert.strictEqual(
        yield* as(admin)(failure(patch("people"))),
        "PermissionDenied: permission denied: a system role cannot be renamed"
      )
      assert.deepStrictEqual(yield* stored(tenant.memberRole), Option.some(tenant.memberRole), "all of it or nothing")
      assert.isFalse((yield* as(admin)(patch("member"))).models.allowModelChoice)
      assert.deepStrictEqual(yield* trail(tenant.organizationId), ["update role refused", "update role"])
    }).pipe(Effect.provide(deployment))
  )

  it.effect("refuses what cannot be, in the order of the checks, and then changes nothing", () =>
    Effect.gen(function* () {
      const { admin, foreignRole, somebody, steward, tenant } = yield* scene
      const scim = yield* Fixture.role(tenant.organizationId, { name: "scim", origin: RoleOrigin.cases.Scim.make({}) })
      const before = yield* RoleStore.use((store) => store.list(tenant.organizationId))
      const roles = yield* Roles
      const unknown = RoleId.make("01890000-0000-7000-8000-000000000000")
      const adminRequired = "PermissionDenied: admin role required"
      const cases: ReadonlyArray<readonly [string, Effect.Effect<string>, string]> = [
        ["list", as(somebody)(failure(roles.list)), adminRequired],
        ["get", as(somebody)(failure(roles.get(scim.id))), adminRequired],
        ["get unknown", as(admin)(failure(roles.get(unknown))), "NotFound: role not found"],
        ["get foreign", as(admin)(failure(roles.get(foreignRole.id))), "NotFound: role not found"],
        ["create", as(somebody)(failure(roles.create({ name: "x" }))), adminRequired],
        [
          "create, malformed",
          as(somebody)(failure(roles.create({ name: " " }))),
          "InvalidRequest: name: must have 1 to 100 characters"
        ],
        ["patch", as(somebody)(failure(roles.patch(scim.id, {}))), adminRequired],
        ["patch unknown", as(somebody)(failure(roles.patch(unknown, {}))), "NotFound: role not found"],
        [
          "patch, malformed",
          as(somebody)(failure(roles.patch(unknown, { name: "" }))),
          "InvalidRequest: name: must have 1 to 100 characters"
        ],
        [
          "patch, taken",
          as(admin)(failure(roles.patch(tenant.memberRole.id, { name: "steward" }))),
          "PermissionDenied: permission denied: a system role cannot be renamed"
        ],
        [
          "patch to no model",
          as(admin)(failure(roles.patch(scim.id, { defaultModel: ModelNumber.make(7) }))),
          "InvalidRequest: default_model_id, allowed_model_ids: there is no model 7"
        ],
        [
          "patch to no models",
          as(admin)(failure(roles.patch(scim.id, { allowedModels: [ModelNumber.make(1), ModelNumber.make(9)] }))),
          "InvalidRequest: default_model_id, allowed_model_ids: there is no model 9"
        ],
        [
          "rename by SCIM's leave",
          as(admin)(failure(roles.patch(scim.id, { name: "mine" }))),
          "PermissionDenied: permission denied: a role that the identity provider keeps cannot be renamed"
        ],
        ["permissions", as(somebody)(failure(roles.setPermissions(scim.id, []))), adminRequired],
        [
          "permissions not held",
          as(steward)(failure(roles.setPermissions(scim.id, ["chat:read", "audit:read"]))),
          "PermissionDenied: permission denied: you do not hold audit:read"
        ],
        [
          "permissions of a system role",
          as(admin)(failure(roles.setPermissions(tenant.memberRole.id, []))),
          "PermissionDenied: permission denied: a system role cannot be given other permissions"
        ],
        ["remove", as(somebody)(failure(roles.remove(scim.id))), adminRequired],
        [
          "remove a system role",
          as(admin)(failure(roles.remove(tenant.adminRole.id))),
          "PermissionDenied: permission denied: a system role cannot be deleted"
        ],
        ["remove foreign", as(admin)(failure(roles.remove(foreignRole.id))), "NotFound: role not found"]
      ]
      for (const [name, attempt, expected] of cases) assert.strictEqual(yield* attempt, expected, name)
      assert.deepStrictEqual(yield* RoleStore.use((store) => store.list(tenant.organizationId)), before)
      const events = yield* audited(tenant.organizationId)
      assert.strictEqual(events.length, cases.filter(([, , text]) => text.startsWith("PermissionDenied")).length)
      assert.isTrue(events.every((event) => event.outcome._tag === "Refused"))
    }).pipe(Effect.provide(deployment))
  )

  it.effect("gives a role the permissions that the caller holds, each once", () =>
    Effect.gen(function* () {
      const { steward, tenant } = yield* scene
      const role = yield* Fixture.role(tenant.organizationId, { permissions: ["audit:read"] })
      const next = yield* as(steward)(
        Roles.use((roles) => roles.setPermissions(role.id, ["chat:read", "audit:read", "chat:read"]))
      )
      assert.deepStrictEqual(next.permissions, ["chat:read", "audit:read"])
      assert.deepStrictEqual(yield* stored(role), Option.some(next))
      assert.deepStrictEqual(yield* trail(tenant.organizationId), ["grant role"])
    }).pipe(Effect.provide(deployment))
  )

  it.effect("a deleted role is nobody's any more", () =>
    Effect.gen(function* () {
      const { admin, tenant } = yield* scene
      const role = yield* Fixture.role(tenant.organizationId, { name: "gone" })
      const holder = yield* Fixture.member(tenant.organizationId, { roles: [tenant.memberRole, role] })
      yield* as(admin)(Roles.use((roles) => roles.remove(role.id)))
      assert.deepStrictEqual(yield* stored(role), Option.none())
      const after = yield* MemberStore.use((store) => store.get(tenant.organizationId, holder.id))
      assert.deepStrictEqual(Option.getOrThrow(after).roles, [tenant.memberRole.id])
      const [event] = yield* audited(tenant.organizationId)
      assert.deepStrictEqual(event?.before, {
        name: "gone",
        description: "",
        permissions: [],
        allowModelChoice: true,
        members: [holder.id]
      })
    }).pipe(Effect.provide(deployment))
  )

  it.effect("a role that a SCIM group gives is not deleted", () =>
    Effect.gen(function* () {
      const { admin, tenant } = yield* scene
      const role = yield* Fixture.role(tenant.organizationId, { origin: RoleOrigin.cases.Scim.make({}) })
      const mapping = yield* AdministrationSample.scimGroupMapping(tenant.organizationId, {
        group: "Analysts",
        target: ScimGroupTarget.cases.Role.make({ id: role.id })
      })
      yield* ScimGroupMappingStore.use((store) => store.save(mapping))
      assert.strictEqual(
        yield* as(admin)(failure(Roles.use((roles) => roles.remove(role.id)))),
        "Conflict: the role is given by SCIM groups: Analysts"
      )
      assert.isTrue(Option.isSome(yield* stored(role)))
    }).pipe(Effect.provide(deployment))
  )

  it.effect("lists the roles of the caller's organization", () =>
    Effect.gen(function* () {
      const { admin, foreignAdmin, steward } = yield* scene
      const names = Roles.use((roles) => Effect.map(roles.list, (all) => all.map((role) => role.name)))
      assert.deepStrictEqual(yield* as(admin)(names), ["admin", "member", "steward"])
      assert.deepStrictEqual(yield* as(steward)(names), ["admin", "member", "steward"])
      assert.deepStrictEqual(yield* as(foreignAdmin)(names), ["admin", "member"])
    }).pipe(Effect.provide(deployment))
  )
})
