import { Authentication, layer as layerAuthentication } from "@castellan/core/access/Authentication"
import { decide } from "@castellan/core/access/AccessPolicy"
import { Credential, Principal } from "@castellan/core/access/Principal"
import { AssumedRoles } from "@castellan/core/apikey/ApiKey"
import { ApiKeys } from "@castellan/core/apikey/ApiKeys"
import { Member, MemberStatus } from "@castellan/core/member/Member"
import { MemberStore } from "@castellan/core/member/MemberStore"
import type { Role } from "@castellan/core/role/Role"
import { type Identity, IdentityTokens } from "@castellan/core/session/IdentityTokens"
import { Sessions } from "@castellan/core/session/Sessions"
import { as, audited, by, failure, trail } from "@castellan/testing/fixture/Acting"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { assert, describe, layer } from "@effect/vitest"
import { DateTime, Duration, Effect, Equal, Layer, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"

const mint = Sessions.use((sessions) => sessions.mint)
const revoke = (id: Parameters<ApiKeys["Service"]["revoke"]>[0]) => ApiKeys.use((keys) => keys.revoke(id))

const saveMember = (member: Member) => MemberStore.use((store) => store.save(member))

const withRoles = (member: Member, ...roles: ReadonlyArray<Role>): Member =>
  new Member({ ...member, roles: roles.map((role) => role.id) })

const snapshot = (...roles: ReadonlyArray<Role>) =>
  AssumedRoles.cases.Snapshot.make({ roles: roles.map((role) => role.id) })

const authenticate = (bearer: Redacted.Redacted<string>) =>
  Authentication.use((authentication) => authentication.authenticate(bearer))

const namesOf = (principal: Principal) => principal.roles.map((role) => role.name).toSorted()

/** The roles of a bearer value; its refusal when it has none. */
const rolesOf = (bearer: Redacted.Redacted<string>) =>
  Effect.match(authenticate(bearer), {
    onFailure: (error) => `401 ${error.message}`,
    onSuccess: (principal) => namesOf(principal).join(",")
  })

const ended = "401 invalid or expired token"

const scene = Effect.gen(function* () {
  const tenant = yield* Fixture.tenant()
  const a = yield* Fixture.role(tenant.organizationId, { name: "A", permissions: ["chat:read"] })
  const b = yield* Fixture.role(tenant.organizationId, { name: "B", permissions: ["chat:write"] })
  const owner = yield* Fixture.member(tenant.organizationId, { roles: [a, b] })
  return { tenant, organizationId: tenant.organizationId, a, b, owner }
})

/** A member by a token of the host's identity provider. */
const person = (member: Member, roles: ReadonlyArray<Role>, ceiling?: ReadonlyArray<Role>) =>
  new Principal({
    organizationId: member.organizationId,
    memberId: member.id,
    roles,
    restricted: false,
    credential: Credential.cases.Token.make(ceiling === undefined ? {} : { ceiling: ceiling.map((role) => role.id) })
  })

layer(Deployment.layer())("Sessions", (it) => {
  it.effect("holds a quarter of an hour, with thirty seconds for clocks that differ", () =>
    Effect.gen(function* () {
      const { a, b, owner } = yield* scene
      const { session, token } = yield* as(person(owner, [a, b]))(mint)
      assert.deepStrictEqual(session.expiresAt, DateTime.add(yield* DateTime.now, { minutes: 15 }))
      const principal = yield* authenticate(token)
      assert.strictEqual(principal.memberId, owner.id)
      assert.isFalse(principal.restricted)
      assert.deepStrictEqual(namesOf(principal), ["A", "B"])
      assert.deepStrictEqual(principal.credential, {
        _tag: "Session",
        id: session.id,
        authenticatedAt: session.issuedAt
      })
      yield* TestClock.adjust("15 minutes")
      assert.strictEqual(yield* rolesOf(token), "A,B")
      yield* TestClock.adjust(Duration.millis(29_999))
      assert.strictEqual(yield* rolesOf(token), "A,B")
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* rolesOf(token), ended)
    })
  )

  it.effect("a person's sessions are renewed for twelve hours, and not a moment longer", () =>
    Effect.gen(function* () {
      const { a, b, owner } = yield* scene
      const signedIn = yield* DateTime.now
      let current = yield* as(person(owner, [a, b]))(mint)
      for (let minutes = 0; minutes < 705; minutes += 15) {
        yield* TestClock.adjust("15 minutes")
        current = yield* by(current.token)(mint)
        assert.deepStrictEqual(current.session.authenticatedAt, signedIn)
      }
      yield* TestClock.adjust("10 minutes")
      const last = yield* by(current.token)(mint)
      assert.deepStrictEqual(
        last.session.expiresAt,
        DateTime.add(signedIn, { hours: 12 }),
        "it ends with the twelve hours"
      )
      assert.strictEqual(yield* rolesOf(last.token), "A,B")
      yield* TestClock.adjust(Duration.millis(5 * 60_000 - 1))
      assert.deepStrictEqual((yield* by(last.token)(mint)).session.expiresAt, DateTime.add(signedIn, { hours: 12 }))
      yield* TestClock.adjust("1 millis")
      // Clocks may differ, so that a request may still come by it; it is not renewed.
      assert.strictEqual(yield* rolesOf(last.token), "A,B")
      const refused = yield* failure(by(last.token)(mint))
      assert.strictEqual(refused, "Unauthenticated: the session cannot be renewed any longer: sign in again")
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual(yield* rolesOf(last.token), ended)
      // Who signs in again begins anew.
      assert.strictEqual(yield* rolesOf((yield* as(person(owner, [a, b]))(mint)).token), "A,B")
    })
  )

  it.effect("a key's sessions are renewed as long as the key is there, and end with it", () =>
    Effect.gen(function* () {
      const { owner } = yield* scene
      const key = yield* Fixture.key(owner)
      let current = yield* by(key.secret)(mint)
      for (let hour = 0; hour < 4 * 24; hour++) {
        yield* TestClock.adjust("15 minutes")
        current = yield* by(current.token)(mint)
      }
      assert.isUndefined(current.session.authenticatedAt)
      yield* by(key.secret)(revoke(key.apiKey.id))
      assert.strictEqual(yield* rolesOf(current.token), ended)
    })
  )

  it.effect("K40: a role that is taken away reaches a key at once, and a session when it is renewed", () =>
    Effect.gen(function* () {
      const { a, b, owner } = yield* scene
      const key = yield* Fixture.key(owner)
      const byPerson = yield* as(person(owner, [a, b]))(mint)
      const byKey = yield* by(key.secret)(mint)
      yield* saveMember(withRoles(owner, a))
      yield* TestClock.adjust("5 minutes")
      assert.strictEqual(yield* rolesOf(key.secret), "A")
      for (const { token } of [byPerson, byKey]) {
        assert.strictEqual(yield* rolesOf(token), "A,B")
        const renewed = yield* by(token)(mint)
        assert.strictEqual(yield* rolesOf(renewed.token), "A")
      }
    })
  )

  it.effect("a role that a person gains reaches their session when it is renewed, and never one of a key", () =>
    Effect.gen(function* () {
      const { a, b, owner } = yield* scene
      const only = withRoles(owner, a)
      yield* saveMember(only)
      const key = yield* Fixture.key(only)
      const [byPerson, byKey] = [yield* as(person(only, [a]))(mint), yield* by(key.secret)(mint)]
      yield* saveMember(withRoles(owner, a, b))
      assert.strictEqual(yield* rolesOf((yield* by(byPerson.token)(mint)).token), "A,B")
      assert.strictEqual(yield* rolesOf((yield* by(byKey.token)(mint)).token), "A")
    })
  )

  it.effect("a token that names roles is not exceeded by the sessions that come of it", () =>
    Effect.gen(function* () {
      const { a, b, owner } = yield* scene
      const first = yield* as(person(owner, [a], [a]))(mint)
      assert.strictEqual(yield* rolesOf(first.token), "A")
      const second = yield* by(first.token)(mint)
      assert.strictEqual(yield* rolesOf(second.token), "A")
      assert.deepStrictEqual(second.session.ceiling, [a.id])
      const child = yield* by(second.token)(ApiKeys.use((keys) => keys.mint({ inheritAllRoles: true })))
      assert.strictEqual(yield* rolesOf(child.secret), "A")
      assert.strictEqual(b.name, "B")
    })
  )

  it.effect("L2, L5: a session of a restricted key is as restricted, for the same end user, and of the same line", () =>
    Effect.gen(function* () {
      const { a, organizationId, owner } = yield* scene
      const clientMetadata = { text: '{"tenant":"a"}', attributes: { tenant: "a" } }
      const former = yield* Fixture.key(owner)
      const key = yield* Fixture.key(owner, {
        assumedRoles: snapshot(a),
        clientMetadata,
        rotatedFrom: [former.apiKey.id]
      })
      const { token } = yield* by(key.secret)(mint)
      const principal = yield* authenticate(token)
      assert.isTrue(principal.restricted)
      assert.deepStrictEqual(principal.clientMetadata, clientMetadata)
      assert.deepStrictEqual(principal.key, { id: key.apiKey.id, rotatedFrom: [former.apiKey.id] })
      assert.deepStrictEqual(namesOf(principal), ["A"])
      // What is shared with the member is as invisible as it is to the key.
      const shared = {
        isPublic: false,
        grants: [{ grantee: { _tag: "Member", id: owner.id }, accessType: "viewer" }]
      } as const
      const need = { permission: "chat:read", access: "viewer", object: "chat" } as const
      const now = yield* DateTime.now
      const reason = (of: Principal) => {
        const decision = decide(of, shared, need, now)
        return decision._tag === "Deny" ? decision.reason : "allowed"
      }
      assert.strictEqual(reason(principal), "hidden")
      const renewed = yield* authenticate((yield* by(token)(mint)).token)
      assert.strictEqual(reason(renewed), "hidden")
      const full = yield* Fixture.key(owner, { fullMemberAccess: true })
      assert.strictEqual(reason(yield* authenticate((yield* by(full.secret)(mint)).token)), "allowed")
      // Nor does it mint keys that reach further.
      const request = { inheritAllRoles: true, fullMemberAccess: true } as const
      assert.match(
        yield* failure(by(token)(ApiKeys.use((keys) => keys.mint(request)))),
        /^PermissionDenied: .*fullMemberAccess/u
      )
      const child = yield* by(token)(ApiKeys.use((keys) => keys.mint({ inheritAllRoles: true })))
      assert.deepStrictEqual(child.apiKey.ancestors, [key.apiKey.id])
      assert.strictEqual(principal.organizationId, organizationId)
    })
  )

  it.effect("a session never outlives the key that minted it", () =>
    Effect.gen(function* () {
      const { owner } = yield* scene
      const expiresAt = DateTime.add(yield* DateTime.now, { minutes: 5 })
      const short = yield* Fixture.key(owner, { expiresAt })
      const { session, token } = yield* by(short.secret)(mint)
      assert.deepStrictEqual(session.expiresAt, expiresAt)
      yield* TestClock.adjust(Duration.millis(299_999))
      assert.strictEqual(yield* rolesOf(token), "A,B")
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* rolesOf(token), ended, "without the leeway of tokens")
      const key = yield* Fixture.key(owner)
      const parent = yield* by(key.secret)(ApiKeys.use((keys) => keys.mint({ inheritAllRoles: true })))
      const ofChild = yield* by(parent.secret)(mint)
      yield* by(key.secret)(revoke(key.apiKey.id))
      assert.strictEqual(yield* rolesOf(ofChild.token), ended)
    })
  )

  it.effect("K33: a session of a member who left is 401, and so is renewing it", () =>
    Effect.gen(function* () {
      const { a, b, owner } = yield* scene
      const principal = person(owner, [a, b])
      const { token } = yield* as(principal)(mint)
      const status = MemberStatus.cases.Deactivated.make({ at: yield* DateTime.now })
      yield* saveMember(new Member({ ...owner, status }))
      assert.strictEqual(yield* rolesOf(token), ended)
      assert.strictEqual(yield* failure(as(principal)(mint)), "Unauthenticated: Authentication required")
      yield* MemberStore.use((store) => store.remove(owner.organizationId, owner.id))
      assert.strictEqual(yield* rolesOf(token), ended)
    })
  )

  it.effect("a login is on the record, without the token; background work has no sessions", () =>
    Effect.gen(function* () {
      const { a, b, organizationId, owner } = yield* scene
      const { session, token } = yield* as(person(owner, [a, b]))(mint)
      const system = new Principal({
        ...person(owner, [a, b]),
        credential: Credential.cases.System.make({ name: "x" })
      })
      assert.match(yield* failure(as(system)(mint)), /^PermissionDenied: /u)
      assert.deepStrictEqual(yield* trail(organizationId), ["login session", "login session refused"])
      const events = yield* audited(organizationId)
      assert.strictEqual(events[0]?.target.id, session.id)
      assert.notInclude(JSON.stringify(events), Redacted.value(token))
    })
  )

  describe("several credentials in one request", () => {
    const together = (...bearers: ReadonlyArray<Redacted.Redacted<string>>) =>
      Effect.match(
        Authentication.use((authentication) => authentication.authenticateAll(bearers)),
        {
          onFailure: (error) => `401 ${error.message}`,
          onSuccess: (principal) => principal.memberId
        }
      )

    it.effect("K34: different principals are 401, whatever each of them may do", () =>
      Effect.gen(function* () {
        const { owner, tenant } = yield* scene
        const one = yield* Fixture.key(owner)
        const two = yield* Fixture.key(owner)
        const { token } = yield* by(one.secret)(mint)
        const refused = "401 the credentials of the request name different principals"
        assert.strictEqual(yield* together(one.secret, one.secret), owner.id)
        assert.strictEqual(yield* together(one.secret), owner.id)
        assert.strictEqual(yield* together(one.secret, two.secret), refused, "two keys of one member")
        assert.strictEqual(yield* together(one.secret, tenant.adminKey), refused)
        assert.strictEqual(yield* together(one.secret, token), refused, "a key, and a session of it")
        assert.strictEqual(yield* together(token, token), owner.id)
      })
    )

    it.effect("K34: one that is not valid is not made good by another that is", () =>
      Effect.gen(function* () {
        const { owner } = yield* scene
        const good = yield* Fixture.key(owner)
        const revoked = yield* Fixture.key(owner)
        yield* by(revoked.secret)(revoke(revoked.apiKey.id))
        assert.strictEqual(yield* together(good.secret, revoked.secret), "401 invalid API key: API key not found")
        assert.strictEqual(yield* together(revoked.secret, good.secret), "401 invalid API key: API key not found")
        assert.strictEqual(yield* together(good.secret, Redacted.make("x")), "401 invalid API key format")
        assert.strictEqual(yield* together(good.secret, Redacted.make("")), "401 Authentication required")
        assert.strictEqual(yield* together(), "401 Authentication required")
      })
    )
  })

  it.effect("a token that nobody knows is 401, and no key of another format", () =>
    Effect.gen(function* () {
      for (const token of ["a.b.c", "a.b.", "eyJhbGciOiJub25lIn0.e30."]) {
        assert.strictEqual(yield* rolesOf(Redacted.make(token)), ended)
      }
      for (const value of ["a.b", "a.b.c.d", ".b.c", "a..c", "a.b.c "]) {
        assert.strictEqual(yield* rolesOf(Redacted.make(value)), "401 invalid API key format", value)
      }
    })
  )
})

