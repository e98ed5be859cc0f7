import type { Access } from "@castellan/core/access/Access"
import { decide, reach, readable } from "@castellan/core/access/AccessPolicy"
import { requires } from "@castellan/core/access/PermissionPolicy"
import { Credential, Principal } from "@castellan/core/access/Principal"
import * as Permission from "@castellan/core/role/Permission"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import * as SmallWorld from "@castellan/testing/fixture/SmallWorld"
import { assert, describe, it, layer } from "@effect/vitest"
import { DateTime, Effect, Equal, Schema } from "effect"

const { now } = SmallWorld

const strength = { hidden: 0, visible: 1, viewer: 2, editor: 3, owner: 4 } as const

const ask = { permission: "chat:write", access: "editor", object: "chat" } as const
const read = { permission: "chat:read", access: "viewer", object: "chat" } as const

const verdict = (...given: Parameters<typeof decide>) => {
  const decision = decide(...given)
  return decision._tag === "Allow" ? "allowed" : decision.reason
}

layer(layerCrypto)("AccessPolicy", (it) => {
  it.effect("who made an object counts by the kind of key (decisions.md §3, fullMemberAccess)", () =>
    Effect.gen(function* () {
      const organization = yield* Sample.organizationId
      const metadata = { text: '{"tenant":"a"}', attributes: { tenant: "a" } }
      const other = { text: '{"tenant":"b"}', attributes: { tenant: "b" } }
      const empty = { text: "{}", attributes: {} }
      const maker = yield* Sample.principal(organization, { clientMetadata: metadata })
      const key = maker.key?.id
      assert.isDefined(key)
      const access: Access = {
        isPublic: false,
        grants: [],
        creator: { memberId: maker.memberId, apiKeyId: key, clientMetadata: metadata }
      }
      const withoutClient: Access = {
        isPublic: false,
        grants: [],
        creator: { memberId: maker.memberId, apiKeyId: key }
      }
      const withEmpty: Access = { ...withoutClient, creator: { memberId: maker.memberId, clientMetadata: empty } }
      const mine = { memberId: maker.memberId }
      const rows: ReadonlyArray<readonly [string, Sample.PrincipalOptions, Access, string]> = [
        ["full access, another key", { ...mine }, access, "owner"],
        ["full access, another member", {}, access, "hidden"],
        ["restricted, another key, no client", { ...mine, restricted: true }, access, "hidden"],
        ["restricted, the same key", { ...mine, restricted: true, apiKeyId: key }, access, "owner"],
        ["restricted, a key rotated from it", { ...mine, restricted: true, rotatedFrom: [key] }, access, "owner"],
        ["restricted, the same client", { ...mine, restricted: true, clientMetadata: metadata }, access, "owner"],
        ["restricted, another client", { ...mine, restricted: true, clientMetadata: other }, access, "hidden"],
        ["restricted, the client of another member", { restricted: true, clientMetadata: metadata }, access, "hidden"],
        ["restricted, no client on either side", { ...mine, restricted: true }, withoutClient, "hidden"],
        ["restricted, empty clients", { ...mine, restricted: true, clientMetadata: empty }, withEmpty, "hidden"]
      ]
      for (const [name, options, of, expected] of rows) {
        assert.strictEqual(reach(yield* Sample.principal(organization, options), of, now), expected, name)
      }
      const keyless = new Principal({
        ...(yield* Sample.principal(organization, { ...mine, restricted: true })),
        credential: Credential.cases.System.make({ name: "retention" })
      })
      assert.strictEqual(reach(keyless, access, now), "hidden", "restricted, and by no key")
    })
  )

  it.effect("a grant ends at the very moment of its expiry, and the strongest in force counts", () =>
    Effect.gen(function* () {
      const organization = yield* Sample.organizationId
      const role = yield* Sample.role(organization)
      const principal = yield* Sample.principal(organization, { roles: [role] })
      const grantee = { _tag: "Member", id: principal.memberId } as const
      const toRole = { _tag: "Role", id: role.id } as const
      const at = (iso: string) => DateTime.makeUnsafe(iso)
      const rows: ReadonlyArray<readonly [Access["grants"], string]> = [
        [[], "hidden"],
        [[{ grantee, accessType: "viewer" }], "viewer"],
        [
          [
            { grantee, accessType: "viewer" },
            { grantee: toRole, accessType: "editor" }
          ],
          "editor"
        ],
        [
          [
            { grantee, accessType: "owner", expiresAt: now },
            { grantee: toRole, accessType: "viewer" }
          ],
          "viewer"
        ],
        [[{ grantee, accessType: "editor", expiresAt: at("2030-05-05T12:00:00.001Z") }], "editor"],
        [[{ grantee, accessType: "editor", expiresAt: now }], "hidden"],
        [[{ grantee, accessType: "editor", expiresAt: at("2030-05-05T11:59:59.999Z") }], "hidden"]
      ]
      for (const [grants, expected] of rows) {
        assert.strictEqual(reach(principal, { isPublic: false, grants }, now), expected)
      }
    })
  )

  it.effect("existence before permission, permission before reach", () =>
    Effect.gen(function* () {
      const organization = yield* Sample.organizationId
      const reader = yield* Sample.role(organization, { permissions: ["chat:read"] })
      const writer = yield* Sample.role(organization, { permissions: ["chat:read", "chat:write"] })
      const nobody = yield* Sample.principal(organization)
      const reading = yield* Sample.principal(organization, { roles: [reader] })
      const writing = yield* Sample.principal(organization, { roles: [writer] })
      const hidden: Access = { isPublic: false, grants: [] }
      assert.strictEqual(verdict(nobody, hidden, ask, now), "hidden")
      assert.deepStrictEqual(decide(nobody, hidden, ask, now).facts, { reach: "hidden" })
      assert.strictEqual(verdict(nobody, Sample.everyone, read, now), "permission")
      assert.strictEqual(verdict(reading, Sample.everyone, read, now), "allowed")
      assert.strictEqual(verdict(reading, Sample.everyone, ask, now), "permission")
      // A chat that is public to its organization is there to be read.
      assert.strictEqual(verdict(writing, Sample.everyone, ask, now), "access")
      assert.deepStrictEqual(decide(writing, Sample.everyone, ask, now).facts, { reach: "viewer", required: "editor" })
    })
  )

  it.effect("K20, K21, K22: shares, the flag and the admin role", () =>
    Effect.gen(function* () {
      const world = yield* SmallWorld.make
      const [admin, writer, , powerless] = world.roles
      assert.isDefined(admin)
      assert.isDefined(writer)
      assert.isDefined(powerless)
      const owner = yield* Sample.memberId
      const organization = world.organizationId
      const shared: Access = {
        isPublic: false,
        grants: [{ grantee: { _tag: "Member", id: owner }, accessType: "editor" }]
      }
      const off = yield* Sample.principal(organization, { memberId: owner, roles: [writer], restricted: true })
      assert.strictEqual(verdict(off, shared, read, now), "hidden", "K20")
      const on = yield* Sample.principal(organization, { memberId: owner, roles: [powerless] })
      assert.strictEqual(verdict(on, shared, read, now), "permission", "K21")
      const administrator = yield* Sample.principal(organization, { roles: [admin], restricted: true })
      assert.strictEqual(verdict(administrator, shared, read, now), "access", "K22")
      assert.isFalse(readable(administrator, shared, now), "K22: nor does a list show it")
    })
  )

  const drawn = { who: SmallWorld.DrawnPrincipal, what: SmallWorld.DrawnAccess }
  const runs = { arbitrary: { runs: 400 } }

  it.effect.prop(
    "L1: what nothing allows is denied",
    drawn,
    ({ what, who }) =>
      Effect.gen(function* () {
        const world = yield* SmallWorld.make
        const access = SmallWorld.accessOf(world, { ...what, isPublic: false, grants: [] })
        const stranger = yield* Sample.principal(world.organizationId, { restricted: who.restricted })
        assert.strictEqual(reach(stranger, access, now), "hidden")
        for (const permission of Permission.all) assert.strictEqual(requires(stranger, permission)._tag, "Deny")
      }),
    runs
  )

  it.effect.prop(
    "L2: a restriction only ever takes away",
    drawn,
    ({ what, who }) =>
      Effect.gen(function* () {
        const world = yield* SmallWorld.make
        const access = SmallWorld.accessOf(world, what)
        const restricted = reach(SmallWorld.principalOf(world, { ...who, restricted: true }), access, now)
        const full = reach(SmallWorld.principalOf(world, { ...who, restricted: false }), access, now)
        assert.isAtMost(strength[restricted], strength[full])
      }),
    runs
  )

  it.effect.prop(
    "L3, L4: order and duplicates do not matter, and the same question has the same answer",
    drawn,
    ({ what, who }) =>
      Effect.gen(function* () {
        const world = yield* SmallWorld.make
        const access = SmallWorld.accessOf(world, what)
        const principal = SmallWorld.principalOf(world, who)
        const shuffled: Access = { ...access, grants: [...access.grants, ...access.grants].toReversed() }
        const doubled = new Principal({ ...principal, roles: [...principal.roles, ...principal.roles].toReversed() })
        for (const need of [ask, read]) {
          const decision = decide(principal, access, need, now)
          assert.isTrue(Equal.equals(decide(doubled, shuffled, need, now), decision))
          assert.isTrue(Equal.equals(decide(principal, access, need, now), decision))
        }
      }),
    runs
  )

  it.effect.prop(
    "L6: to lose a role never turns a denial into leave",
    { ...drawn, lost: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 })) },
    ({ lost, what, who }) =>
      Effect.gen(function* () {
        const world = yield* SmallWorld.make
        const access = SmallWorld.accessOf(world, what)
        const before = SmallWorld.principalOf(world, who)
        const after = SmallWorld.principalOf(world, { ...who, roles: who.roles.toSpliced(lost, 1) })
        for (const need of [ask, read]) {
          if (decide(before, access, need, now)._tag === "Deny") {
            assert.strictEqual(decide(after, access, need, now)._tag, "Deny")
          }
        }
        for (const permission of Permission.all) {
          if (requires(before, permission)._tag === "Deny") assert.strictEqual(requires(after, permission)._tag, "Deny")
        }
        assert.isTrue(readable(before, access, now) || !readable(after, access, now))
      }),
    runs
  )
})

describe("Permission", () => {
  it("every permission is `resource:verb`, and a member's are among them", () => {
    for (const permission of Permission.all) assert.match(permission, /^[a-z]+:[a-z]+$/u)
    for (const permission of Permission.member) assert.include(Permission.all, permission)
    assert.strictEqual(new Set(Permission.member).size, Permission.member.length)
  })

  it("a member administers nothing", () => {
    const administration: ReadonlyArray<Permission.Permission> = [
      "role:write",
      "member:write",
      "organization:read",
      "organization:write",
      "audit:read",
      "connector:write"
    ]
    for (const permission of administration) assert.notInclude(Permission.member, permission)
  })
})
