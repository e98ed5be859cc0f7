import { requiresAdmin } from "@castellan/core/access/PermissionPolicy"
import { statusAt } from "@castellan/core/apikey/ApiKeyState"
import type { KeyRequest } from "@castellan/core/apikey/KeyRequest"
import { maximumAncestors } from "@castellan/core/apikey/MintPolicy"
import * as Uuid from "@castellan/core/identifier/Uuid"
import { Member, MemberStatus } from "@castellan/core/member/Member"
import { Organization } from "@castellan/core/organization/Organization"
import { OrganizationStore } from "@castellan/core/organization/OrganizationStore"
import { RoleId } from "@castellan/core/role/Role"
import { Sessions } from "@castellan/core/session/Sessions"
import { as, by, failure, trail } from "@castellan/testing/fixture/Acting"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import {
  authenticate,
  gone,
  inherit,
  lacks,
  mint,
  person,
  revoke,
  rolesOf,
  rotate,
  saveMember,
  scene,
  snapshot,
  withRoles
} from "./KeyScene.ts"

layer(Deployment.layer())("ApiKeys mint", (it) => {
  it.effect("makes a key that works, of the caller, restricted, for 90 days", () =>
    Effect.gen(function* () {
      const { a, b, owner } = yield* scene
      const principal = person(owner, [a, b])
      const request = { assumedRoles: [a.id], name: "reporting", clientId: '{ "tenant": "a" }' }
      const { apiKey, secret } = yield* as(principal)(mint(request))
      const now = yield* DateTime.now
      assert.strictEqual(apiKey.owner, owner.id)
      assert.strictEqual(apiKey.name, "reporting")
      assert.strictEqual(apiKey.clientMetadata?.text, '{ "tenant": "a" }')
      assert.deepStrictEqual(apiKey.assumedRoles, snapshot(a))
      assert.isFalse(apiKey.fullMemberAccess)
      assert.deepStrictEqual(apiKey.mintedBy, { memberId: owner.id })
      assert.deepStrictEqual(apiKey.ancestors, [])
      assert.deepStrictEqual(apiKey.expiresAt, DateTime.add(now, { days: 90 }))
      assert.strictEqual(statusAt(apiKey, now), "active")
      assert.strictEqual(yield* rolesOf(secret), "A")
      assert.isTrue((yield* authenticate(secret)).restricted)
    })
  )

  it.effect("a key whose terms say nothing of its expiry lives as long as the organization has set", () =>
    Effect.gen(function* () {
      const { a, organizationId, owner } = yield* scene
      const store = yield* OrganizationStore
      const organization = Option.getOrThrow(yield* store.get(organizationId))
      const now = yield* DateTime.now
      const expiry = (request: KeyRequest) =>
        Effect.map(as(person(owner, [a]))(mint({ ...inherit, ...request })), ({ apiKey }) => apiKey.expiresAt)
      yield* store.save(new Organization({ ...organization, keyExpiry: { _tag: "After", seconds: 3600 } }))
      assert.deepStrictEqual(yield* expiry({}), DateTime.add(now, { hours: 1 }))
      assert.deepStrictEqual(yield* expiry({ expirySeconds: 7200 }), DateTime.add(now, { hours: 2 }))
      yield* store.save(new Organization({ ...organization, keyExpiry: { _tag: "Never" } }))
      assert.isUndefined(yield* expiry({}))
      assert.deepStrictEqual(yield* expiry({ expirySeconds: 60 }), DateTime.add(now, { minutes: 1 }))
    })
  )

  it.effect("K8, K10, K25, R4: a request that contradicts itself is 400, and leaves nothing", () =>
    Effect.gen(function* () {
      const { a, organizationId, owner } = yield* scene
      const rows: ReadonlyArray<readonly [string, KeyRequest]> = [
        ["K8", { assumedRoles: [] }],
        ["K10", { assumedRoles: [a.id], inheritAllRoles: true }],
        ...[0, 59, -1, 1.5, Number.NaN, 1e20].map((expirySeconds): readonly [string, KeyRequest] => [
          "K25",
          { ...inherit, expirySeconds }
        ]),
        ...["tenant-a", "[]", '"a"', "1", '{"a":1,"a":1}', '{"__proto__":1}'].map(
          (clientId): readonly [string, KeyRequest] => ["R4", { ...inherit, clientId }]
        )
      ]
      for (const [number, request] of rows) {
        const outcome = yield* failure(as(person(owner, [a]))(mint(request)))
        assert.match(outcome, /^InvalidRequest: (assumedRoles|inheritAllRoles|expirySeconds|clientId): /u, number)
      }
      assert.deepStrictEqual(yield* trail(organizationId), [])
    })
  )

  it.effect("K9: what is inherited is a snapshot: a role that the owner gains later is not in it", () =>
    Effect.gen(function* () {
      const { a, b, c, owner } = yield* scene
      const { apiKey, secret } = yield* as(person(owner, [a, b]))(mint(inherit))
      assert.deepStrictEqual(apiKey.assumedRoles, snapshot(a, b))
      yield* saveMember(withRoles(owner, a, b, c))
      assert.strictEqual(yield* rolesOf(secret), "A,B")
      yield* saveMember(withRoles(owner, c))
      assert.strictEqual(yield* rolesOf(secret), "")
    })
  )

  it.effect("K11: what a key inherits is its own roles, not its owner's", () =>
    Effect.gen(function* () {
      const { a, key, owner } = yield* scene
      const parent = yield* key(owner, { assumedRoles: snapshot(a) })
      const child = yield* by(parent.secret)(mint(inherit))
      assert.deepStrictEqual(child.apiKey.assumedRoles, snapshot(a))
      assert.deepStrictEqual(child.apiKey.ancestors, [parent.apiKey.id])
      assert.deepStrictEqual(child.apiKey.mintedBy, { memberId: owner.id, apiKeyId: parent.apiKey.id })
    })
  )

  it.effect("K12: a key mints no role that is not among its own, though its owner holds it", () =>
    Effect.gen(function* () {
      const { a, b, key, owner } = yield* scene
      const parent = yield* key(owner, { assumedRoles: snapshot(a) })
      const refused = "PermissionDenied: permission denied: assumedRoles names a role that you do not hold"
      assert.strictEqual(yield* failure(by(parent.secret)(mint({ assumedRoles: [b.id] }))), refused)
      assert.strictEqual(yield* failure(by(parent.secret)(mint({ assumedRoles: [a.id, b.id] }))), refused)
      assert.strictEqual(yield* failure(by(parent.secret)(mint({ assumedRoles: [a.id] }))), "succeeds")
    })
  )

  it.effect("K13: a person mints no role that they do not hold, nor one that there is not", () =>
    Effect.gen(function* () {
      const { a, b, c, owner } = yield* scene
      const principal = person(owner, [a, b, c])
      const refused = "PermissionDenied: permission denied: assumedRoles names a role that you do not hold"
      assert.strictEqual(yield* failure(as(principal)(mint({ assumedRoles: [c.id] }))), refused)
      const nowhere = RoleId.make(yield* Uuid.next)
      assert.strictEqual(yield* failure(as(principal)(mint({ assumedRoles: [nowhere] }))), refused)
      // A role that the caller had when the request came, and has not any more.
      yield* saveMember(withRoles(owner, b))
      assert.strictEqual(
        yield* failure(as(principal)(mint({ assumedRoles: [a.id] }))),
        "PermissionDenied: permission denied: assumedRoles names a role that the key's owner does not hold"
      )
      assert.deepStrictEqual((yield* as(principal)(mint(inherit))).apiKey.assumedRoles, snapshot(b))
    })
  )

  it.effect("K14, K15: for a service account, only roles that both it and the caller hold", () =>
    Effect.gen(function* () {
      const { a, b, organizationId, writer } = yield* scene
      const caller = yield* Fixture.member(organizationId, { roles: [a, writer] })
      const service = yield* Fixture.member(organizationId, { roles: [b, writer], isServiceAccount: true })
      const principal = person(caller, [a, b, writer])
      const forService = (assumedRoles: ReadonlyArray<RoleId>) => mint({ assumedRoles, targetMemberId: service.id })
      assert.strictEqual(
        yield* failure(as(principal)(forService([a.id]))),
        "PermissionDenied: permission denied: assumedRoles names a role that the key's owner does not hold",
        "K14"
      )
      assert.strictEqual(
        yield* failure(as(principal)(forService([b.id]))),
        "PermissionDenied: permission denied: assumedRoles names a role that you do not hold",
        "K15"
      )
      const { apiKey, secret } = yield* as(principal)(forService([writer.id]))
      assert.strictEqual(apiKey.owner, service.id)
      assert.deepStrictEqual(apiKey.mintedBy, { memberId: caller.id })
      assert.strictEqual((yield* authenticate(secret)).memberId, service.id)
      const inherited = yield* as(principal)(mint({ ...inherit, targetMemberId: service.id }))
      assert.deepStrictEqual(inherited.apiKey.assumedRoles, snapshot(writer), "what both hold")
    })
  )

  it.effect("K16: for another person, for nobody, or for one that is not active, nothing is minted", () =>
    Effect.gen(function* () {
      const { organizationId, owner, writer } = yield* scene
      const other = yield* scene
      const caller = yield* Fixture.member(organizationId, { roles: [writer] })
      const at = yield* DateTime.now
      const inactive = yield* Fixture.member(organizationId, {
        roles: [writer],
        isServiceAccount: true,
        status: MemberStatus.cases.Deactivated.make({ at })
      })
      const foreign = yield* Fixture.member(other.organizationId, { isServiceAccount: true })
      const principal = person(caller, [writer])
      const target = (member: Member) => failure(as(principal)(mint({ ...inherit, targetMemberId: member.id })))
      const refused = "PermissionDenied: permission denied: targetMemberId must be a service account"
      assert.strictEqual(yield* target(owner), refused)
      assert.strictEqual(yield* target(foreign), refused)
      assert.strictEqual(yield* target(inactive), "PermissionDenied: permission denied: the member is not active")
      assert.strictEqual(yield* target(caller), "succeeds", "oneself is no other person")
    })
  )

  it.effect("K17: a key for a service account needs organization:write of the key, not of its owner", () =>
    Effect.gen(function* () {
      const { a, key, organizationId, writer } = yield* scene
      const owner = yield* Fixture.member(organizationId, { roles: [a, writer] })
      const service = yield* Fixture.member(organizationId, { roles: [a], isServiceAccount: true })
      const request = { assumedRoles: [a.id], targetMemberId: service.id }
      const without = yield* key(owner, { assumedRoles: snapshot(a) })
      assert.strictEqual(yield* failure(by(without.secret)(mint(request))), lacks("organization:write"))
      const nobody = { ...request, targetMemberId: (yield* scene).owner.id }
      assert.strictEqual(yield* failure(by(without.secret)(mint(nobody))), lacks("organization:write"))
      const having = yield* key(owner, { assumedRoles: snapshot(a, writer) })
      assert.strictEqual(yield* failure(by(having.secret)(mint(request))), "succeeds")
    })
  )

  it.effect("K14, K40: what an old session still says is not turned into a key, which lasts", () =>
    Effect.gen(function* () {
      const { a, b, key, organizationId, writer } = yield* scene
      const caller = yield* Fixture.member(organizationId, { roles: [a, b, writer] })
      const service = yield* Fixture.member(organizationId, { roles: [a, b, writer], isServiceAccount: true })
      const existing = yield* key(service, { assumedRoles: snapshot(b) })
      const forService = { ...inherit, targetMemberId: service.id }
      const session = yield* as(person(caller, [a, b, writer]))(Sessions.use((sessions) => sessions.mint))
      yield* saveMember(withRoles(caller, a, writer))
      const { apiKey } = yield* by(session.token)(mint(forService))
      assert.deepStrictEqual(apiKey.assumedRoles, snapshot(a, writer), "what the caller holds now")
      assert.strictEqual(
        yield* failure(by(session.token)(rotate(existing.apiKey.id))),
        "PermissionDenied: permission denied: the key has a role that you do not hold"
      )
      yield* saveMember(withRoles(caller, a))
      assert.strictEqual((yield* authenticate(session.token)).roles.length, 3, "the session goes on for its time")
      assert.strictEqual(yield* failure(by(session.token)(mint(forService))), lacks("organization:write"))
      assert.strictEqual(yield* failure(by(session.token)(rotate(existing.apiKey.id))), lacks("organization:write"))
      assert.strictEqual(yield* failure(by(session.token)(revoke(existing.apiKey.id))), "succeeds", "K40")
    })
  )

  it.effect("K18: a body never says who the caller is", () =>
    Effect.gen(function* () {
      const { organizationId, tenant } = yield* scene
      const request = { ...inherit, targetMemberId: tenant.adminId }
      for (const bearer of ["", "x", Redacted.value(tenant.adminKey).slice(1)]) {
        const outcome = yield* failure(by(Redacted.make(bearer))(mint(request)))
        assert.match(outcome, /^Unauthenticated: /u)
      }
      assert.deepStrictEqual(yield* trail(organizationId), [])
    })
  )

  it.effect("K19: full member access is given on by keys that have it, and by people", () =>
    Effect.gen(function* () {
      const { a, key, owner } = yield* scene
      const request = { ...inherit, fullMemberAccess: true }
      const restricted = yield* key(owner)
      assert.strictEqual(
        yield* failure(by(restricted.secret)(mint(request))),
        "PermissionDenied: permission denied: fullMemberAccess needs a key that has it"
      )
      const full = yield* key(owner, { fullMemberAccess: true })
      const child = yield* by(full.secret)(mint(request))
      assert.isTrue(child.apiKey.fullMemberAccess)
      assert.isFalse((yield* authenticate(child.secret)).restricted)
      assert.isTrue((yield* as(person(owner, [a]))(mint(request))).apiKey.fullMemberAccess)
    })
  )

  it.effect("K23: a key of an administrator that does not assume admin is refused as any other", () =>
    Effect.gen(function* () {
      const { tenant } = yield* scene
      const child = yield* by(tenant.adminKey)(mint({ assumedRoles: [tenant.memberRole.id] }))
      const decision = requiresAdmin(yield* authenticate(child.secret))
      assert.strictEqual(decision.message, "admin role required")
      assert.strictEqual(decision._tag, "Deny")
    })
  )

  it.effect("K26: a key that is minted by a key ends with it at the latest", () =>
    Effect.gen(function* () {
      const { key, owner } = yield* scene
      const now = yield* DateTime.now
      const expiresAt = DateTime.add(now, { hours: 1 })
      const parent = yield* key(owner, { expiresAt })
      const expiry = (expirySeconds?: number) =>
        Effect.map(
          by(parent.secret)(mint({ ...inherit, ...(expirySeconds === undefined ? {} : { expirySeconds }) })),
          ({ apiKey }) => apiKey.expiresAt
        )
      assert.deepStrictEqual(yield* expiry(7200), expiresAt)
      assert.deepStrictEqual(yield* expiry(), expiresAt)
      assert.deepStrictEqual(yield* expiry(600), DateTime.add(now, { minutes: 10 }))
    })
  )

  it.effect("L5: a key for one end user mints keys for no other", () =>
    Effect.gen(function* () {
      const { key, owner } = yield* scene
      const clientMetadata = { text: '{"tenant":"a","site":1}', attributes: { tenant: "a", site: 1 } }
      const parent = yield* key(owner, { clientMetadata })
      const minted = (clientId?: string) =>
        by(parent.secret)(mint({ ...inherit, ...(clientId === undefined ? {} : { clientId }) }))
      const refused = "PermissionDenied: permission denied: clientId must be that of your own key"
      for (const other of ['{"tenant":"b","site":1}', '{"tenant":"a"}', '{"tenant":"a","site":1,"admin":true}']) {
        assert.strictEqual(yield* failure(minted(other)), refused)
      }
      assert.deepStrictEqual((yield* minted()).apiKey.clientMetadata, clientMetadata)
      // To say nothing of anybody is not a way out.
      assert.deepStrictEqual((yield* minted("{}")).apiKey.clientMetadata, clientMetadata)
      assert.strictEqual(
        (yield* minted('{"site":1,"tenant":"a"}')).apiKey.clientMetadata?.text,
        '{"site":1,"tenant":"a"}'
      )
    })
  )

  it.effect("keys mint one another so many times in a row, and no more", () =>
    Effect.gen(function* () {
      const { key, owner } = yield* scene
      let secret = (yield* key(owner)).secret
      for (let depth = 1; depth <= maximumAncestors; depth++) {
        const child = yield* by(secret)(mint(inherit))
        assert.strictEqual(child.apiKey.ancestors.length, depth)
        secret = child.secret
      }
      assert.strictEqual(yield* rolesOf(secret), "A,B")
      assert.match(yield* failure(by(secret)(mint(inherit))), /^PermissionDenied: .* in a row$/u)
    })
  )

  it.effect("a key that was revoked while its request was on the way mints nothing", () =>
    Effect.gen(function* () {
      const { key, owner } = yield* scene
      const parent = yield* key(owner)
      const principal = yield* authenticate(parent.secret)
      yield* by(parent.secret)(revoke(parent.apiKey.id))
      assert.strictEqual(
        yield* failure(as(principal)(mint(inherit))),
        "Unauthenticated: invalid API key: API key not found"
      )
    })
  )
})

