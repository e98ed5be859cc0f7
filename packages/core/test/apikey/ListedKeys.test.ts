import type { ApiKeyId } from "@castellan/core/apikey/ApiKey"
import { ApiKeys } from "@castellan/core/apikey/ApiKeys"
import { as, audited, by, failure, trail } from "@castellan/testing/fixture/Acting"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { lacks, mint, notFound, person, revoke, rotate, saveMember, scene, withRoles } from "./KeyScene.ts"

const ids = (slice: { readonly items: ReadonlyArray<{ readonly id: ApiKeyId }> }) =>
  slice.items.map((key) => key.id).toSorted()

layer(Deployment.layer())("ApiKeys list", (it) => {
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

layer(Deployment.layer())("ApiKeys on the record", (it) => {
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
