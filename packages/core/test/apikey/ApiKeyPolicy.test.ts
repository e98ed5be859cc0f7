import { type Deny, allow, deny, type Decision } from "@castellan/core/access/Decision"
import { Credential, Principal } from "@castellan/core/access/Principal"
import { ApiKey, ApiKeyId, ApiKeyStatus, AssumedRoles } from "@castellan/core/apikey/ApiKey"
import * as ApiKeyPolicy from "@castellan/core/apikey/ApiKeyPolicy"
import { recordOf } from "@castellan/core/apikey/ApiKeyRecord"
import * as MintPolicy from "@castellan/core/apikey/MintPolicy"
import type { KeyTerms } from "@castellan/core/apikey/KeyRequest"
import * as Uuid from "@castellan/core/identifier/Uuid"
import { MemberStatus } from "@castellan/core/member/Member"
import { RoleOrigin } from "@castellan/core/role/Role"
import { SessionId } from "@castellan/core/session/SessionId"
import * as SessionPolicy from "@castellan/core/session/SessionPolicy"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import { assert, layer } from "@effect/vitest"
import { DateTime, Duration, Effect, Result } from "effect"

const now = DateTime.makeUnsafe("2030-05-05T12:00:00.000Z")
const after = (seconds: number) => DateTime.add(now, { seconds })

const client = (tenant: string) => ({ text: `{"tenant":"${tenant}"}`, attributes: { tenant } })

/** Roles A and B, a member with both, another one, and principals of the first by every credential. */
const scene = Effect.gen(function* () {
  const organizationId = yield* Sample.organizationId
  const a = yield* Sample.role(organizationId, { name: "A" })
  const b = yield* Sample.role(organizationId, { name: "B" })
  const writer = yield* Sample.role(organizationId, { name: "writer", permissions: ["organization:write"] })
  const admin = yield* Sample.role(organizationId, {
    name: "admin",
    permissions: ["organization:write"],
    origin: RoleOrigin.cases.System.make({ name: "admin" })
  })
  const owner = yield* Sample.member(organizationId, { roles: [a, b] })
  const other = yield* Sample.member(organizationId, { roles: [writer] })
  const make = Effect.fnUntraced(function* (of: typeof owner, options: Sample.KeyOptions = {}) {
    return (yield* Sample.key(of, options)).apiKey
  })
  const of = (member: typeof owner, credential: Credential, given: Partial<Principal> = {}) =>
    new Principal({
      organizationId,
      memberId: member.id,
      roles: given.roles ?? [a],
      restricted: given.restricted ?? true,
      credential,
      ...(given.clientMetadata === undefined ? {} : { clientMetadata: given.clientMetadata })
    })
  const by = (key: ApiKey) => Credential.cases.ApiKey.make({ id: key.id, rotatedFrom: [] })
  const sessionId = SessionId.make(yield* Uuid.next)
  return { organizationId, a, b, writer, admin, owner, other, make, of, by, sessionId }
})

const own = allow("own", "one's own key")

const refused = (decision: Decision): Deny["reason"] | "allowed" =>
  decision._tag === "Deny" ? decision.reason : "allowed"

