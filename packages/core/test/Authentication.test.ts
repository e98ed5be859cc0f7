import { Authentication, layer as layerAuthentication } from "@castellan/core/access/Authentication"
import { requires } from "@castellan/core/access/PermissionPolicy"
import { ApiKey, ApiKeyStatus, AssumedRoles } from "@castellan/core/apikey/ApiKey"
import * as ApiKeySecret from "@castellan/core/apikey/ApiKeySecret"
import { revoke } from "@castellan/core/apikey/ApiKeyState"
import { ApiKeyStore } from "@castellan/core/apikey/ApiKeyStore"
import { Member, MemberStatus } from "@castellan/core/member/Member"
import { MemberStore } from "@castellan/core/member/MemberStore"
import type { Role } from "@castellan/core/role/Role"
import * as HmacSessionTokens from "@castellan/core/session/HmacSessionTokens"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import * as Sample from "@castellan/testing/fixture/Sample"
import * as Stores from "@castellan/core/memory/Stores"
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Layer, Redacted, Result } from "effect"
import { TestClock } from "effect/testing"

const authenticate = (secret: ApiKeySecret.ApiKeySecret) =>
  Authentication.use((authentication) => authentication.authenticate(secret))

const refusal = (secret: ApiKeySecret.ApiKeySecret) =>
  Effect.map(Effect.flip(authenticate(secret)), (error) => `${error.code}: ${error.message}`)

const unknown = "unauthenticated: invalid API key: API key not found"
const malformed = "unauthenticated: invalid API key format"

const saveMember = (member: Member) => MemberStore.use((store) => store.save(member))
const saveKey = (key: ApiKey) => ApiKeyStore.use((store) => store.save(key))

const withRoles = (member: Member, ...roles: ReadonlyArray<Role>): Member =>
  new Member({ ...member, roles: roles.map((role) => role.id) })

const snapshot = (...roles: ReadonlyArray<Pick<Role, "id">>) =>
  AssumedRoles.cases.Snapshot.make({ roles: roles.map((role) => role.id) })

/** An organization whose role A may read chats, and whose role B may write them. */
const scene = Effect.gen(function* () {
  const organizationId = yield* Sample.organizationId
  const a = yield* Fixture.role(organizationId, { name: "A", permissions: ["chat:read"] })
  const b = yield* Fixture.role(organizationId, { name: "B", permissions: ["chat:write"] })
  const owner = yield* Fixture.member(organizationId, { roles: [a, b] })
  return { organizationId, a, b, owner }
})

/** What a key may do now: the names of its effective roles, and whether it may do what B allows. */
const powers = (secret: ApiKeySecret.ApiKeySecret) =>
  Effect.map(authenticate(secret), (principal) => ({
    roles: principal.roles.map((role) => role.name).toSorted(),
    writes: requires(principal, "chat:write")._tag === "Allow"
  }))

