import { Member, MemberId, MemberStatus } from "@castellan/core/member/Member"
import * as MemberPolicy from "@castellan/core/member/MemberPolicy"
import { Members } from "@castellan/core/member/Members"
import { MemberStore } from "@castellan/core/member/MemberStore"
import { as, audited, failure, trail } from "@castellan/testing/fixture/Acting"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"

const scene = Effect.gen(function* () {
  const tenant = yield* Fixture.tenant()
  const other = yield* Fixture.tenant("Globex")
  const { organizationId } = tenant
  const analyst = yield* Fixture.role(organizationId, { name: "analyst", permissions: ["chat:read"] })
  const steward = yield* Fixture.role(organizationId, { name: "steward", permissions: ["role:write", "member:write"] })
  const host = yield* Fixture.role(organizationId, { name: "host", permissions: ["member:write"] })
  return {
    tenant,
    other,
    analyst,
    admin: Fixture.adminOf(tenant),
    foreignAdmin: Fixture.adminOf(other),
    steward: yield* Fixture.someone(tenant, { roles: [steward, tenant.memberRole] }),
    host: yield* Fixture.someone(tenant, { roles: [host, tenant.memberRole] }),
    doorkeeper: yield* Fixture.someone(tenant, { roles: [host] }),
    somebody: yield* Fixture.someone(tenant)
  }
})

const deployment = Deployment.layer()

const stored = (member: Pick<Member, "id" | "organizationId">) =>
  MemberStore.use((store) => store.get(member.organizationId, member.id))

const adminRequired = "PermissionDenied: admin role required"