layer(layerCrypto)("ApiKeyPolicy", (it) => {
  it.effect("L5: a caller by a key is shown what is at it, below it, or within it, and nothing else", () =>
    Effect.gen(function* () {
      const { a, admin, b, by, make, of, other, owner, writer } = yield* scene
      const only = { assumedRoles: AssumedRoles.cases.Snapshot.make({ roles: [a.id] }) }
      const caller = yield* make(owner, { ...only, expiresAt: after(60) })
      const eternal = yield* make(owner, only)
      const principal = of(owner, by(caller))
      const decided = (key: ApiKey, given: Partial<Principal> = {}, callerKey = caller, member = owner) =>
        ApiKeyPolicy.rotate(of(member, by(callerKey), given), key, { owner, callerKey })
      assert.deepStrictEqual(decided(caller), own, "itself")
      const below = yield* make(owner, { ancestors: [eternal.id, caller.id], fullMemberAccess: true })
      assert.deepStrictEqual(decided(below), own, "below it, whatever it is")
      const within = yield* make(owner, { ...only, expiresAt: after(60) })
      assert.deepStrictEqual(decided(within), own, "within it, to the same moment")
      assert.deepStrictEqual(decided(yield* make(owner, { ...only, expiresAt: after(59) })), own)
      const later = yield* make(owner, { ...only, expiresAt: after(61) })
      assert.deepStrictEqual(decided(later), deny("not_held", "permission denied: the key expires later than yours"))
      assert.deepStrictEqual(decided(later, {}, eternal), own, "a caller without an end")
      assert.strictEqual(refused(decided(eternal)), "not_held")
      assert.deepStrictEqual(decided(eternal, {}, yield* make(owner, only)), own)
      const wider = yield* make(owner, { expiresAt: after(60) })
      assert.deepStrictEqual(
        decided(wider),
        deny("not_held", "permission denied: the key has a role that you do not hold", { roles: [b.id] })
      )
      assert.deepStrictEqual(decided(wider, { roles: [b, a] }), own)
      assert.deepStrictEqual(decided(wider, { roles: [admin] }), own, "admin has what every role gives")
      const legacy = yield* make(owner, { assumedRoles: AssumedRoles.cases.Live.make({}), expiresAt: after(60) })
      assert.strictEqual(refused(decided(legacy)), "not_held")
      // It has no role that the caller lacks today; it would have each that its owner is given tomorrow (K2, K6).
      assert.deepStrictEqual(
        decided(legacy, { roles: [a, b] }),
        deny("not_held", "permission denied: the key gains the roles that its owner is given, and yours does not")
      )
      const live = yield* make(owner, { assumedRoles: AssumedRoles.cases.Live.make({}), expiresAt: after(60) })
      assert.deepStrictEqual(decided(legacy, { roles: [a, b] }, live), own, "a caller by another one like it")
      assert.deepStrictEqual(decided(legacy, { roles: [admin] }), own, "admin has what every role gives, in time too")
      const legacyOfOther = yield* make(other, { assumedRoles: AssumedRoles.cases.Live.make({}), expiresAt: after(60) })
      const writing = of(owner, by(live), { roles: [a, b, writer] })
      const another = ApiKeyPolicy.rotate(writing, legacyOfOther, { owner: other, callerKey: live })
      assert.strictEqual(refused(another), "not_held", "what another member is given is another matter")
      const full = yield* make(owner, { ...only, expiresAt: after(60), fullMemberAccess: true })
      assert.strictEqual(refused(decided(full)), "full_member_access")
      assert.deepStrictEqual(decided(full, { restricted: false }), own)
      // A caller for an end user, with the permission that stands in for ownership.
      const embedded = { roles: [a, writer], clientMetadata: client("a") }
      assert.strictEqual(refused(decided(within, embedded)), "client_metadata")
      const sameClient = yield* make(owner, { ...only, expiresAt: after(60), clientMetadata: client("a") })
      assert.deepStrictEqual(decided(sameClient, embedded), own)
      assert.strictEqual(refused(decided(within, { clientMetadata: client("a") })), "permission")
      // Another member's key: the permission, and within reach.
      assert.strictEqual(refused(decided(within, { roles: [a] }, caller, other)), "permission")
      assert.strictEqual(refused(decided(within, { roles: [writer] }, caller, other)), "not_held")
      const allowed = decided(within, { roles: [a, writer] }, caller, other)
      assert.strictEqual(allowed.reason, "permission")
      assert.strictEqual(allowed._tag, "Allow")
      assert.strictEqual(principal.key?.id, caller.id)
    })
  )

  it.effect(
    "a person who acts in full rotates whatever is theirs; one by a token that names roles, what is within them",
    () =>
      Effect.gen(function* () {
        const { a, by, make, of, other, owner, sessionId } = yield* scene
        const key = yield* make(owner, { fullMemberAccess: true })
        const lineage = { id: key.id, rotatedFrom: [] }
        const rows: ReadonlyArray<readonly [string, Credential, string]> = [
          ["a token", Credential.cases.Token.make({}), "allowed"],
          ["a token that names roles", Credential.cases.Token.make({ ceiling: [a.id] }), "not_held"],
          ["a session", Credential.cases.Session.make({ id: sessionId }), "allowed"],
          ["a session within roles", Credential.cases.Session.make({ id: sessionId, ceiling: [a.id] }), "not_held"],
          ["a session of a key", Credential.cases.Session.make({ id: sessionId, key: lineage }), "not_held"],
          ["background work", Credential.cases.System.make({ name: "retention" }), "not_held"],
          ["a key", by(key), "not_held"]
        ]
        for (const [name, credential, expected] of rows) {
          // The key that the caller came by is another one than that which is rotated.
          const callerKey = credential._tag === "Token" ? undefined : yield* make(owner)
          const decision = ApiKeyPolicy.rotate(of(owner, credential), key, { owner, callerKey })
          assert.strictEqual(refused(decision), expected, name)
        }
        const stranger = ApiKeyPolicy.rotate(of(other, Credential.cases.Token.make({})), key, {
          owner,
          callerKey: undefined
        })
        assert.strictEqual(refused(stranger), "permission")
      })
  )

  it.effect("a key of nobody any more needs the permission, and is measured by its snapshot", () =>
    Effect.gen(function* () {
      const { by, make, of, other, owner, writer } = yield* scene
      const caller = yield* make(other)
      const principal = of(other, by(caller), { roles: [writer] })
      const facts = { owner: undefined, callerKey: caller }
      const legacy = yield* make(owner, { assumedRoles: AssumedRoles.cases.Live.make({}) })
      assert.strictEqual(refused(ApiKeyPolicy.rotate(principal, legacy, facts)), "allowed", "it has no role at all")
      assert.strictEqual(refused(ApiKeyPolicy.rotate(principal, yield* make(owner), facts)), "not_held")
      assert.strictEqual(refused(ApiKeyPolicy.revoke(principal, yield* make(owner), undefined)), "allowed")
    })
  )

  it.effect("a denial to mint says why, and names what is missing", () =>
    Effect.gen(function* () {
      const { a, b, by, make, of, organizationId, owner } = yield* scene
      const parent = yield* make(owner)
      const principal = of(owner, by(parent))
      const decided = (terms: Partial<KeyTerms>, facts: Partial<MintPolicy.MintFacts> = {}) =>
        MintPolicy.decide(
          { roles: { _tag: "Inherited" }, fullMemberAccess: false, ...terms },
          { principal, owner, parent, now, defaultLifetime: Duration.hours(1), ...facts }
        )
      const denial = (...given: Parameters<typeof decided>) => {
        const { facts, reason } = Result.getOrThrow(Result.flip(decided(...given)))
        return { reason, facts }
      }
      const chosen = { roles: { _tag: "Chosen", roles: [a.id, b.id] } } as const
      assert.deepStrictEqual(denial(chosen), { reason: "not_held", facts: { roles: [b.id] } })
      const holdsB = yield* Sample.member(organizationId, { roles: [b] })
      const both = of(owner, by(parent), { roles: [a, b] })
      assert.deepStrictEqual(denial(chosen, { owner: holdsB, principal: both }), {
        reason: "owner_not_holding",
        facts: { roles: [a.id] }
      })
      assert.strictEqual(denial({ fullMemberAccess: true }).reason, "full_member_access")
      // A principal that says that it is not restricted, by a key that is: the narrower of the two.
      const loose = of(owner, by(parent), { restricted: false })
      assert.strictEqual(denial({ fullMemberAccess: true }, { principal: loose }).reason, "full_member_access")
      assert.strictEqual(denial({}, { owner: undefined }).reason, "target_member")
      const status = MemberStatus.cases.Deactivated.make({ at: now })
      const inactive = yield* Sample.member(organizationId, { status })
      assert.strictEqual(denial({}, { owner: inactive }).reason, "target_member")
      const embedded = of(owner, by(parent), { clientMetadata: client("a") })
      assert.strictEqual(denial({ clientMetadata: client("b") }, { principal: embedded }).reason, "client_metadata")
      const ids = yield* Effect.all(Array.from({ length: MintPolicy.maximumAncestors }, () => Uuid.next))
      const deep = new ApiKey({ ...parent, ancestors: ids.map((id) => ApiKeyId.make(id)) })
      assert.deepStrictEqual(denial({}, { parent: deep }), {
        reason: "key_depth",
        facts: { ancestors: MintPolicy.maximumAncestors + 1 }
      })
      const deepest = new ApiKey({ ...deep, ancestors: deep.ancestors.slice(1) })
      assert.isTrue(Result.isSuccess(decided({}, { parent: deepest })))
    })
  )

  it.effect("background work has no sessions", () =>
    Effect.gen(function* () {
      const { by, make, of, owner } = yield* scene
      const system = of(owner, Credential.cases.System.make({ name: "retention" }))
      assert.deepStrictEqual(
        SessionPolicy.mint(system),
        deny("permission", "permission denied: background work has no sessions", { name: "retention" })
      )
      assert.deepStrictEqual(
        SessionPolicy.mint(of(owner, by(yield* make(owner)))),
        allow("own", "a session of one's own")
      )
    })
  )

  it.effect("K39: the record of a key is all that it is, but for its value's hash and its use", () =>
    Effect.gen(function* () {
      const { make, owner } = yield* scene
      const plain = yield* make(owner, { assumedRoles: AssumedRoles.cases.Live.make({}) })
      const full = new ApiKey({
        ...(yield* make(owner, {
          clientMetadata: client("a"),
          fullMemberAccess: true,
          expiresAt: after(1),
          ancestors: [plain.id],
          status: ApiKeyStatus.cases.Revoked.make({ at: now })
        })),
        name: "reporting",
        replacedBy: plain.id,
        lastUsedAt: now
      })
      assert.deepStrictEqual(recordOf(plain), {
        id: plain.id,
        owner: owner.id,
        assumedRoles: "all",
        fullMemberAccess: false,
        ancestors: []
      })
      assert.deepStrictEqual(recordOf(full), {
        id: full.id,
        owner: owner.id,
        name: "reporting",
        clientMetadata: '{"tenant":"a"}',
        assumedRoles: owner.roles,
        fullMemberAccess: true,
        ancestors: [plain.id],
        replacedBy: plain.id,
        expiresAt: "2030-05-05T12:00:01.000Z",
        revokedAt: "2030-05-05T12:00:00.000Z"
      })
    })
  )
})
