import * as NodeCryptography from "@castellan/http/server/NodeCryptography"
import { NodeCrypto } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Context, Effect, Layer, Schema } from "effect"
import { Digest } from "effect/crypto"

const algorithms = [Digest.md5, Digest.sha1, Digest.sha256, Digest.sha384, Digest.sha512]

const digests = (layer: Layer.Layer<Digest.Digest>) => Effect.map(Layer.build(layer), Context.get(Digest.Digest))

describe("NodeCryptography", () => {
  it.effect.prop(
    "digests are those of NodeCrypto, whatever the algorithm and the bytes",
    [Schema.Uint8Array],
    ([data]) =>
      Effect.gen(function* () {
        const ours = yield* digests(NodeCryptography.layer)
        const theirs = yield* digests(NodeCrypto.layer)
        for (const algorithm of algorithms) {
          const digest = yield* ours.digest(algorithm, data)
          assert.deepStrictEqual(digest, yield* theirs.digest(algorithm, data))
          assert.strictEqual(digest.length, algorithm.outputLength)
          assert.strictEqual(yield* ours.digestHex(algorithm, data), yield* theirs.digestHex(algorithm, data))
        }
      })
  )

  it.effect("a digest is plain bytes, of memory of their own", () =>
    Effect.gen(function* () {
      const { digest } = yield* digests(NodeCryptography.layer)
      const bytes = yield* digest(Digest.sha256, new Uint8Array())
      assert.strictEqual(Object.getPrototypeOf(bytes), Uint8Array.prototype)
      assert.strictEqual(bytes.buffer.byteLength, bytes.length)
    })
  )

  it.effect("what is hashed is what the bytes are when it is asked for, and of a part of a buffer that part", () =>
    Effect.gen(function* () {
      const { digestHex } = yield* digests(NodeCryptography.layer)
      const whole = new TextEncoder().encode("-abc-")
      const asked = digestHex(Digest.sha256, whole.subarray(1, 4))
      const first = yield* asked
      assert.strictEqual(first, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
      whole.fill(0)
      assert.notStrictEqual(yield* asked, first)
    })
  )

  it.effect("an algorithm that Node does not have is the defect that it is with NodeCrypto", () =>
    Effect.gen(function* () {
      const unknown: Digest.Algorithm = Object.assign({ ...Digest.sha256 }, { name: "SHA-0" })
      const data = new Uint8Array(3)
      for (const layer of [NodeCryptography.layer, NodeCrypto.layer]) {
        const { digest, digestHex } = yield* digests(layer)
        for (const asked of [Effect.asVoid(digest(unknown, data)), Effect.asVoid(digestHex(unknown, data))]) {
          const cause = yield* Effect.flip(Effect.sandbox(asked))
          assert.include(Cause.squash(cause), { code: "ERR_INVALID_ARG_TYPE" })
        }
      }
    })
  )

  it.effect("everything that NodeCrypto provides is there, and but for the digests it is the same", () =>
    Effect.gen(function* () {
      const ours = yield* Layer.build(NodeCryptography.layer)
      const theirs = yield* Layer.build(NodeCrypto.layer)
      assert.sameMembers([...ours.mapUnsafe.keys()], [...theirs.mapUnsafe.keys()])
      assert.strictEqual(Context.get(ours, Digest.Digest), yield* digests(NodeCryptography.layerDigest))
    })
  )
})
