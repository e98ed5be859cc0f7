/**
 * What every store of assets keeps to.
 */
import { AssetStore } from "@castellan/core/asset/AssetStore"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"

/** Runs the contract of `AssetStore` against an adapter. */
export const suite = <E>(name: string, layer: Layer.Layer<AssetStore, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`AssetStore (${name})`, (it) => {
    const sample = Effect.gen(function* () {
      const principal = yield* Sample.principal(yield* Sample.organizationId)
      return yield* Sample.asset(yield* Sample.run(principal, yield* Sample.chat(principal)))
    })

    it.effect("gives back each body of an asset, byte for byte", () =>
      Effect.gen(function* () {
        const store = yield* AssetStore
        const asset = yield* sample
        const png = Uint8Array.from({ length: 300_000 }, (_, index) => (index * 31) % 256)
        const json = '\ufeff{"text":"ünï 🚀 \\u0000 \u0000 \r\n"}'
        yield* store.put(asset, [
          { format: "png", content: png },
          { format: "svg", content: "" },
          { format: "json", content: json }
        ])
        const kept = yield* store.body(asset.organizationId, asset.id, "png")
        assert.deepStrictEqual(
          Option.map(kept, (content) => (typeof content === "string" ? content : Uint8Array.from(content))),
          Option.some(png)
        )
        assert.deepStrictEqual(yield* store.body(asset.organizationId, asset.id, "svg"), Option.some(""))
        assert.deepStrictEqual(yield* store.body(asset.organizationId, asset.id, "json"), Option.some(json))
      })
    )

    it.effect("has nothing for an unknown asset, or for a format that the asset is not kept in", () =>
      Effect.gen(function* () {
        const store = yield* AssetStore
        const asset = yield* sample
        yield* store.put(asset, [{ format: "csv", content: "a\r\n1\r\n" }])
        assert.isTrue(Option.isNone(yield* store.body(asset.organizationId, asset.id, "png")))
        assert.isTrue(Option.isNone(yield* store.body((yield* sample).organizationId, asset.id, "csv")))
        assert.isTrue(Option.isNone(yield* store.body(asset.organizationId, (yield* sample).id, "csv")))
      })
    )

    it.effect("removes the assets of one chat of one organization, and no other", () =>
      Effect.gen(function* () {
        const store = yield* AssetStore
        const principal = yield* Sample.principal(yield* Sample.organizationId)
        const run = yield* Sample.run(principal, yield* Sample.chat(principal))
        const [one, two, other] = [yield* Sample.asset(run), yield* Sample.asset(run), yield* sample]
        for (const asset of [one, two, other]) yield* store.put(asset, [{ format: "txt", content: "kept" }])
        yield* store.removeOf(other.organizationId, run.chatId)
        assert.isTrue(Option.isSome(yield* store.body(one.organizationId, one.id, "txt")))
        yield* store.removeOf(run.organizationId, run.chatId)
        assert.isTrue(Option.isNone(yield* store.body(one.organizationId, one.id, "txt")))
        assert.isTrue(Option.isNone(yield* store.body(two.organizationId, two.id, "txt")))
        assert.isTrue(Option.isSome(yield* store.body(other.organizationId, other.id, "txt")))
      })
    )

    it.effect("keeps two assets apart", () =>
      Effect.gen(function* () {
        const store = yield* AssetStore
        const one = yield* sample
        const other = yield* sample
        yield* store.put(one, [{ format: "txt", content: "one" }])
        yield* store.put(other, [{ format: "txt", content: "other" }])
        assert.deepStrictEqual(yield* store.body(one.organizationId, one.id, "txt"), Option.some("one"))
        assert.deepStrictEqual(yield* store.body(other.organizationId, other.id, "txt"), Option.some("other"))
      })
    )
  })
}