describe("Members", () => {
  it.effect("invites somebody as a member, who is there from then on", () =>
    Effect.gen(function* () {
      const { admin, host, tenant } = yield* scene
      const invited = yield* as(host)(Members.use((members) => members.invite({ email: " new@acme.example " })))
      assert.deepStrictEqual(
        [invited.member.email, invited.roles.map((role) => role.name), invited.isAdmin, invited.member.status._tag],
        ["new@acme.example", ["member"], false, "Active"]
      )
      assert.deepStrictEqual(yield* stored(invited.member), Option.some(invited.member))
      const views = yield* as(admin)(Members.use((members) => members.list))
      assert.deepStrictEqual(views.at(-1), invited)
      const [event] = yield* audited(tenant.organizationId)
      assert.deepStrictEqual(
        [event?.action, event?.target, event?.before, event?.after],
        [
          "invite",
          { type: "member", id: invited.member.id },
          undefined,
          { email: "new@acme.example", roles: [tenant.memberRole.id], status: "active" }
        ]
      )
    }).pipe(Effect.provide(deployment))
  )

  it.effect("invites to a role by its name or id", () =>
    Effect.gen(function* () {
      const { admin, analyst } = yield* scene
      const invite = (email: string, role: string) => Members.use((members) => members.invite({ email, role }))
      for (const [email, role] of [
        ["a@acme.example", "analyst"],
        ["b@acme.example", analyst.id]
      ] as const) {
        assert.deepStrictEqual((yield* as(admin)(invite(email, role))).member.roles, [analyst.id])
      }
      const view = yield* as(admin)(invite("c@acme.example", "admin"))
      assert.isTrue(view.isAdmin)
    }).pipe(Effect.provide(deployment))
  )

  it.effect("an invitation gives no role that the inviter does not hold, or may not assign", () =>
    Effect.gen(function* () {
      const { analyst, doorkeeper, host, other, somebody, steward, tenant } = yield* scene
      const invite = (role?: string) =>
        failure(
          Members.use((members) => members.invite({ email: "x@acme.example", ...(role === undefined ? {} : { role }) }))
        )
      const cases = [
        ["a member", as(somebody)(invite()), adminRequired],
        ["a member, to an unknown role", as(somebody)(invite("nothing")), adminRequired],
        ["a host, to its own role", as(host)(invite("host")), adminRequired],
        ["a host, to admin", as(host)(invite("admin")), adminRequired],
        [
          "a doorkeeper, who is no member",
          as(doorkeeper)(invite()),
          "PermissionDenied: permission denied: you do not hold the role member"
        ],
        [
          "a steward, to a role not held",
          as(steward)(invite(analyst.id)),
          "PermissionDenied: permission denied: you do not hold the role analyst"
        ],
        [
          "a steward, to admin",
          as(steward)(invite("admin")),
          "PermissionDenied: permission denied: you do not hold the role admin"
        ],
        ["a steward, to a foreign role", as(steward)(invite(other.memberRole.id)), "NotFound: role not found"],
        ["a steward, to its own role", as(steward)(invite("steward")), "succeeds"]
      ] as const
      for (const [name, attempt, expected] of cases) assert.strictEqual(yield* attempt, expected, name)
      assert.deepStrictEqual(yield* trail(tenant.organizationId), [
        ...Array.from({ length: 7 }, () => "invite member refused"),
        "invite member"
      ])
    }).pipe(Effect.provide(deployment))
  )

  it.effect("an address is invited once, in either case, also by two at once", () =>
    Effect.gen(function* () {
      const { admin, foreignAdmin, tenant } = yield* scene
      const invite = (email: string) => failure(Members.use((members) => members.invite({ email })))
      const outcomes = yield* as(admin)(
        Effect.all([invite("Ada@acme.example"), invite("ada@ACME.example")], { concurrency: "unbounded" })
      )
      assert.sameMembers(outcomes, ["succeeds", "Conflict: the member is active already"])
      assert.strictEqual(yield* as(foreignAdmin)(invite("ada@acme.example")), "succeeds")
      for (const email of ["", "ada", "ada@acme", "a@b.example, c@d.example"]) {
        assert.strictEqual(yield* as(admin)(invite(email)), "InvalidRequest: email: must be an e-mail address")
      }
      assert.deepStrictEqual(yield* trail(tenant.organizationId), ["invite member"])
    }).pipe(Effect.provide(deployment))
  )

  it.effect("a deactivated member comes back with the role of the invitation alone", () =>
    Effect.gen(function* () {
      const { admin, host, tenant } = yield* scene
      const former = yield* Fixture.member(tenant.organizationId, {
        email: "former@acme.example",
        roles: [tenant.adminRole],
        status: MemberStatus.cases.Deactivated.make({ at: DateTime.makeUnsafe(0) })
      })
      const back = yield* as(host)(Members.use((members) => members.invite({ email: "Former@acme.example" })))
      assert.deepStrictEqual(
        { ...back.member },
        { ...former, roles: [tenant.memberRole.id], status: MemberStatus.cases.Active.make({}) }
      )
      assert.isFalse(back.isAdmin)
      assert.isTrue(
        (yield* as(admin)(Members.use((members) => members.list))).some(({ member }) => member.id === former.id)
      )
    }).pipe(Effect.provide(deployment))
  )

  it.effect("makes service accounts without a role", () =>
    Effect.gen(function* () {
      const { admin, somebody, tenant } = yield* scene
      const create = (name: string) => Members.use((members) => members.createServiceAccount({ name }))
      const { member } = yield* as(admin)(create(" embed "))
      assert.deepStrictEqual(
        [member.name, member.isServiceAccount, member.roles, member.email],
        ["embed", true, [], `${member.id}@service-accounts.invalid`]
      )
      assert.deepStrictEqual(yield* stored(member), Option.some(member))
      for (const name of ["", "  ", "x".repeat(101)]) {
        assert.strictEqual(
          yield* as(admin)(failure(create(name))),
          "InvalidRequest: name: must have 1 to 100 characters"
        )
      }
      assert.strictEqual(yield* as(somebody)(failure(create("embed"))), adminRequired)
      assert.deepStrictEqual(yield* trail(tenant.organizationId), ["create member", "create member refused"])
    }).pipe(Effect.provide(deployment))
  )

  it.effect("deactivates softly, or deletes for good", () =>
    Effect.gen(function* () {
      const { admin, host, tenant } = yield* scene
      const member = yield* Fixture.member(tenant.organizationId)
      const remove = (hardDelete?: boolean) =>
        Members.use((members) => members.remove(member.id, hardDelete === undefined ? {} : { hardDelete }))
      yield* as(host)(remove())
      const after = Option.getOrThrow(yield* stored(member))
      assert.strictEqual(after.status._tag, "Deactivated")
      assert.isFalse(
        (yield* as(admin)(Members.use((members) => members.list))).some((view) => view.member.id === member.id)
      )
      assert.strictEqual(yield* as(host)(failure(remove())), "Conflict: the member is deactivated already")
      yield* as(host)(remove(true))
      assert.deepStrictEqual(yield* stored(member), Option.none())
      assert.strictEqual(yield* as(host)(failure(remove(true))), "NotFound: member not found")
      assert.deepStrictEqual(yield* trail(tenant.organizationId), ["deactivate member", "delete member"])
    }).pipe(Effect.provide(deployment))
  )

  it.effect("assigns and takes roles; doing it again changes nothing, or finds nothing", () =>
    Effect.gen(function* () {
      const { admin, analyst, tenant } = yield* scene
      const member = yield* Fixture.member(tenant.organizationId)
      const members = yield* Members
      yield* as(admin)(members.assign(member.id, analyst.id))
      yield* as(admin)(members.assign(member.id, analyst.id))
      assert.deepStrictEqual(yield* as(admin)(members.roles(member.id)), [analyst])
      yield* as(admin)(members.unassign(member.id, analyst.id))
      assert.strictEqual(
        yield* as(admin)(failure(members.unassign(member.id, analyst.id))),
        "NotFound: the member does not hold the role"
      )
      assert.deepStrictEqual(yield* as(admin)(members.roles(member.id)), [])
      assert.deepStrictEqual(yield* trail(tenant.organizationId), ["assign member", "unassign member"])
    }).pipe(Effect.provide(deployment))
  )

  it.effect("a deactivated member gets no role", () =>
    Effect.gen(function* () {
      const { admin, analyst, tenant } = yield* scene
      const former = yield* Fixture.member(tenant.organizationId, {
        status: MemberStatus.cases.Deactivated.make({ at: DateTime.makeUnsafe(0) })
      })
      assert.strictEqual(
        yield* as(admin)(failure(Members.use((members) => members.assign(former.id, analyst.id)))),
        "Conflict: the member is deactivated"
      )
    }).pipe(Effect.provide(deployment))
  )

  it.effect("refuses what cannot be, in the order of the checks, and then changes nothing", () =>
    Effect.gen(function* () {
      const { admin, analyst, other, somebody, steward, tenant } = yield* scene
      const before = yield* MemberStore.use((store) => store.list(tenant.organizationId))
      const members = yield* Members
      const unknown = MemberId.make("01890000-0000-7000-8000-000000000000")
      const adminRole = tenant.adminRole.id
      const cases: ReadonlyArray<readonly [string, Effect.Effect<string>, string]> = [
        ["list", as(somebody)(failure(members.list)), adminRequired],
        ["roles of another", as(somebody)(failure(members.roles(admin.memberId))), adminRequired],
        ["one's own roles", as(somebody)(failure(members.roles(somebody.memberId))), "succeeds"],
        ["roles of unknown", as(somebody)(failure(members.roles(unknown))), "NotFound: member not found"],
        ["roles of foreign", as(admin)(failure(members.roles(other.adminId))), "NotFound: member not found"],
        ["assign", as(somebody)(failure(members.assign(somebody.memberId, adminRole))), adminRequired],
        ["assign to unknown", as(somebody)(failure(members.assign(unknown, adminRole))), "NotFound: member not found"],
        [
          "assign foreign role",
          as(admin)(failure(members.assign(somebody.memberId, other.memberRole.id))),
          "NotFound: role not found"
        ],
        [
          "assign what is not held",
          as(steward)(failure(members.assign(steward.memberId, analyst.id))),
          "PermissionDenied: permission denied: you do not hold the role analyst"
        ],
        ["take admin, not being one", as(steward)(failure(members.unassign(admin.memberId, adminRole))), adminRequired],
        [
          "take admin from the last",
          as(admin)(failure(members.unassign(admin.memberId, adminRole))),
          "Conflict: the member is the last admin of the organization"
        ],
        ["remove", as(somebody)(failure(members.remove(somebody.memberId))), adminRequired],
        ["remove unknown", as(somebody)(failure(members.remove(unknown))), "NotFound: member not found"],
        ["remove an admin, not being one", as(steward)(failure(members.remove(admin.memberId))), adminRequired],
        [
          "remove the last admin",
          as(admin)(failure(members.remove(admin.memberId))),
          "Conflict: the member is the last admin of the organization"
        ],
        [
          "delete the last admin",
          as(admin)(failure(members.remove(admin.memberId, { hardDelete: true }))),
          "Conflict: the member is the last admin of the organization"
        ]
      ]
      for (const [name, attempt, expected] of cases) assert.strictEqual(yield* attempt, expected, name)
      assert.deepStrictEqual(yield* MemberStore.use((store) => store.list(tenant.organizationId)), before)
      const events = yield* audited(tenant.organizationId)
      assert.strictEqual(events.length, cases.filter(([, , text]) => text.startsWith("PermissionDenied")).length)
    }).pipe(Effect.provide(deployment))
  )

  it.effect("two admins who remove each other at once leave one", () =>
    Effect.gen(function* () {
      const { admin, tenant } = yield* scene
      const second = yield* Fixture.someone(tenant, { roles: [tenant.adminRole] })
      const members = yield* Members
      const outcomes = yield* Effect.all(
        [
          as(admin)(failure(members.remove(second.memberId))),
          as(second)(failure(members.unassign(admin.memberId, tenant.adminRole.id)))
        ],
        { concurrency: "unbounded" }
      )
      assert.sameMembers(outcomes, ["succeeds", "Conflict: the member is the last admin of the organization"])
    }).pipe(Effect.provide(deployment))
  )

  it.effect("a service account or a former admin counts for what it is", () =>
    Effect.gen(function* () {
      const { admin, tenant } = yield* scene
      const former = yield* Fixture.member(tenant.organizationId, {
        roles: [tenant.adminRole],
        status: MemberStatus.cases.Deactivated.make({ at: DateTime.makeUnsafe(0) })
      })
      const remove = (id: MemberId) => failure(Members.use((members) => members.remove(id, { hardDelete: true })))
      assert.strictEqual(
        yield* as(admin)(remove(admin.memberId)),
        "Conflict: the member is the last admin of the organization",
        "a deactivated admin is none"
      )
      assert.strictEqual(yield* as(admin)(remove(former.id)), "succeeds")
      const account = yield* Fixture.member(tenant.organizationId, { roles: [tenant.adminRole] })
      yield* MemberStore.use((store) => store.save(new Member({ ...account, isServiceAccount: true })))
      assert.strictEqual(yield* as(admin)(remove(admin.memberId)), "succeeds")
    }).pipe(Effect.provide(deployment))
  )

  it.effect("where no role admin is there, administrators are told by their permissions alone", () =>
    Effect.gen(function* () {
      const { admin, steward } = yield* scene
      const member = Option.getOrThrow(yield* stored({ id: admin.memberId, organizationId: admin.organizationId }))
      assert.strictEqual(MemberPolicy.remove(steward, member, undefined)._tag, "Allow")
    }).pipe(Effect.provide(deployment))
  )
})
