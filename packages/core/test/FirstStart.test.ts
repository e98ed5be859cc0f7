import { Authentication, layer as layerAuthentication } from "@castellan/core/access/Authentication"
import * as ApiKeySecret from "@castellan/core/apikey/ApiKeySecret"
import { revoke } from "@castellan/core/apikey/ApiKeyState"
import { ApiKeyStore } from "@castellan/core/apikey/ApiKeyStore"
import { hashOf } from "@castellan/core/access/Authentication"
import { Member } from "@castellan/core/member/Member"
import { MemberStore } from "@castellan/core/member/MemberStore"
import * as Stores from "@castellan/core/memory/Stores"
import { ModelNumber } from "@castellan/core/model/Model"
import * as FirstStart from "@castellan/core/organization/FirstStart"
import { Organization } from "@castellan/core/organization/Organization"
import { OrganizationStore } from "@castellan/core/organization/OrganizationStore"
import * as Permission from "@castellan/core/role/Permission"
import { Role, RoleId, RoleOrigin } from "@castellan/core/role/Role"
import { RoleStore } from "@castellan/core/role/RoleStore"
import * as HmacSessionTokens from "@castellan/core/session/HmacSessionTokens"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option, Result } from "effect"

const everything = layerAuthentication.pipe(
  Layer.provide(HmacSessionTokens.layerMemory),
  Layer.provideMerge(Stores.layerMemory),
  Layer.provideMerge(layerCrypto)
)

const names = { organization: "Acme", adminEmail: "admin@acme.example" }

describe("the first start", () => {
  it.effect("puts an organization, its system roles, its administrator and their key in place", () =>
    Effect.gen(function* () {
      const identity = yield* FirstStart.newIdentity
      const adminKey = yield* ApiKeySecret.generate
      yield* FirstStart.establish(identity, names, adminKey)
      const admin = yield* Authentication.use((authentication) => authentication.authenticate(adminKey))
      assert.strictEqual(admin.organizationId, identity.organizationId)
      assert.strictEqual(admin.memberId, identity.adminId)
      assert.isTrue(admin.isAdmin)
      assert.isFalse(admin.restricted)
      for (const permission of Permission.all) assert.isTrue(admin.holds(permission))
      const roles = yield* RoleStore.use((store) => store.list(identity.organizationId))
      assert.deepStrictEqual(
        roles.map((role) => [role.name, role.origin._tag, role.permissions.length]),
        [
          ["admin", "System", Permission.all.length],
          ["member", "System", Permission.member.length]
        ]
      )
      const organization = yield* OrganizationStore.use((store) => store.get(identity.organizationId))
      assert.strictEqual(Option.getOrThrow(organization).name, "Acme")
      const member = yield* MemberStore.use((store) => store.get(identity.organizationId, identity.adminId))
      assert.strictEqual(Option.getOrThrow(member).email, "admin@acme.example")
    }).pipe(Effect.provide(everything))
  )

  it.effect("the administrator's key has the roles that they are given later, so that it can hand them on", () =>
    Effect.gen(function* () {
      const identity = yield* FirstStart.newIdentity
      const adminKey = yield* ApiKeySecret.generate
      yield* FirstStart.establish(identity, names, adminKey)
      const { member } = FirstStart.systemRoles(identity)
      const analyst = new Role({
        ...member,
        id: RoleId.make("01980c50-2b00-7a10-8c00-1f2e3d4c5b10"),
        name: "analyst",
        origin: RoleOrigin.cases.Custom.make({})
      })
      yield* RoleStore.use((store) => store.save(analyst))
      const held = yield* MemberStore.use((store) => store.get(identity.organizationId, identity.adminId))
      const admin = Option.getOrThrow(held)
      yield* MemberStore.use((store) => store.save(new Member({ ...admin, roles: [...admin.roles, analyst.id] })))
      const principal = yield* Authentication.use((authentication) => authentication.authenticate(adminKey))
      assert.sameMembers(
        principal.roles.map((role) => role.name),
        ["admin", "member", "analyst"]
      )
    }).pipe(Effect.provide(everything))
  )

  it.effect("a later start changes nothing of what has become of it", () =>
    Effect.gen(function* () {
      const identity = yield* FirstStart.newIdentity
      const { organizationId } = identity
      const adminKey = yield* ApiKeySecret.generate
      yield* FirstStart.establish(identity, names, adminKey)

      const hash = yield* hashOf(adminKey)
      const key = Option.getOrThrow(yield* ApiKeyStore.use((store) => store.byHash(hash)))
      const revoked = Result.getOrThrow(revoke(key, yield* DateTime.now))
      yield* ApiKeyStore.use((store) => store.save(revoked))
      const member = Option.getOrThrow(yield* MemberStore.use((store) => store.get(organizationId, identity.adminId)))
      const demoted = new Member({ ...member, roles: [identity.memberRoleId] })
      yield* MemberStore.use((store) => store.save(demoted))
      const organization = Option.getOrThrow(yield* OrganizationStore.use((store) => store.get(organizationId)))
      const renamed = new Organization({ ...organization, name: "Renamed" })
      yield* OrganizationStore.use((store) => store.save(renamed))
      const [adminRole, memberRole] = yield* RoleStore.use((store) => store.list(organizationId))
      assert.isDefined(adminRole)
      assert.isDefined(memberRole)
      const limited = new Role({
        ...memberRole,
        models: { allowModelChoice: false, allowedModels: [ModelNumber.make(1)] }
      })
      yield* RoleStore.use((store) => store.save(limited))

      yield* FirstStart.establish(identity, names, adminKey)
      assert.deepStrictEqual(yield* ApiKeyStore.use((store) => store.byHash(hash)), Option.some(revoked))
      assert.deepStrictEqual(
        yield* MemberStore.use((store) => store.get(organizationId, identity.adminId)),
        Option.some(demoted)
      )
      assert.deepStrictEqual(yield* OrganizationStore.use((store) => store.get(organizationId)), Option.some(renamed))
      assert.deepStrictEqual(yield* RoleStore.use((store) => store.list(organizationId)), [adminRole, limited])
    }).pipe(Effect.provide(everything))
  )
})
