/**
 * The cryptography of a server on Node: all that `NodeCrypto` of `@effect/platform-node` provides, with digests that
 * are made in one call each.
 *
 * Every request begins with the digest of its key. `NodeCrypto` makes one by `createHash`, which leaves an object behind
 * that belongs to OpenSSL and that the garbage collector has to see to on its own, one for each request. `hash` leaves
 * nothing but the digest, the same one, in less time.
 */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { hash } from "node:crypto"

/** What Node calls an algorithm. */
const nameOf: Record<Digest.Algorithm["name"], string> = {
  MD5: "md5",
  "SHA-1": "sha1",
  "SHA-256": "sha256",
  "SHA-384": "sha384",
  "SHA-512": "sha512"
}

/** Digests. What cannot be hashed is a defect, as with `NodeCrypto`. */
export const layerDigest: Layer.Layer<Digest.Digest> = Layer.succeed(Digest.Digest, {
  // Plain bytes, of no more memory than their own, as the service promises.
  digest: (algorithm, data) => Effect.sync(() => new Uint8Array(hash(nameOf[algorithm.name], data, "buffer"))),
  digestHex: (algorithm, data) => Effect.sync(() => hash(nameOf[algorithm.name], data, "hex"))
})

/** What a host provides in the place of `NodeCrypto.layer`: the same services. */
export const layer: typeof NodeCrypto.layer = Layer.merge(NodeCrypto.layer, layerDigest)