layer(Deployment.layer())("ApiKeys L5: what becomes of a key becomes of those below it", (it) => {
  const family = Effect.gen(function* () {
    const given = yield* scene
    const parent = yield* given.key(given.owner)
    const child = yield* by(parent.secret)(mint(inherit))
    const grandchild = yield* by(child.secret)(mint(inherit))
    assert.strictEqual(yield* rolesOf(grandchild.secret), "A,B")
    return { ...given, parent, child, grandchild }
  })

  it.effect("revoked", () =>
    Effect.gen(function* () {
      const { child, grandchild, owner, parent } = yield* family
      yield* as(person(owner, []))(revoke(parent.apiKey.id))
      assert.strictEqual(yield* rolesOf(child.secret), gone)
      assert.strictEqual(yield* rolesOf(grandchild.secret), gone)
    })
  )

  it.effect("expired sooner than it was to, by a rotation with grace", () =>
    Effect.gen(function* () {
      const { child, grandchild, owner, parent } = yield* family
      const { secret } = yield* as(person(owner, []))(rotate(parent.apiKey.id, 60))
      yield* TestClock.adjust("59 seconds")
      assert.strictEqual(yield* rolesOf(grandchild.secret), "A,B")
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* rolesOf(child.secret), gone)
      assert.strictEqual(yield* rolesOf(grandchild.secret), gone)
      assert.strictEqual(yield* rolesOf(secret), "A,B")
    })
  )

  it.effect("of an owner who lost a role, or left, though its child is a service account's", () =>
    Effect.gen(function* () {
      const { a, b, organizationId, writer } = yield* scene
      const owner = yield* Fixture.member(organizationId, { roles: [a, b, writer] })
      const service = yield* Fixture.member(organizationId, { roles: [a, b, writer], isServiceAccount: true })
      const parent = yield* Fixture.key(owner)
      const child = yield* by(parent.secret)(mint({ ...inherit, targetMemberId: service.id }))
      assert.strictEqual(yield* rolesOf(child.secret), "A,B,writer")
      yield* saveMember(withRoles(owner, b))
      assert.strictEqual(yield* rolesOf(child.secret), "B")
      yield* saveMember(
        new Member({ ...owner, status: MemberStatus.cases.Deactivated.make({ at: yield* DateTime.now }) })
      )
      assert.strictEqual(yield* rolesOf(child.secret), gone)
      yield* saveMember(owner)
      assert.strictEqual(yield* rolesOf(child.secret), "A,B,writer")
    })
  )
})
