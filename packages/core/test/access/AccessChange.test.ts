import * as AccessChange from "@castellan/core/access/AccessChange"
import { inForce, ownership, reach, share } from "@castellan/core/access/AccessPolicy"
import { Principal } from "@castellan/core/access/Principal"
import { Role } from "@castellan/core/role/Role"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as SmallWorld from "@castellan/testing/fixture/SmallWorld"
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Equal, Result } from "effect"

const { now } = SmallWorld

const need = { permission: "chat:write", object: "chat" } as const

const drawn = {
  who: SmallWorld.DrawnPrincipal,
  current: SmallWorld.DrawnAccess,
  wanted: SmallWorld.DrawnAccess,
  reader: SmallWorld.DrawnPrincipal
}

/** A principal, an access, and another one that is asked for in which every grantee is named once. */
const situation = (given: { readonly [Name in keyof typeof drawn]: (typeof drawn)[Name]["Type"] }) =>
  Effect.gen(function* () {
    const world = yield* SmallWorld.make
    const principal = SmallWorld.principalOf(world, given.who)
    const current = SmallWorld.accessOf(world, given.current)
    const asked = SmallWorld.accessOf(world, given.wanted)
    const grants = asked.grants.filter(
      (grant, index) => asked.grants.findIndex((other) => other.grantee.id === grant.grantee.id) === index
    )
    const wanted: AccessChange.WantedAccess = { isPublic: asked.isPublic, grants }
    return { principal, current, wanted, reader: SmallWorld.principalOf(world, given.reader) }
  })

