/**
 * What every store of assets keeps to.
 */
import { AssetStore } from "@castellan/core/asset/AssetStore"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
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

    /** Bytes without a pattern that a piece could begin again with. */
    const long = (length: number): Uint8Array => {
      const bytes = new Uint8Array(length)
      for (let index = 0, state = 1; index < length; index++) {
        state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
        bytes[index] = state >>> 16
      }
      return bytes
    }

    const isSame = (kept: Uint8Array, given: Uint8Array): void => {
      assert.strictEqual(kept.length, given.length)
      assert.strictEqual(Buffer.compare(kept, given), 0, "byte for byte")
    }

    it.effect(
      "gives back a body of any length, as a whole and in pieces",
      () =>
        Effect.gen(function* () {
          const store = yield* AssetStore
          const asset = yield* sample
          const file = long(25 * 1024 * 1024)
          const exact = long(8 * 1024 * 1024)
          // Characters of three bytes: pieces of a round number of bytes end within one.
          const csv = "₂".repeat(6_000_000)
          yield* store.put(asset, [
            { format: "zip", content: file },
            { format: "png", content: exact },
            { format: "csv", content: csv }
          ])
          for (const [format, given] of [
            ["zip", file],
            ["png", exact],
            ["csv", Buffer.from(csv)]
          ] as const) {
            const opened = Option.getOrThrow(yield* store.open(asset.organizationId, asset.id, format))
            assert.strictEqual(opened.size, given.length)
            isSame(Buffer.concat([...(yield* Stream.runCollect(opened.pieces))]), given)
            const kept = Option.getOrThrow(yield* store.body(asset.organizationId, asset.id, format))
            if (format === "csv") assert.isTrue(kept === csv)
            else if (typeof kept === "string") assert.fail("bytes became a text")
            else isSame(kept, given)
          }
        }),
      120_000
    )

    it.effect("says what an asset is called, whatever it is called", () =>
      Effect.gen(function* () {
        const store = yield* AssetStore
        const { chatId, messageCellId, organizationId } = yield* sample
        for (const called of [
          'Umsätze 🚀/2030 "Q1".csv',
          "ends with half a pair \ud83d",
          "a\u0000b",
          "x".repeat(5000)
        ]) {
          const asset = yield* Sample.asset({ chatId, messageCellId, organizationId }, { name: called })
          yield* store.put(asset, [{ format: "csv", content: "a" }])
          const {
            name: kept = "",
            pieces,
            size
          } = Option.getOrThrow(yield* store.open(organizationId, asset.id, "csv"))
          // Of what a database's text cannot hold, it may keep a sign instead.
          assert.strictEqual(
            kept.toWellFormed().replaceAll("\0", "\u0001"),
            called.toWellFormed().replaceAll("\0", "\u0001")
          )
          assert.strictEqual(size, 1)
          assert.deepStrictEqual(Buffer.concat([...(yield* Stream.runCollect(pieces))]).toString(), "a")
        }
      })
    )

    it.effect("opens nothing of an unknown asset, of another format, or of another organization", () =>
      Effect.gen(function* () {
        const store = yield* AssetStore
        const asset = yield* sample
        yield* store.put(asset, [{ format: "csv", content: "" }])
        const empty = Option.getOrThrow(yield* store.open(asset.organizationId, asset.id, "csv"))
        assert.strictEqual(empty.size, 0)
        assert.strictEqual(Buffer.concat([...(yield* Stream.runCollect(empty.pieces))]).length, 0)
        assert.isTrue(Option.isNone(yield* store.open(asset.organizationId, asset.id, "png")))
        assert.isTrue(Option.isNone(yield* store.open((yield* sample).organizationId, asset.id, "csv")))
        assert.isTrue(Option.isNone(yield* store.open(asset.organizationId, (yield* sample).id, "csv")))
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
