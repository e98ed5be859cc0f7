/**
 * What every store of API keys keeps to.
 */
import { ApiKey, ApiKeyStatus, AssumedRoles } from "@castellan/core/apikey/ApiKey"
import { ApiKeyStore } from "@castellan/core/apikey/ApiKeyStore"
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
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "30 seconds" })(`ApiKeyStore (${name})`, (it) => {
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
          rotatedFrom: [plain.id]
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
  })
}