layer(layerCrypto)("AccessChange", (it) => {
  it.effect.prop(
    "who owns an object owns it after they shared it, who made it does not change, and to ask twice is to ask once",
    drawn,
    (given) =>
      Effect.gen(function* () {
        const { current, principal, wanted } = yield* situation(given)
        if (reach(principal, current, now) !== "owner") return
        const outcome = AccessChange.replace(principal, current, wanted, now)
        if (Result.isFailure(outcome)) return
        const next = outcome.success
        assert.strictEqual(reach(principal, next, now), "owner")
        assert.deepStrictEqual(next.creator, current.creator)
        assert.strictEqual(next.isPublic, wanted.isPublic)
        const again = Result.getOrThrow(AccessChange.replace(principal, next, wanted, now))
        assert.isTrue(Equal.equals(again, next))
        // Nothing is there that was neither asked for nor the caller's own way of owning it.
        for (const grant of next.grants) {
          const asked = wanted.grants.some((one) => one.grantee.id === grant.grantee.id)
          const own = grant.accessType === "owner" && current.grants.includes(grant)
          assert.isTrue(asked || own)
          assert.isTrue(grant.grantedBy === principal.memberId || current.grants.includes(grant))
        }
        for (const asked of wanted.grants) {
          assert.isTrue(next.grants.some((grant) => Equal.equals(grant.grantee, asked.grantee)))
        }
      }),
    { arbitrary: { runs: 600 } }
  )

  it.effect.prop(
    "L1, L5: nobody comes to own an object, or to see it, for longer than whoever shared it owns it",
    drawn,
    (given) =>
      Effect.gen(function* () {
        const { current, principal, reader, wanted } = yield* situation(given)
        const mine = ownership(principal, current, now)
        const outcome = AccessChange.replace(principal, current, wanted, now)
        if (mine._tag !== "Until" || Result.isFailure(outcome)) return
        const later = mine.at
        const before = reach(reader, { ...current, isPublic: current.isPublic }, later)
        const after = reach(reader, outcome.success, later)
        const strength = { hidden: 0, visible: 1, viewer: 2, editor: 3, owner: 4 }
        assert.isAtMost(strength[after], strength[before])
      }),
    { arbitrary: { runs: 600 } }
  )

  it.effect.prop(
    "only an owner shares, or an administrator what nobody owns",
    drawn,
    (given) =>
      Effect.gen(function* () {
        const { current, principal } = yield* situation(given)
        const allowed = share(principal, current, need, now)._tag === "Allow"
        const owns = reach(principal, current, now) === "owner"
        const owned =
          current.creator !== undefined ||
          current.grants.some((grant) => grant.accessType === "owner" && inForce(grant, now))
        const expected = (owns && principal.holds("chat:write")) || (principal.isAdmin && !owned)
        assert.strictEqual(allowed, expected)
        assert.strictEqual(ownership(principal, current, now)._tag !== "None", owns)
      }),
    { arbitrary: { runs: 600 } }
  )

  it.effect("who owns by a role alone keeps that role's grant, and nobody else's", () =>
    Effect.gen(function* () {
      const world = yield* SmallWorld.make
      const base = { member: 0, key: 0, rotated: false, roles: [1], restricted: false, client: 0 }
      const principal = SmallWorld.principalOf(world, base)
      const [, role, another] = world.roles
      const [, other] = world.members
      assert.isDefined(role)
      assert.isDefined(another)
      assert.isDefined(other)
      const mine = { grantee: { _tag: "Role", id: role.id }, accessType: "owner" } as const
      const others = [
        { grantee: { _tag: "Role", id: another.id }, accessType: "owner" },
        { grantee: { _tag: "Member", id: other }, accessType: "owner" }
      ] as const
      const current = { isPublic: false, grants: [...others, mine] }
      const next = AccessChange.replace(principal, current, { isPublic: true, grants: [] }, now)
      assert.deepStrictEqual(Result.getOrThrow(next), { isPublic: true, grants: [mine] })
    })
  )

  it.effect("who owns twice over, once for a time and once for good, goes on owning it for good", () =>
    Effect.gen(function* () {
      const world = yield* SmallWorld.make
      const base = { member: 2, key: 0, rotated: false, roles: [], restricted: false, client: 0 }
      const principal = SmallWorld.principalOf(world, base)
      const grantee = { _tag: "Member", id: principal.memberId } as const
      const forAWhile = { grantee, accessType: "owner", expiresAt: DateTime.add(now, { milliseconds: 1 }) } as const
      const forGood = { grantee, accessType: "owner" } as const
      const wanted = { isPublic: false, grants: [{ grantee, accessType: "editor" } as const] }
      const current = { isPublic: false, grants: [forAWhile, forGood] }
      const next = Result.getOrThrow(AccessChange.replace(principal, current, wanted, now))
      assert.deepStrictEqual(next.grants, [forGood])
      assert.deepStrictEqual(Result.getOrThrow(AccessChange.replace(principal, next, wanted, now)), next)
    })
  )

  it.effect("an owner for a time who asks for their own role again is answered the same the second time", () =>
    Effect.gen(function* () {
      const world = yield* SmallWorld.make
      const base = { member: 0, key: 0, rotated: false, roles: [1], restricted: false, client: 0 }
      const principal = SmallWorld.principalOf(world, base)
      const [, role, another] = world.roles
      assert.isDefined(role)
      assert.isDefined(another)
      const grantee = { _tag: "Role", id: role.id } as const
      const owner = { grantee, accessType: "owner", expiresAt: DateTime.add(now, { hours: 1 }) } as const
      const editor = { grantee, accessType: "editor" } as const
      const wanted = { isPublic: false, grants: [editor] }
      // What stays is the ownership: the share that was asked for is not there to be compared with any more.
      const next = Result.getOrThrow(
        AccessChange.replace(principal, { isPublic: false, grants: [owner, editor] }, wanted, now)
      )
      assert.deepStrictEqual(next.grants, [owner])
      assert.deepStrictEqual(Result.getOrThrow(AccessChange.replace(principal, next, wanted, now)), next)
      // To somebody else, it is a share that lasts longer.
      const elsewhere = { isPublic: false, grants: [{ ...editor, grantee: { _tag: "Role", id: another.id } as const }] }
      assert.isTrue(Result.isFailure(AccessChange.replace(principal, next, elsewhere, now)))
    })
  )

  it.effect("an owner for a time says for how long, and leaves what is public public", () =>
    Effect.gen(function* () {
      const world = yield* SmallWorld.make
      const principal = SmallWorld.principalOf(world, {
        member: 0,
        key: 0,
        rotated: false,
        roles: [1],
        restricted: false,
        client: 0
      })
      const expiresAt = DateTime.add(now, { hours: 1 })
      const mine = { grantee: { _tag: "Member", id: principal.memberId }, accessType: "owner", expiresAt } as const
      const change = (before: boolean, after: boolean) =>
        AccessChange.replace(principal, { isPublic: before, grants: [mine] }, { isPublic: after, grants: [] }, now)
      assert.deepStrictEqual(Result.getOrThrow(Result.flip(change(false, true))).facts, {
        until: "2030-05-05T13:00:00.000Z"
      })
      assert.isTrue(Result.getOrThrow(change(true, true)).isPublic)
      assert.isFalse(Result.getOrThrow(change(true, false)).isPublic)
    })
  )

  it.effect("what nobody owns is an administrator's to share, with the permission", () =>
    Effect.gen(function* () {
      const world = yield* SmallWorld.make
      const [admin] = world.roles
      assert.isDefined(admin)
      const administrator = SmallWorld.principalOf(world, {
        member: 0,
        key: 0,
        rotated: false,
        roles: [0],
        restricted: true,
        client: 0
      })
      const nobodys = { isPublic: false, grants: [] }
      const decision = share(administrator, nobodys, need, now)
      assert.deepStrictEqual([decision._tag, decision.reason], ["Allow", "administrator"])
      assert.deepStrictEqual(decision.facts, { permission: "chat:write" })
      const powerless = new Principal({ ...administrator, roles: [new Role({ ...admin, permissions: ["chat:read"] })] })
      assert.strictEqual(share(powerless, nobodys, need, now).reason, "permission")
    })
  )

  it.effect("ownership lasts to the end of the longest grant that counts", () =>
    Effect.gen(function* () {
      const world = yield* SmallWorld.make
      const base = { member: 0, key: 0, rotated: false, roles: [1], restricted: false, client: 0 }
      const principal = SmallWorld.principalOf(world, base)
      const [, role] = world.roles
      assert.isDefined(role)
      const at = (seconds: number) => DateTime.add(now, { seconds })
      const toMe = (seconds: number) =>
        ({
          grantee: { _tag: "Member", id: principal.memberId },
          accessType: "owner",
          expiresAt: at(seconds)
        }) as const
      const toRole = (seconds: number) =>
        ({ grantee: { _tag: "Role", id: role.id }, accessType: "owner", expiresAt: at(seconds) }) as const
      const of = (...grants: Parameters<typeof ownership>[1]["grants"]) =>
        ownership(principal, { isPublic: false, grants }, now)
      assert.deepStrictEqual(of(), { _tag: "None" })
      assert.deepStrictEqual(of(toMe(0)), { _tag: "None" })
      assert.deepStrictEqual(of({ ...toMe(5), accessType: "editor" }), { _tag: "None" })
      assert.deepStrictEqual(of(toMe(5), toRole(9), toMe(7)), { _tag: "Until", at: at(9) })
      const { expiresAt: _, ...lasting } = toRole(9)
      assert.deepStrictEqual(of(toMe(5), lasting), { _tag: "Lasting" })
    })
  )
})
