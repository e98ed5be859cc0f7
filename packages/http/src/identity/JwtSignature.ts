/**
 * The signature of a JSON Web Token, checked by `jose`: against a secret that is shared with whoever signs, or against
 * the public keys of an identity provider. Which algorithms there may be is said here and never by the token: a public
 * key is no secret, so it is never one for HMAC, and `none` is no algorithm.
 *
 * Source: decisions.md §3; RFC 7515 §5.2; RFC 8725 §3.1, §3.2 (algorithms are an allow-list, bound to the key).
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { JWKSMultipleMatchingKeys, JWKSNoMatchingKey } from "jose/errors"
import type { LocalJWKSet } from "jose/jwks/local"
import { compactVerify } from "jose/jws/compact/verify"
import type { CryptoKey } from "jose"

/** What a token may be signed with by the private key of an identity provider. */
export const publicKeyAlgorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519"
] as const
export type PublicKeyAlgorithm = (typeof publicKeyAlgorithms)[number]

/** What a token may be signed with by a shared secret. */
export const secretAlgorithm = "HS256"

/** What comes of a check. `UnknownKey`: by none of the keys, and there may be others by now. */
export type Verdict = "Genuine" | "Forged" | "UnknownKey"

/** Whether a token is signed with a secret. */
export const bySecret = (token: string, secret: Uint8Array): Effect.Effect<Verdict> =>
  Effect.match(
    Effect.tryPromise(() => compactVerify(token, secret, { algorithms: [secretAlgorithm] })),
    { onSuccess: () => "Genuine", onFailure: () => "Forged" }
  )

const byKey = (token: string, key: CryptoKey, algorithm: PublicKeyAlgorithm): Effect.Effect<Verdict> =>
  Effect.match(
    Effect.tryPromise(() => compactVerify(token, key, { algorithms: [algorithm] })),
    { onSuccess: () => "Genuine", onFailure: () => "Forged" }
  )

/** A token that names no key is put to each that it could be signed with. */
const byAnyOf = (
  token: string,
  keys: AsyncIterable<CryptoKey>,
  algorithm: PublicKeyAlgorithm
): Effect.Effect<Verdict> =>
  Stream.fromAsyncIterable(keys, () => "Forged" as const).pipe(
    Stream.mapEffect((key) => byKey(token, key, algorithm)),
    Stream.filter((verdict) => verdict === "Genuine"),
    Stream.runHead,
    Effect.match({
      onSuccess: (found) => (found._tag === "Some" ? "Genuine" : "Forged"),
      onFailure: () => "Forged" as const
    })
  )

/** How a token says that it is signed. */
export interface SignedBy {
  readonly algorithm: PublicKeyAlgorithm
  /** The id of the key; absent: any of them. */
  readonly keyId: string | undefined
}

/** Whether a token is signed with one of some public keys, by the algorithm that its header names. */
export const byKeySet = (token: string, keys: LocalJWKSet, { algorithm, keyId }: SignedBy): Effect.Effect<Verdict> =>
  Effect.tryPromise({
    try: () => keys({ alg: algorithm, ...(keyId === undefined ? {} : { kid: keyId }) }),
    catch: (error) => error
  }).pipe(
    Effect.flatMap((key) => byKey(token, key, algorithm)),
    Effect.catch((error) => {
      if (error instanceof JWKSMultipleMatchingKeys) return byAnyOf(token, error, algorithm)
      return Effect.succeed<Verdict>(error instanceof JWKSNoMatchingKey ? "UnknownKey" : "Forged")
    }),
    // By none of the keys: the one that it is signed with may have come since.
    Effect.map((verdict) => (verdict === "Forged" && keyId === undefined ? "UnknownKey" : verdict))
  )
