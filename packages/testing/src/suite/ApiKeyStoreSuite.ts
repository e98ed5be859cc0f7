/**
 * What every store of API keys keeps to.
 */
import { ApiKey, ApiKeyStatus, AssumedRoles } from "@castellan/core/apikey/ApiKey"
import { type ApiKeyQuery, ApiKeyStore } from "@castellan/core/apikey/ApiKeyStore"
import { assert, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"
import { assertSame } from "./Same.ts"

/** Runs the contract of `ApiKeyStore` against an adapter. */
export const suite = <E>(name: string, layer: Layer.Layer<ApiKeyStore, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`ApiKeyStore (${name})`, (it) => {
    const sample = (options?: Sample.KeyOptions) =>
      Effect.gen(function* () {
        const owner = yield* Sample.member(yield* Sample.organizationId)
        return (yield* Sample.key(owner, options)).apiKey
      })

    it.effect("knows nothing of a hash that was never saved", () =>
      Effect.gen(function* () {
        const store = yield* ApiKeyStore
        yield* store.save(yield* sample())
        assert.isTrue(Option.isNone(yield* store.byHash((yield* sample()).hash)))
      })
    )

    it.effect("finds a key by its hash, with all that it is", () =>
      Effect.gen(function* () {
        const store = yield* ApiKeyStore
        const plain = yield* sample()
        const full = yield* sample({
          assumedRoles: AssumedRoles.cases.Live.make({}),
          fullMemberAccess: true,
          clientMetadata: { text: '{"tenant":"a","n":1}', attributes: { tenant: "a", n: 1 } },
          expiresAt: DateTime.makeUnsafe("2031-02-03T04:05:06.789Z"),
          rotatedFrom: [plain.id],
          ancestors: [plain.id]
        })
        yield* store.save(plain)
        yield* store.save(full)
        assertSame(yield* store.byHash(plain.hash), Option.some(plain))
        assertSame(yield* store.byHash(full.hash), Option.some(full))
      })
    )

    it.effect("finds a key in whatever state it is", () =>
      Effect.gen(function* () {
        const store = yield* ApiKeyStore
        const key = yield* sample()
        yield* store.save(key)
        const revoked = new ApiKey({
          ...key,
          status: ApiKeyStatus.cases.Revoked.make({ at: DateTime.makeUnsafe("2030-01-01T00:00:00.000Z") })
        })
        yield* store.save(revoked)
        assertSame(yield* store.byHash(key.hash), Option.some(revoked))
      })
    )

    it.effect("no longer finds a key by a hash that it had before", () =>
      Effect.gen(function* () {
        const store = yield* ApiKeyStore
        const key = yield* sample()
        const { hash } = yield* sample()
        yield* store.save(key)
        const changed = new ApiKey({ ...key, hash })
        yield* store.save(changed)
        assert.isTrue(Option.isNone(yield* store.byHash(key.hash)))
        assertSame(yield* store.byHash(hash), Option.some(changed))
      })
    )

    it.effect("finds a key by its id, in its own organization alone", () =>
      Effect.gen(function* () {
        const store = yield* ApiKeyStore
        const [one, two, foreign] = [yield* sample(), yield* sample(), yield* sample()]
        const ours = new ApiKey({ ...two, organizationId: one.organizationId })
        yield* Effect.forEach([one, ours, foreign], store.save)
        assertSame(yield* store.get(one.organizationId, one.id), Option.some(one))
        assert.isTrue(Option.isNone(yield* store.get(one.organizationId, foreign.id)))
        const found = yield* store.named(one.organizationId, [two.id, foreign.id, one.id, one.id])
        assertSame(
          found.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
          [one, ours].toSorted((a, b) => (a.id < b.id ? -1 : 1))
        )
        assertSame(yield* store.named(one.organizationId, []), [])
      })
    )

    it.effect("K29: a use is noted without undoing what was committed meanwhile", () =>
      Effect.gen(function* () {
        const store = yield* ApiKeyStore
        const key = yield* sample()
        yield* store.save(key)
        const at = DateTime.makeUnsafe("2030-01-01T00:00:01.000Z")
        yield* store.used(key.organizationId, key.id, at)
        assertSame(yield* store.byHash(key.hash), Option.some(new ApiKey({ ...key, lastUsedAt: at })))
        const revoked = new ApiKey({ ...key, status: ApiKeyStatus.cases.Revoked.make({ at }) })
        yield* store.save(revoked)
        const later = DateTime.makeUnsafe("2030-01-01T01:00:00.000Z")
        yield* store.used(key.organizationId, key.id, later)
        assertSame(yield* store.byHash(key.hash), Option.some(new ApiKey({ ...revoked, lastUsedAt: later })))
        // It is no longer on the list of those that are not revoked either.
        const listed = yield* store.list(key.organizationId, { limit: 50, includeRevoked: false })
        assertSame(listed.items, [])
        // Neither an unknown key nor one of another organization.
        const other = yield* sample()
        yield* store.used(other.organizationId, key.id, DateTime.makeUnsafe("2031-01-01T00:00:00.000Z"))
        yield* store.used(other.organizationId, other.id, at)
        assertSame(yield* store.byHash(key.hash), Option.some(new ApiKey({ ...revoked, lastUsedAt: later })))
        assert.isTrue(Option.isNone(yield* store.byHash(other.hash)))
      })
    )

    it.effect("K29: a use is noted once a minute, whoever notes it, and saving the key does not undo it", () =>
      Effect.gen(function* () {
        const store = yield* ApiKeyStore
        const key = yield* sample()
        yield* store.save(key)
        const at = (seconds: number) => DateTime.makeUnsafe(Date.UTC(2030, 0, 1) + seconds * 1000)
        const use = (seconds: number) => store.used(key.organizationId, key.id, at(seconds))
        const lastUse = Effect.map(store.byHash(key.hash), (found) => Option.getOrUndefined(found)?.lastUsedAt)
        yield* use(0)
        yield* use(59.999)
        assertSame(yield* lastUse, at(0))
        // A server whose clock is behind.
        yield* use(-120)
        assertSame(yield* lastUse, at(0))
        yield* use(60)
        assertSame(yield* lastUse, at(60))
        yield* store.save(key)
        assertSame(yield* lastUse, at(60))
        yield* store.save(new ApiKey({ ...key, lastUsedAt: at(30) }))
        assertSame(yield* lastUse, at(60))
        yield* store.save(new ApiKey({ ...key, lastUsedAt: at(90) }))
        assertSame(yield* lastUse, at(90))
      })
    )

    it.effect("K29: whichever comes first, a use and a revocation at once leave the key revoked", () =>
      Effect.gen(function* () {
        const store = yield* ApiKeyStore
        const at = DateTime.makeUnsafe("2030-01-01T00:00:00.000Z")
        for (let round = 0; round < 20; round++) {
          const key = yield* sample()
          yield* store.save(key)
          const revoked = new ApiKey({ ...key, status: ApiKeyStatus.cases.Revoked.make({ at }) })
          const use = store.used(key.organizationId, key.id, at)
          yield* Effect.all([use, store.save(revoked), use, use], { concurrency: "unbounded" })
          assertSame(yield* store.byHash(key.hash), Option.some(new ApiKey({ ...revoked, lastUsedAt: at })))
        }
      })
    )

    it.effect("keeps any text: NUL, half a surrogate pair, quotes", () =>
      Effect.gen(function* () {
        const store = yield* ApiKeyStore
        const text = `{"t":${JSON.stringify("x".repeat(16_000))}}`
        const key = yield* sample({ clientMetadata: { text, attributes: { t: "x".repeat(16_000) } } })
        const odd = new ApiKey({ ...key, name: "a\u0000b\ud800 'c' \\u0000 🚀" })
        yield* store.save(odd)
        assertSame(yield* store.byHash(key.hash), Option.some(odd))
        const listing = { limit: 1, includeRevoked: false, client: { text: "", attributes: { t: "x".repeat(16_000) } } }
        assertSame((yield* store.list(key.organizationId, listing)).items, [odd])
      })
    )

    it.effect("tells who minted keys of some owners: each once, of revoked keys too, in one organization alone", () =>
      Effect.gen(function* () {
        const store = yield* ApiKeyStore
        const organization = yield* Sample.organizationId
        const [one, two, unasked, without] = yield* Effect.all([
          Sample.member(organization),
          Sample.member(organization),
          Sample.member(organization),
          Sample.member(organization)
        ])
        const minted = Effect.fnUntraced(function* (
          owner: Pick<typeof one, "id" | "organizationId" | "roles">,
          by?: typeof one
        ) {
          const { apiKey } = yield* Sample.key(owner)
          yield* store.save(by === undefined ? apiKey : new ApiKey({ ...apiKey, mintedBy: { memberId: by.id } }))
          return apiKey
        })
        const first = yield* minted(one, unasked)
        yield* minted(one, two)
        yield* minted(one, two)
        yield* minted(one)
        yield* minted(two, two)
        yield* minted(unasked, one)
        yield* minted(unasked, without)
        yield* minted(without)
        // Whichever comes first in an order of ids: the one that is looked for first, and the one after it.
        const elsewhere = { ...one, organizationId: yield* Sample.organizationId }
        for (const by of [one, two, unasked, without]) yield* minted(elsewhere, by)
        const at = DateTime.makeUnsafe("2030-01-01T00:00:00.000Z")
        yield* store.save(
          new ApiKey({
            ...first,
            mintedBy: { memberId: unasked.id },
            status: ApiKeyStatus.cases.Revoked.make({ at })
          })
        )
        const told = (owners: ReadonlyArray<typeof one>) =>
          Effect.map(
            store.minters(
              organization,
              owners.map((owner) => owner.id)
            ),
            (minters) => new Map(Array.from(minters, ([owner, by]) => [owner, [...by].toSorted()]))
          )
        assert.deepStrictEqual(
          yield* told([one, two, without, one]),
          new Map([
            [one.id, [two.id, unasked.id].toSorted()],
            [two.id, [two.id]]
          ])
        )
        assert.deepStrictEqual(yield* told([]), new Map())
      })
    )

    it.effect("lists newest first, ties by id, in pages that neither repeat nor hide", () =>
      Effect.gen(function* () {
        const store = yield* ApiKeyStore
        const organization = yield* Sample.organizationId
        const owner = yield* Sample.member(organization)
        const at = (second: number) => DateTime.makeUnsafe(Date.UTC(2030, 0, 1) + second * 1000)
        const made = yield* Effect.forEach([3, 1, 2, 2, 1, 3, 2], (second) =>
          Effect.map(Sample.key(owner, { createdAt: at(second) }), ({ apiKey }) => apiKey)
        )
        yield* Effect.forEach(made, store.save)
        yield* store.save(yield* sample())
        const expected = made.toSorted(
          (a, b) => DateTime.toEpochMillis(b.createdAt) - DateTime.toEpochMillis(a.createdAt) || (a.id < b.id ? 1 : -1)
        )
        const seen: Array<ApiKey> = []
        let slice = yield* store.list(organization, { limit: 3, includeRevoked: false })
        seen.push(...slice.items)
        const newer = yield* Sample.key(owner, { createdAt: at(9) })
        yield* store.save(newer.apiKey)
        while (slice.next !== undefined) {
          slice = yield* store.list(organization, { limit: 3, includeRevoked: false, after: slice.next })
          seen.push(...slice.items)
        }
        assertSame(seen, expected)
      })
    )

    it.effect("lists what is asked for: by owner, by end user, with the revoked or without", () =>
      Effect.gen(function* () {
        const store = yield* ApiKeyStore
        const organization = yield* Sample.organizationId
        const [mine, yours] = [yield* Sample.member(organization), yield* Sample.member(organization)]
        const client = { text: '{"tenant":"a","n":1}', attributes: { tenant: "a", n: 1 } }
        const reordered = { text: '{"n":1,"tenant":"a"}', attributes: { n: 1, tenant: "a" } }
        const other = { text: '{"tenant":"b","n":1}', attributes: { tenant: "b", n: 1 } }
        const now = DateTime.makeUnsafe("2030-01-01T00:00:00.000Z")
        const key = Effect.fnUntraced(function* (owner: typeof mine, options?: Sample.KeyOptions) {
          const { apiKey } = yield* Sample.key(owner, options)
          yield* store.save(apiKey)
          return apiKey
        })
        const plain = yield* key(mine)
        const revoked = yield* key(mine, { status: ApiKeyStatus.cases.Revoked.make({ at: now }) })
        const expired = yield* key(mine, { expiresAt: DateTime.makeUnsafe(0) })
        const embedded = yield* key(mine, { clientMetadata: reordered })
        yield* key(mine, { clientMetadata: other })
        const foreign = yield* key(yours)
        const ids = (query: Partial<ApiKeyQuery>) =>
          Effect.map(store.list(organization, { limit: 10, includeRevoked: false, ...query }), ({ items }) =>
            items.map((item) => item.id).toSorted()
          )
        const all = yield* ids({})
        assert.notInclude(all, revoked.id)
        assert.strictEqual(all.length, 5)
        assert.strictEqual((yield* ids({ includeRevoked: true })).length, 6)
        assert.deepStrictEqual(yield* ids({ owners: [yours.id] }), [foreign.id])
        assert.deepStrictEqual(yield* ids({ owners: [] }), [])
        assert.deepStrictEqual(yield* ids({ exceptOwners: [mine.id] }), [foreign.id])
        assert.deepStrictEqual(yield* ids({ owners: [mine.id, yours.id], exceptOwners: [mine.id] }), [foreign.id])
        assert.deepStrictEqual(yield* ids({ client }), [embedded.id])
        assert.includeMembers(yield* ids({ owners: [mine.id] }), [plain.id, expired.id, embedded.id])
        // A key is on the lists that it belongs on now.
        const moved = new ApiKey({ ...embedded, owner: yours.id, clientMetadata: other })
        yield* store.save(moved)
        assert.deepStrictEqual(yield* ids({ client }), [])
        assert.deepStrictEqual(yield* ids({ owners: [yours.id], client: other }), [moved.id])
        yield* store.save(new ApiKey({ ...moved, status: ApiKeyStatus.cases.Revoked.make({ at: now }) }))
        assert.deepStrictEqual(yield* ids({ owners: [yours.id], client: other }), [])
      })
    )
  })
}