describe("tokens of an identity provider", () => {
  /** The one token that the provider knows, and what it says. */
  const provided = (identity: Identity) =>
    Layer.fresh(layerAuthentication).pipe(
      Layer.provide(
        Layer.succeed(IdentityTokens, {
          read: (token) => Effect.succeed(Redacted.value(token) === "h.p.s" ? Option.some(identity) : Option.none())
        })
      )
    )

  layer(Deployment.layer())("IdentityTokens", (it) => {
    const tell = (identity: Identity, token = "h.p.s") =>
      Effect.match(authenticate(Redacted.make(token)), {
        onFailure: (error) => `401 ${error.message}`,
        onSuccess: (principal) => `${namesOf(principal).join(",")} ${principal.restricted}`
      }).pipe(Effect.provide(provided(identity)))

    it.effect("its roles are read live, and only as far as it names them; it is never restricted", () =>
      Effect.gen(function* () {
        const { a, b, organizationId, owner, tenant } = yield* scene
        const now = yield* DateTime.now
        const identity = { organizationId, memberId: owner.id, expiresAt: DateTime.add(now, { minutes: 1 }) }
        assert.strictEqual(yield* tell(identity), "A,B false")
        assert.strictEqual(yield* tell({ ...identity, roles: [a.id, tenant.adminRole.id] }), "A false")
        assert.strictEqual(yield* tell({ ...identity, roles: [] }), " false", "no role, never all")
        yield* saveMember(withRoles(owner, b))
        assert.strictEqual(yield* tell(identity), "B false")
        assert.strictEqual(yield* tell({ ...identity, roles: [a.id] }), " false")
        assert.strictEqual(yield* tell(identity, "h.p.x"), ended)
      })
    )

    it.effect("holds between its times, with thirty seconds on either side", () =>
      Effect.gen(function* () {
        const { organizationId, owner } = yield* scene
        const now = yield* DateTime.now
        const at = (milliseconds: number) => DateTime.addDuration(now, Duration.millis(milliseconds))
        const identity = { organizationId, memberId: owner.id }
        const rows: ReadonlyArray<readonly [number, number | undefined, string]> = [
          [1, undefined, "A,B false"],
          [-29_999, undefined, "A,B false"],
          [-30_000, undefined, ended],
          [60_000, 30_000, "A,B false"],
          [60_000, 30_001, ended],
          [60_000, -1, "A,B false"]
        ]
        for (const [expiry, start, expected] of rows) {
          const times = { expiresAt: at(expiry), ...(start === undefined ? {} : { notBefore: at(start) }) }
          assert.strictEqual(yield* tell({ ...identity, ...times }), expected, `${expiry} ${start}`)
        }
      })
    )

    it.effect("K33: of a member who left, who never was, or who is of another organization it is 401", () =>
      Effect.gen(function* () {
        const { organizationId, owner } = yield* scene
        const other = yield* scene
        const expiresAt = DateTime.add(yield* DateTime.now, { minutes: 1 })
        const status = MemberStatus.cases.Deactivated.make({ at: yield* DateTime.now })
        assert.strictEqual(yield* tell({ organizationId, memberId: other.owner.id, expiresAt }), ended)
        yield* saveMember(new Member({ ...owner, status }))
        assert.strictEqual(yield* tell({ organizationId, memberId: owner.id, expiresAt }), ended)
      })
    )

    it.effect("without a provider every token is unknown", () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* rolesOf(Redacted.make("h.p.s")), ended)
        assert.isTrue(Equal.equals(yield* (yield* IdentityTokens).read(Redacted.make("h.p.s")), Option.none()))
      })
    )
  })
})
