import { Principal } from "@castellan/core/access/Principal"
import { Member } from "@castellan/core/member/Member"
import { Members } from "@castellan/core/member/Members"
import { MemberStore } from "@castellan/core/member/MemberStore"
import type { Role } from "@castellan/core/role/Role"
import { Roles } from "@castellan/core/role/Roles"
import { Sessions } from "@castellan/core/session/Sessions"
import { as, by, failure } from "@castellan/testing/fixture/Acting"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"

const adminRequired = "PermissionDenied: admin role required"

/** A member with a session from when they held these roles, and what they hold from now on. */
const demoted = Effect.fnUntraced(function* (
  tenant: Fixture.Tenant,
  before: ReadonlyArray<Role>,
  after: ReadonlyArray<Role>
) {
  const { organizationId } = tenant
  const member = yield* Fixture.member(organizationId, { roles: before })
  const person = new Principal({
    organizationId,
    memberId: member.id,
    roles: before,
    restricted: false,
    credential: { _tag: "Token" }
  })
  const { token } = yield* as(person)(Sessions.use((sessions) => sessions.mint))
  yield* MemberStore.use((store) => store.save(new Member({ ...member, roles: after.map(({ id }) => id) })))
  return { member, token }
})

layer(Deployment.layer())("What is held now", (it) => {
  it.effect("whoever lost the admin role gives it neither back to themselves nor to anybody, by no session", () =>
    Effect.gen(function* () {
      const tenant = yield* Fixture.tenant()
      const analyst = yield* Fixture.role(tenant.organizationId, { name: "analyst" })
      const { member, token } = yield* demoted(tenant, [tenant.adminRole], [analyst])
      const outcome = <A, R>(use: Effect.Effect<A, { readonly _tag: string; readonly message: string }, R>) =>
        failure(by(token)(use))
      const admin = tenant.adminRole.id
      assert.strictEqual(yield* outcome(Members.use((members) => members.assign(member.id, admin))), adminRequired)
      assert.strictEqual(
        yield* outcome(Members.use((members) => members.unassign(member.id, analyst.id))),
        adminRequired
      )
      const invitation = { email: "accomplice@acme.example", role: "admin" }
      assert.strictEqual(yield* outcome(Members.use((members) => members.invite(invitation))), adminRequired)
      const widened = Roles.use((roles) => roles.setPermissions(analyst.id, ["role:write"]))
      assert.strictEqual(yield* outcome(widened), adminRequired)
      assert.strictEqual(yield* outcome(Members.use((members) => members.list)), "succeeds", "K40: what ends with it")
    })
  )

  it.effect("what is still held is handed on by a session as ever", () =>
    Effect.gen(function* () {
      const tenant = yield* Fixture.tenant()
      const analyst = yield* Fixture.role(tenant.organizationId, { name: "analyst" })
      const { member, token } = yield* demoted(tenant, [tenant.adminRole, analyst], [tenant.adminRole])
      const assign = Members.use((members) => members.assign(member.id, analyst.id))
      assert.strictEqual(yield* failure(by(token)(assign)), "succeeds")
      const widen = Roles.use((roles) => roles.setPermissions(analyst.id, ["role:write"]))
      assert.strictEqual(yield* failure(by(token)(widen)), "succeeds")
    })
  )
})
