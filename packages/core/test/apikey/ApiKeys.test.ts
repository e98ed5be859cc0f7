import { Authentication } from "@castellan/core/access/Authentication"
import { requiresAdmin } from "@castellan/core/access/PermissionPolicy"
import { Principal } from "@castellan/core/access/Principal"
import { ApiKeyId, AssumedRoles } from "@castellan/core/apikey/ApiKey"
import { ApiKeys } from "@castellan/core/apikey/ApiKeys"
import type { ApiKeySecret } from "@castellan/core/apikey/ApiKeySecret"
import { statusAt } from "@castellan/core/apikey/ApiKeyState"
import { ApiKeyStore } from "@castellan/core/apikey/ApiKeyStore"
import type { KeyRequest } from "@castellan/core/apikey/KeyRequest"
import { maximumAncestors } from "@castellan/core/apikey/MintPolicy"
import * as Uuid from "@castellan/core/identifier/Uuid"
import { Member, MemberStatus } from "@castellan/core/member/Member"
import { MemberStore } from "@castellan/core/member/MemberStore"
import { Organization } from "@castellan/core/organization/Organization"
import { OrganizationStore } from "@castellan/core/organization/OrganizationStore"
import type { Permission } from "@castellan/core/role/Permission"
import type { Role } from "@castellan/core/role/Role"
import { RoleId } from "@castellan/core/role/Role"
import { Sessions } from "@castellan/core/session/Sessions"
import { as, audited, by, failure, trail } from "@castellan/testing/fixture/Acting"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import type * as Sample from "@castellan/testing/fixture/Sample"
import { assert, describe, layer } from "@effect/vitest"
import { DateTime, Effect, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"

const mint = (request: KeyRequest) => ApiKeys.use((keys) => keys.mint(request))
const revoke = (id: ApiKeyId) => ApiKeys.use((keys) => keys.revoke(id))
const rotate = (id: ApiKeyId, graceSeconds?: number) =>
  ApiKeys.use((keys) => keys.rotate(id, graceSeconds === undefined ? {} : { graceSeconds }))

const saveMember = (member: Member) => MemberStore.use((store) => store.save(member))

const withRoles = (member: Member, ...roles: ReadonlyArray<Role>): Member =>
  new Member({ ...member, roles: roles.map((role) => role.id) })

const snapshot = (...roles: ReadonlyArray<Pick<Role, "id">>) =>
  AssumedRoles.cases.Snapshot.make({ roles: roles.map((role) => role.id) })

const inherit = { inheritAllRoles: true } as const

const authenticate = (bearer: Redacted.Redacted<string>) =>
  Authentication.use((authentication) => authentication.authenticate(bearer))

/** The names of the roles that a key has now; `401` and why when it does not work. */
const rolesOf = (secret: ApiKeySecret) =>
  Effect.match(authenticate(secret), {
    onFailure: (error) => `401 ${error.message}`,
    onSuccess: (principal) =>
      principal.roles
        .map((role) => role.name)
        .toSorted()
        .join(",")
  })

const gone = "401 invalid API key: API key not found"

const notFound = "NotFound: API key not found"

const lacks = (permission: Permission) => `PermissionDenied: permission denied: ${permission} is required`

/** An organization with roles A, B and C without permissions, and a member with A and B. */
const scene = Effect.gen(function* () {
  const tenant = yield* Fixture.tenant()
  const { organizationId } = tenant
  const a = yield* Fixture.role(organizationId, { name: "A" })
  const b = yield* Fixture.role(organizationId, { name: "B" })
  const c = yield* Fixture.role(organizationId, { name: "C" })
  const writer = yield* Fixture.role(organizationId, { name: "writer", permissions: ["organization:write"] })
  const reader = yield* Fixture.role(organizationId, { name: "reader", permissions: ["organization:read"] })
  const owner = yield* Fixture.member(organizationId, { roles: [a, b] })
  const key = (member: Member, options?: Sample.KeyOptions) => Fixture.key(member, options)
  return { tenant, organizationId, a, b, c, writer, reader, owner, key }
})

/** A member as a browser's token would have it act: by no key, with all that it holds. */
const person = (member: Member, roles: ReadonlyArray<Role>, isSuperadmin = false) =>
  new Principal({
    organizationId: member.organizationId,
    memberId: member.id,
    roles: roles.filter((role) => member.roles.includes(role.id)),
    restricted: false,
    isSuperadmin,
    credential: { _tag: "Token" }
  })

const ids = (slice: { readonly items: ReadonlyArray<{ readonly id: ApiKeyId }> }) =>
  slice.items.map((key) => key.id).toSorted()

layer(Deployment.layer())("ApiKeys", (it) => {
  describe("mint", () => {
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

  describe("L5: what becomes of a key becomes of those below it", () => {
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

  describe("rotate", () => {
    it.effect("K27: another value of the same key; the old one is 401", () =>
      Effect.gen(function* () {
        const { a, b, c, owner } = yield* scene
        const request = { ...inherit, name: "reporting", clientId: '{"tenant":"a"}', fullMemberAccess: true }
        const old = yield* as(person(owner, [a, b]))(mint(request))
        yield* TestClock.adjust("1 day")
        yield* saveMember(withRoles(owner, b, c))
        const next = yield* by(old.secret)(rotate(old.apiKey.id))
        assert.notStrictEqual(Redacted.value(next.secret), Redacted.value(old.secret))
        const lasting = ["owner", "name", "clientMetadata", "fullMemberAccess", "expiresAt", "ancestors"] as const
        for (const field of lasting) assert.deepStrictEqual(next.apiKey[field], old.apiKey[field], field)
        assert.deepStrictEqual(next.apiKey.assumedRoles, snapshot(a, b), "copied, not taken anew")
        assert.deepStrictEqual(next.apiKey.rotatedFrom, [old.apiKey.id])
        assert.strictEqual(next.retired.id, old.apiKey.id)
        assert.strictEqual(next.retired.replacedBy, next.apiKey.id)
        assert.strictEqual(yield* rolesOf(old.secret), gone)
        assert.strictEqual(yield* rolesOf(next.secret), "B")
      })
    )

    it.effect("with grace the old key works to its end, and is replaced once", () =>
      Effect.gen(function* () {
        const { key, owner } = yield* scene
        const old = yield* key(owner)
        const principal = person(owner, [])
        const next = yield* as(principal)(rotate(old.apiKey.id, 3600))
        assert.strictEqual(yield* rolesOf(old.secret), "A,B")
        assert.strictEqual(
          yield* failure(as(principal)(rotate(old.apiKey.id))),
          "InvalidRequest: the API key is already replaced"
        )
        yield* TestClock.adjust("1 hour")
        assert.strictEqual(yield* rolesOf(old.secret), gone)
        assert.strictEqual(yield* rolesOf(next.secret), "A,B")
        for (const seconds of [-1, 86_401, 0.5, Number.NaN]) {
          assert.strictEqual(
            yield* failure(as(principal)(rotate(next.apiKey.id, seconds))),
            "InvalidRequest: graceSeconds: must be an integer from 0 to 86400"
          )
        }
      })
    )

    it.effect("K28: a revoked or expired key is not rotated", () =>
      Effect.gen(function* () {
        const { key, owner } = yield* scene
        const principal = person(owner, [])
        const revoked = yield* key(owner)
        yield* as(principal)(revoke(revoked.apiKey.id))
        assert.strictEqual(
          yield* failure(as(principal)(rotate(revoked.apiKey.id))),
          "InvalidRequest: the API key is revoked"
        )
        const expired = yield* key(owner, { expiresAt: yield* DateTime.now })
        assert.strictEqual(
          yield* failure(as(principal)(rotate(expired.apiKey.id))),
          "InvalidRequest: the API key is expired"
        )
        assert.strictEqual(yield* rolesOf(revoked.secret), gone)
        assert.strictEqual(yield* rolesOf(expired.secret), gone)
      })
    )

    it.effect("K38, L5: nobody is shown the value of a key that gives more than they have", () =>
      Effect.gen(function* () {
        const { a, key, organizationId, owner, tenant, writer } = yield* scene
        const now = yield* DateTime.now
        const client = { text: '{"tenant":"a"}', attributes: { tenant: "a" } }
        const plain = yield* key(owner, { assumedRoles: snapshot(a) })
        const wide = yield* key(owner)
        const full = yield* key(owner, { assumedRoles: snapshot(a), fullMemberAccess: true })
        const embedded = yield* key(owner, { assumedRoles: snapshot(a), clientMetadata: client })
        const short = yield* key(owner, { assumedRoles: snapshot(a), expiresAt: DateTime.add(now, { hours: 1 }) })
        const legacy = yield* key(owner, { assumedRoles: AssumedRoles.cases.Live.make({}) })
        const administrative = yield* Fixture.member(organizationId, { roles: [a, writer] })
        const administration = yield* key(administrative)
        const rows: ReadonlyArray<readonly [string, ApiKeySecret, Sample.IssuedKey, string]> = [
          ["itself", plain.secret, plain, "succeeds"],
          ["a wider one", short.secret, wide, "the key has a role that you do not hold"],
          ["one of all roles", short.secret, legacy, "the key has a role that you do not hold"],
          [
            "one of all roles, by one of the same roles now",
            wide.secret,
            legacy,
            "the key gains the roles that its owner is given, and yours does not"
          ],
          ["with full access", short.secret, full, "the key has full member access, and yours has not"],
          ["one that lives longer", short.secret, embedded, "the key expires later than yours"],
          ["the host's, by an end user's", embedded.secret, short, "organization:write is required"],
          [
            "another member's, without its roles",
            administration.secret,
            wide,
            "the key has a role that you do not hold"
          ],
          ["another member's, within its roles", administration.secret, short, "succeeds"],
          ["another member's, by a member", wide.secret, administration, "organization:write is required"],
          ["any, by an administrator", tenant.adminKey, wide, "succeeds"],
          ["any, by an administrator", tenant.adminKey, full, "succeeds"]
        ]
        for (const [name, secret, { apiKey }, expected] of rows) {
          const outcome = yield* failure(by(secret)(rotate(apiKey.id)))
          const refused = `PermissionDenied: permission denied: ${expected}`
          assert.strictEqual(outcome, expected === "succeeds" ? expected : refused, name)
        }
        const parent = yield* key(owner)
        const child = yield* by(parent.secret)(mint({ ...inherit, clientId: client.text }))
        assert.strictEqual(yield* failure(by(parent.secret)(rotate(child.apiKey.id))), "succeeds", "its own child")
      })
    )
  })

  describe("revoke", () => {
    it.effect("K38: one's own needs no permission, another member's organization:write", () =>
      Effect.gen(function* () {
        const { key, organizationId, owner, writer } = yield* scene
        const nobody = yield* Fixture.member(organizationId)
        const own = yield* key(nobody)
        assert.strictEqual(yield* failure(by(own.secret)(revoke(own.apiKey.id))), "succeeds")
        assert.strictEqual(yield* rolesOf(own.secret), gone)
        const other = yield* key(owner)
        const stranger = yield* key(nobody)
        assert.strictEqual(yield* failure(by(stranger.secret)(revoke(other.apiKey.id))), lacks("organization:write"))
        assert.strictEqual(yield* rolesOf(other.secret), "A,B")
        const administrative = yield* Fixture.member(organizationId, { roles: [writer] })
        const administration = yield* key(administrative)
        assert.strictEqual(yield* failure(by(administration.secret)(revoke(other.apiKey.id))), "succeeds")
        assert.strictEqual(
          yield* failure(by(administration.secret)(revoke(other.apiKey.id))),
          "InvalidRequest: the API key is revoked",
          "twice"
        )
      })
    )

    it.effect("an end user's key does not revoke the host's", () =>
      Effect.gen(function* () {
        const { key, owner } = yield* scene
        const host = yield* key(owner)
        const client = (tenant: string) => ({ text: `{"tenant":"${tenant}"}`, attributes: { tenant } })
        const embedded = yield* key(owner, { clientMetadata: client("a") })
        const same = yield* key(owner, { clientMetadata: client("a") })
        const other = yield* key(owner, { clientMetadata: client("b") })
        for (const { apiKey } of [host, other]) {
          assert.strictEqual(yield* failure(by(embedded.secret)(revoke(apiKey.id))), lacks("organization:write"))
        }
        assert.strictEqual(yield* failure(by(embedded.secret)(revoke(same.apiKey.id))), "succeeds")
        assert.strictEqual(yield* failure(by(host.secret)(revoke(embedded.apiKey.id))), "succeeds")
      })
    )

    it.effect("a key that there is not, or not here, is not found", () =>
      Effect.gen(function* () {
        const { tenant } = yield* scene
        const foreign = yield* (yield* scene).key((yield* scene).owner)
        for (const id of [foreign.apiKey.id, ApiKeyId.make(yield* Uuid.next)]) {
          assert.strictEqual(yield* failure(by(tenant.adminKey)(revoke(id))), notFound)
          assert.strictEqual(yield* failure(by(tenant.adminKey)(rotate(id))), notFound)
        }
      })
    )

    it.effect("K29: a use that is noted while a key is revoked leaves it revoked", () =>
      Effect.gen(function* () {
        const { key, owner } = yield* scene
        const { apiKey, secret } = yield* key(owner)
        const store = yield* ApiKeyStore
        const read = Option.getOrThrow(yield* store.byHash(apiKey.hash))
        yield* Effect.all([Effect.exit(authenticate(secret)), as(person(owner, []))(revoke(apiKey.id))], {
          concurrency: "unbounded"
        })
        // What was read before the revocation is noted after it.
        yield* store.used(read.organizationId, read.id, yield* DateTime.now)
        assert.strictEqual(yield* rolesOf(secret), gone)
        assert.strictEqual(Option.getOrThrow(yield* store.byHash(apiKey.hash)).status._tag, "Revoked")
      })
    )

    it.effect("K29: a use is noted once a minute", () =>
      Effect.gen(function* () {
        const { key, owner } = yield* scene
        const { apiKey, secret } = yield* key(owner)
        const store = yield* ApiKeyStore
        const lastUsed = Effect.map(store.byHash(apiKey.hash), (found) => Option.getOrThrow(found).lastUsedAt)
        assert.isUndefined(yield* lastUsed)
        const first = yield* DateTime.now
        yield* authenticate(secret)
        assert.deepStrictEqual(yield* lastUsed, first)
        yield* TestClock.adjust("59 seconds")
        yield* authenticate(secret)
        assert.deepStrictEqual(yield* lastUsed, first)
        yield* TestClock.adjust("1 second")
        yield* authenticate(secret)
        assert.deepStrictEqual(yield* lastUsed, DateTime.add(first, { minutes: 1 }))
      })
    )
  })

  describe("list", () => {
    const list = (listing: Partial<Parameters<ApiKeys["Service"]["list"]>[0]> = {}) =>
      ApiKeys.use((keys) => keys.list({ limit: 100, ...listing }))

    const town = Effect.gen(function* () {
      const { key, organizationId, owner, reader, tenant } = yield* scene
      const overseer = yield* Fixture.member(organizationId, { roles: [reader] })
      const service = yield* Fixture.member(organizationId, { isServiceAccount: true })
      const staff = yield* Fixture.member(organizationId, { roles: [reader], standing: "staff" })
      const superadmin = yield* Fixture.member(organizationId, { roles: [reader], standing: "superadmin" })
      const keys = {
        admin: tenant.adminKeyId,
        owner: (yield* key(owner)).apiKey.id,
        overseer: (yield* key(overseer)).apiKey.id,
        service: (yield* key(service)).apiKey.id,
        staff: (yield* key(staff)).apiKey.id,
        superadmin: (yield* key(superadmin)).apiKey.id
      }
      return { tenant, reader, owner, overseer, service, staff, superadmin, keys, key }
    })

    it.effect("K35, K36: keys of staff are for superadmins alone to see", () =>
      Effect.gen(function* () {
        const { keys, overseer, reader, staff, superadmin } = yield* town
        const { admin, owner, service } = keys
        const ordinary = [admin, owner, keys.overseer, service].toSorted()
        assert.deepStrictEqual(ids(yield* as(person(overseer, [reader]))(list())), ordinary, "K35")
        const page = yield* as(person(overseer, [reader]))(list({ limit: 4 }))
        assert.notProperty(page, "next", "K35: nor are they counted")
        assert.deepStrictEqual(
          ids(yield* as(person(superadmin, [reader], true))(list())),
          [...ordinary, keys.staff, keys.superadmin].toSorted(),
          "K36"
        )
        assert.deepStrictEqual(
          ids(yield* as(person(staff, [reader]))(list())),
          [...ordinary, keys.staff].toSorted(),
          "one's own are no secret"
        )
        assert.strictEqual(yield* failure(as(person(overseer, [reader]))(revoke(keys.staff))), notFound)
      })
    )

    it.effect("K37, K4: without organization:read one's own, and only those", () =>
      Effect.gen(function* () {
        const { key, keys, owner, tenant } = yield* town
        const principal = person(owner, [])
        assert.deepStrictEqual(ids(yield* as(principal)(list())), [keys.owner])
        assert.deepStrictEqual(ids(yield* as(principal)(list({ scope: "personal" }))), [keys.owner])
        for (const scope of ["all", "service_accounts"] as const) {
          assert.strictEqual(yield* failure(as(principal)(list({ scope }))), lacks("organization:read"))
        }
        assert.include(yield* trail(tenant.organizationId), "list api_key refused")
        // K4: a key whose owner holds no role any more.
        const bare = yield* key(owner)
        yield* saveMember(withRoles(owner))
        assert.deepStrictEqual(ids(yield* by(bare.secret)(list())), [keys.owner, bare.apiKey.id].toSorted(), "K4")
      })
    )

    it.effect("by scope, with the revoked where they are asked for", () =>
      Effect.gen(function* () {
        const { keys, overseer, reader, service } = yield* town
        const principal = person(overseer, [reader])
        assert.deepStrictEqual(ids(yield* as(principal)(list({ scope: "service_accounts" }))), [keys.service])
        assert.deepStrictEqual(ids(yield* as(principal)(list({ scope: "personal" }))), [keys.overseer])
        yield* as(person(service, []))(revoke(keys.service))
        assert.deepStrictEqual(ids(yield* as(principal)(list({ scope: "service_accounts" }))), [])
        assert.deepStrictEqual(ids(yield* as(principal)(list({ scope: "service_accounts", includeRevoked: true }))), [
          keys.service
        ])
      })
    )

    it.effect("an end user's key lists that end user's alone", () =>
      Effect.gen(function* () {
        const { key, owner } = yield* town
        const client = (tenant: string) => ({ text: `{"tenant":"${tenant}"}`, attributes: { tenant } })
        const embedded = yield* key(owner, { clientMetadata: client("a") })
        const same = yield* key(owner, { clientMetadata: client("a") })
        yield* key(owner, { clientMetadata: client("b") })
        assert.deepStrictEqual(ids(yield* by(embedded.secret)(list())), [embedded.apiKey.id, same.apiKey.id].toSorted())
      })
    )

    it.effect("in pages, newest first", () =>
      Effect.gen(function* () {
        const { key, owner } = yield* scene
        const made: Array<ApiKeyId> = []
        for (let index = 0; index < 5; index++) {
          made.push((yield* key(owner)).apiKey.id)
          yield* TestClock.adjust("1 second")
        }
        const seen: Array<ApiKeyId> = []
        let page = yield* as(person(owner, []))(list({ limit: 2 }))
        seen.push(...page.items.map((item) => item.id))
        while (page.next !== undefined) {
          page = yield* as(person(owner, []))(list({ limit: 2, after: page.next }))
          seen.push(...page.items.map((item) => item.id))
        }
        assert.deepStrictEqual(seen, made.toReversed())
      })
    )
  })

  it.effect("K39: one entry in the audit log for each, with owner and key, and neither value nor hash", () =>
    Effect.gen(function* () {
      const { a, b, organizationId, owner } = yield* scene
      const principal = person(owner, [a, b])
      const minted = yield* as(principal)(mint({ assumedRoles: [a.id], name: "reporting" }))
      const rotated = yield* by(minted.secret)(rotate(minted.apiKey.id, 60))
      yield* as(principal)(revoke(rotated.apiKey.id))
      const stranger = yield* Fixture.member(organizationId)
      yield* failure(as(person(stranger, []))(revoke(minted.apiKey.id)))
      const events = yield* audited(organizationId)
      assert.deepStrictEqual(yield* trail(organizationId), [
        "mint api_key",
        "rotate api_key",
        "revoke api_key",
        "revoke api_key refused"
      ])
      assert.deepStrictEqual(
        events.map((event) => event.target.id),
        [minted.apiKey.id, minted.apiKey.id, rotated.apiKey.id, minted.apiKey.id]
      )
      assert.deepStrictEqual(
        events.map((event) => event.actor.memberId),
        [owner.id, owner.id, owner.id, stranger.id]
      )
      assert.deepInclude(events[0]?.after, { owner: owner.id, id: minted.apiKey.id, name: "reporting" })
      assert.deepInclude(events[1]?.actor.credential, { _tag: "ApiKey", id: minted.apiKey.id })
      const text = JSON.stringify(events)
      assert.include(text, rotated.apiKey.id)
      for (const { apiKey, secret } of [minted, rotated]) {
        assert.notInclude(text, Redacted.value(secret))
        assert.notInclude(text, apiKey.hash)
      }
    })
  )
})