layer(
  layerAuthentication.pipe(
    Layer.provide(HmacSessionTokens.layerMemory),
    Layer.provideMerge(Stores.layerMemory),
    Layer.provideMerge(layerCrypto)
  )
)("Authentication", (it) => {
  it.effect("tells who a key speaks for", () =>
    Effect.gen(function* () {
      const { a, b, organizationId, owner } = yield* scene
      const clientMetadata = { text: '{"tenant":"a"}', attributes: { tenant: "a" } }
      const { apiKey, secret } = yield* Fixture.key(owner, { clientMetadata, fullMemberAccess: true })
      const principal = yield* authenticate(secret)
      assert.strictEqual(principal.organizationId, organizationId)
      assert.strictEqual(principal.memberId, owner.id)
      assert.deepStrictEqual(principal.roles, [a, b])
      assert.deepStrictEqual(principal.clientMetadata, clientMetadata)
      assert.isFalse(principal.restricted)
      assert.deepStrictEqual(principal.credential, { _tag: "ApiKey", id: apiKey.id, rotatedFrom: [] })
      const restricted = yield* Fixture.key(owner)
      const withoutClient = yield* authenticate(restricted.secret)
      assert.isTrue(withoutClient.restricted)
      assert.notProperty(withoutClient, "clientMetadata")
    })
  )

  it.effect("K1: snapshot {A,B}, owner live {A}: what needs B is denied", () =>
    Effect.gen(function* () {
      const { a, b, owner } = yield* scene
      const { secret } = yield* Fixture.key(owner, { assumedRoles: snapshot(a, b) })
      assert.deepStrictEqual(yield* powers(secret), { roles: ["A", "B"], writes: true })
      yield* saveMember(withRoles(owner, a))
      assert.deepStrictEqual(yield* powers(secret), { roles: ["A"], writes: false })
    })
  )

  it.effect("K2: snapshot {A}, owner later gains B: what needs B is denied", () =>
    Effect.gen(function* () {
      const { a, b, owner } = yield* scene
      const only = withRoles(owner, a)
      yield* saveMember(only)
      const { secret } = yield* Fixture.key(only, { assumedRoles: snapshot(a) })
      yield* saveMember(withRoles(owner, a, b))
      assert.deepStrictEqual(yield* powers(secret), { roles: ["A"], writes: false })
    })
  )

  it.effect("K3: snapshot {A}, A removed and granted again: A counts again", () =>
    Effect.gen(function* () {
      const { a, owner } = yield* scene
      const { secret } = yield* Fixture.key(owner, { assumedRoles: snapshot(a) })
      yield* saveMember(withRoles(owner))
      assert.deepStrictEqual((yield* powers(secret)).roles, [])
      yield* saveMember(withRoles(owner, a))
      assert.deepStrictEqual((yield* powers(secret)).roles, ["A"])
    })
  )

  it.effect("K4: snapshot {A}, owner live {}: authenticates, and may do nothing", () =>
    Effect.gen(function* () {
      const { a, owner } = yield* scene
      const { secret } = yield* Fixture.key(owner, { assumedRoles: snapshot(a) })
      yield* saveMember(withRoles(owner))
      const principal = yield* authenticate(secret)
      assert.strictEqual(requires(principal, "chat:read")._tag, "Deny")
    })
  )

  it.effect("K5: a role of the snapshot that is gone is ignored", () =>
    Effect.gen(function* () {
      const { a, organizationId, owner } = yield* scene
      const gone = yield* Sample.role(organizationId, { name: "gone", permissions: ["chat:write"] })
      yield* saveMember(withRoles(owner, a, gone))
      const { secret } = yield* Fixture.key(owner, { assumedRoles: snapshot(a, gone) })
      assert.deepStrictEqual(yield* powers(secret), { roles: ["A"], writes: false })
    })
  )

  it.effect("K6: a legacy key follows its owner, both ways", () =>
    Effect.gen(function* () {
      const { a, b, owner } = yield* scene
      const { secret } = yield* Fixture.key(owner, { assumedRoles: AssumedRoles.cases.Live.make({}) })
      yield* saveMember(withRoles(owner, a))
      assert.deepStrictEqual(yield* powers(secret), { roles: ["A"], writes: false })
      yield* saveMember(withRoles(owner, a, b))
      assert.deepStrictEqual(yield* powers(secret), { roles: ["A", "B"], writes: true })
    })
  )

  it.effect("K7: an empty snapshot is no role, never all", () =>
    Effect.gen(function* () {
      const { owner } = yield* scene
      const { secret } = yield* Fixture.key(owner, { assumedRoles: snapshot() })
      assert.deepStrictEqual(yield* powers(secret), { roles: [], writes: false })
    })
  )

  it.effect("K23: an administrator's key that does not assume admin is no administrator", () =>
    Effect.gen(function* () {
      const tenant = yield* Fixture.tenant()
      const admin = { id: tenant.adminId, organizationId: tenant.organizationId, roles: [tenant.adminRole.id] }
      const { secret } = yield* Fixture.key(admin, { assumedRoles: snapshot(tenant.memberRole) })
      const principal = yield* authenticate(secret)
      assert.isFalse(principal.isAdmin)
      assert.strictEqual(requires(principal, "role:write")._tag, "Deny")
      assert.isTrue((yield* authenticate(tenant.adminKey)).isAdmin)
    })
  )

  it.effect("K24: at the very moment of its expiry a key has expired", () =>
    Effect.gen(function* () {
      const { owner } = yield* scene
      const now = yield* DateTime.now
      const expiresAt = DateTime.add(now, { seconds: 60 })
      const { secret } = yield* Fixture.key(owner, { expiresAt })
      yield* TestClock.adjust("59999 millis")
      yield* authenticate(secret)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* refusal(secret), unknown)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* refusal(secret), unknown)
    })
  )

  it.effect("K30: a reformatted value is refused by its format", () =>
    Effect.gen(function* () {
      const { owner } = yield* scene
      const { secret } = yield* Fixture.key(owner)
      const value = Redacted.value(secret)
      const reformatted = [
        ` ${value}`,
        `${value} `,
        `${value}\n`,
        `${value.slice(0, 24)}\r\n${value.slice(24)}`,
        `${value}=`,
        `${value}====`,
        value.toLowerCase(),
        value.slice(0, -1),
        value.slice(4),
        `${value}${value}`,
        `"${value}"`,
        encodeURIComponent(`${value}+/`),
        "x",
        "ünïcödé",
        "\u0000",
        "a".repeat(100_000)
      ]
      for (const one of reformatted) assert.strictEqual(yield* refusal(Redacted.make(one)), malformed, one)
    })
  )

  it.effect("K30: the url-safe alphabet is another format", () =>
    Effect.gen(function* () {
      const { owner } = yield* scene
      // Some values have neither of the two signs that the alphabets differ in; look for one that has.
      const issued = yield* Effect.repeat(Fixture.key(owner), {
        until: ({ secret }) => /[+/]/u.test(Redacted.value(secret))
      })
      const value = Redacted.value(issued.secret)
      yield* authenticate(issued.secret)
      const urlSafe = value.replaceAll("+", "-").replaceAll("/", "_")
      assert.strictEqual(yield* refusal(Redacted.make(urlSafe)), malformed)
    })
  )

  it.effect("K31, K32: an unknown value, a revoked key and one of another deployment read the same", () =>
    Effect.gen(function* () {
      const { owner } = yield* scene
      const { apiKey, secret } = yield* Fixture.key(owner)
      yield* authenticate(secret)
      yield* saveKey(Result.getOrThrow(revoke(apiKey, yield* DateTime.now)))
      const revoked = yield* Effect.flip(authenticate(secret))
      const foreign = yield* Effect.flip(authenticate(yield* ApiKeySecret.generate))
      assert.strictEqual(`${revoked.code}: ${revoked.message}`, unknown)
      assert.deepStrictEqual({ ...foreign, message: foreign.message }, { ...revoked, message: revoked.message })
    })
  )

  it.effect("K33: a key of a deactivated or deleted owner is no key", () =>
    Effect.gen(function* () {
      const { organizationId, owner } = yield* scene
      const { secret } = yield* Fixture.key(owner)
      yield* saveMember(
        new Member({ ...owner, status: MemberStatus.cases.Deactivated.make({ at: yield* DateTime.now }) })
      )
      assert.strictEqual(yield* refusal(secret), unknown)
      const deleted = yield* Sample.member(organizationId)
      assert.strictEqual(yield* refusal((yield* Fixture.key(deleted)).secret), unknown)
    })
  )

  it.effect("a key never crosses to another organization: neither its owner nor its roles are looked up there", () =>
    Effect.gen(function* () {
      const ours = yield* scene
      const theirs = yield* scene
      const { apiKey, secret } = yield* Fixture.key(ours.owner)
      yield* saveKey(new ApiKey({ ...apiKey, organizationId: theirs.organizationId }))
      assert.strictEqual(yield* refusal(secret), unknown)
      const mixed = withRoles(ours.owner, theirs.a, theirs.b)
      yield* saveMember(mixed)
      const other = yield* Fixture.key(mixed, { assumedRoles: AssumedRoles.cases.Live.make({}) })
      assert.deepStrictEqual((yield* authenticate(other.secret)).roles, [])
    })
  )

  it.effect("without a value there is nothing to say about a key", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* refusal(Redacted.make("")), "unauthenticated: Authentication required")
    })
  )

  it.effect("an expired key that is also revoked is no key either, and the value is in no error", () =>
    Effect.gen(function* () {
      const { owner } = yield* scene
      const now = yield* DateTime.now
      const { secret } = yield* Fixture.key(owner, {
        expiresAt: now,
        status: ApiKeyStatus.cases.Revoked.make({ at: now })
      })
      const error = yield* Effect.flip(authenticate(secret))
      assert.notInclude(JSON.stringify(error), Redacted.value(secret))
      assert.notInclude(String(error.stack), Redacted.value(secret))
    })
  )
})
