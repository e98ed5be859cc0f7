/** The people of the matrix's world, and their keys: one who makes everything, and others who know of it as far as rules need. */
import { type Access, creatorOf } from "@castellan/core/access/Access"
import { ApiKeyStatus } from "@castellan/core/apikey/ApiKey"
import { Member, MemberStatus } from "@castellan/core/member/Member"
import { MemberStore } from "@castellan/core/member/MemberStore"
import * as Permission from "@castellan/core/role/Permission"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import type * as Sample from "@castellan/testing/fixture/Sample"
import { DateTime, Effect, Redacted } from "effect"

const all: ReadonlyArray<Permission.Permission> = Permission.all

/** A key of somebody, with all that is theirs unless said otherwise. */
export const keyOf = (owner: Member, options: Sample.KeyOptions = {}) =>
  Fixture.key(owner, { fullMemberAccess: true, ...options })

/** What the world's people are. */
export type People = Effect.Success<ReturnType<typeof make>>

/** Makes the people of an organization, beside another one. */
export const make = Effect.fnUntraced(function* (tenant: Fixture.Tenant, other: Fixture.Tenant) {
  const now = yield* DateTime.now
  const within = tenant.organizationId
  const full = yield* Fixture.role(within, { name: "everything", permissions: all })
  const target = yield* Fixture.role(within, { name: "target" })
  const maker = yield* Fixture.member(within, { roles: [full, tenant.adminRole] })
  const everything = { roles: [full] }
  const [author, stranger, viewer, person, gone] = yield* Effect.all([
    Fixture.member(within, everything),
    Fixture.member(within, everything),
    Fixture.member(within, everything),
    Fixture.member(within, { roles: [target] }),
    Fixture.member(within, everything)
  ])
  const snapshot = { assumedRoles: { _tag: "Snapshot", roles: [full.id] } } as const
  const makerKey = yield* keyOf(maker, snapshot)
  const authorKey = yield* keyOf(author)
  const restricted = yield* keyOf(maker, { ...snapshot, fullMemberAccess: false })
  const strangerKey = yield* keyOf(stranger)
  const viewerKey = yield* keyOf(viewer)
  const yesterday = DateTime.subtract(now, { days: 1 })
  const expired = yield* keyOf(maker, { ...snapshot, expiresAt: yesterday })
  const revoked = yield* keyOf(maker, {
    ...snapshot,
    status: ApiKeyStatus.cases.Revoked.make({ at: yesterday })
  })
  const deactivated = yield* keyOf(gone)
  yield* MemberStore.use((store) =>
    store.save(new Member({ ...gone, status: MemberStatus.cases.Deactivated.make({ at: yesterday }) }))
  )
  const victim = yield* keyOf(person, {
    fullMemberAccess: false,
    assumedRoles: { _tag: "Snapshot", roles: [] }
  })

  const principal = Fixture.principalOf(maker, [full], makerKey.apiKey)
  const authoring = Fixture.principalOf(author, [full], authorKey.apiKey)
  const access: Access = {
    isPublic: false,
    grants: [{ grantee: { _tag: "Member", id: viewer.id }, accessType: "viewer" }],
    creator: creatorOf(principal)
  }

  const keys = {
    maker: Redacted.value(makerKey.secret),
    restricted: Redacted.value(restricted.secret),
    stranger: Redacted.value(strangerKey.secret),
    viewer: Redacted.value(viewerKey.secret),
    administrator: Redacted.value(tenant.adminKey),
    foreign: Redacted.value(other.adminKey),
    expired: Redacted.value(expired.secret),
    revoked: Redacted.value(revoked.secret),
    deactivated: Redacted.value(deactivated.secret)
  }

  return { access, author, authoring, full, keys, maker, person, principal, target, victim }
})
