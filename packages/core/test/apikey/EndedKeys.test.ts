import { ApiKeyId, AssumedRoles } from "@castellan/core/apikey/ApiKey"
import type { ApiKeySecret } from "@castellan/core/apikey/ApiKeySecret"
import { ApiKeyStore } from "@castellan/core/apikey/ApiKeyStore"
import * as Uuid from "@castellan/core/identifier/Uuid"
import { as, by, failure } from "@castellan/testing/fixture/Acting"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import type * as Sample from "@castellan/testing/fixture/Sample"
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import {
  authenticate,
  gone,
  inherit,
  lacks,
  mint,
  notFound,
  person,
  revoke,
  rolesOf,
  rotate,
  saveMember,
  scene,
  snapshot,
  withRoles
} from "./KeyScene.ts"

layer(Deployment.layer())("ApiKeys rotate", (it) => {
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
        ["another member's, without its roles", administration.secret, wide, "the key has a role that you do not hold"],
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

layer(Deployment.layer())("ApiKeys revoke", (it) => {
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
