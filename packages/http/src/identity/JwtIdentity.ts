/**
 * Lets members in by the tokens of the host's own identity provider: JSON Web Tokens, signed with a secret that is
 * shared with it or with keys that it publishes. It is core's port `IdentityTokens`; what a token's times mean, and what
 * its member may do, is core's to say.
 *
 * ```ts
 * Castellan.layer().pipe(
 *   Layer.provide(JwtIdentity.layer({ issuer: "https://id.example.com/", keySet: { url } }))
 * )
 * ```
 *
 * A token is looked at from the cheap to the dear: its header, its claims, its signature. So whatever is not meant for
 * us costs no look-up of a key.
 *
 * Source: decisions.md §3 ("Bearer values"); RFC 7519; RFC 8725.
 */
import { TimedOut } from "@castellan/core/error/Failure"
import { type Identity, IdentityTokens } from "@castellan/core/session/IdentityTokens"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { IdentityClaims, isFor, toIdentity } from "./IdentityClaims.ts"
import * as JwtSignature from "./JwtSignature.ts"
import * as RemoteKeySet from "./RemoteKeySet.ts"

/** What tokens are signed with: a shared secret, published keys, or, while one takes the place of the other, both. */
export type JwtKeys =
  | { readonly secret: Redacted.Redacted<string>; readonly keySet?: RemoteKeySet.RemoteKeySetOptions }
  | { readonly secret?: Redacted.Redacted<string>; readonly keySet: RemoteKeySet.RemoteKeySetOptions }

/** Which tokens are taken. */
export type JwtIdentityOptions = JwtKeys & {
  /** The claim `iss`. Default `castellan`. */
  readonly issuer?: string
  /** What the claim `aud` is, or has among others. Default `castellan`. */
  readonly audience?: string
  /** What published keys may sign with; all of `JwtSignature.publicKeyAlgorithms` unless given. */
  readonly algorithms?: ReadonlyArray<JwtSignature.PublicKeyAlgorithm>
}

/** The issuer and the audience, where a host says nothing else. Source: decisions.md §3. */
export const preset = "castellan"

/** Bytes of a shared secret at least: those of the hash (RFC 7518 §3.2). */
export const minimumSecretLength = 32

/** Nobody can say whether the token is good: that is no reason to turn its holder away for good. */
const noKeys = new TimedOut({ message: "the keys of the identity provider cannot be had now, try again" })

/** What is read of a header. One that names extensions asks for what is not understood here (RFC 7515 §4.1.11). */
const Header = Schema.Struct({
  alg: Schema.String,
  kid: Schema.optionalKey(Schema.String),
  crit: Schema.optionalKey(Schema.Never)
})

const decodeHeader = Schema.decodeUnknownOption(Schema.fromJsonString(Header))
const decodeClaims = Schema.decodeUnknownOption(Schema.fromJsonString(IdentityClaims))

/** The text of a part of a token. */
const textOf = (part: string | undefined): string => Result.getOrElse(Base64Url.decodeString(part ?? ""), () => "")

const secretOf = (secret: Redacted.Redacted<string>): Effect.Effect<Uint8Array> => {
  const bytes = new TextEncoder().encode(Redacted.value(secret))
  return bytes.length < minimumSecretLength
    ? Effect.die(new RangeError(`the secret of identity tokens needs at least ${minimumSecretLength} bytes`))
    : Effect.succeed(bytes)
}

const make = Effect.fnUntraced(function* (options: JwtIdentityOptions) {
  const { algorithms = JwtSignature.publicKeyAlgorithms, audience = preset, issuer = preset } = options
  const secret = options.secret === undefined ? undefined : yield* secretOf(options.secret)
  const keySet = options.keySet === undefined ? undefined : yield* RemoteKeySet.make(options.keySet)

  const byKeySet = Effect.fnUntraced(function* (
    token: string,
    published: RemoteKeySet.RemoteKeySet,
    by: JwtSignature.SignedBy
  ) {
    const known = yield* published.keys
    if (Option.isNone(known)) return yield* Effect.die(noKeys)
    const verdict = yield* JwtSignature.byKeySet(token, known.value, by)
    if (verdict !== "UnknownKey") return verdict
    const newer = yield* published.newerThan(known.value)
    return Option.isSome(newer) ? yield* JwtSignature.byKeySet(token, newer.value, by) : verdict
  })

  /** Whether the token is signed by whoever may sign, in the way that its header says. */
  const isGenuine = (token: string, header: typeof Header.Type): Effect.Effect<boolean> => {
    const isGood = Effect.map((verdict: JwtSignature.Verdict) => verdict === "Genuine")
    if (header.alg === JwtSignature.secretAlgorithm) {
      return secret === undefined ? Effect.succeed(false) : isGood(JwtSignature.bySecret(token, secret))
    }
    const algorithm = algorithms.find((allowed) => allowed === header.alg)
    return keySet === undefined || algorithm === undefined
      ? Effect.succeed(false)
      : isGood(byKeySet(token, keySet, { algorithm, keyId: header.kid }))
  }

  /** What a token says, and how it is signed; nothing where it is not one that is meant for us. */
  const meant = (token: string) => {
    const [head, body] = token.split(".")
    return Option.all({ header: decodeHeader(textOf(head)), claims: decodeClaims(textOf(body)) }).pipe(
      Option.filter(({ claims }) => claims.iss === issuer && isFor(claims, audience))
    )
  }

  return {
    read: Effect.fnUntraced(function* (redacted: Redacted.Redacted<string>) {
      const token = Redacted.value(redacted)
      const found = meant(token)
      if (Option.isNone(found)) return Option.none<Identity>()
      const { claims, header } = found.value
      return (yield* isGenuine(token, header)) ? Option.some(toIdentity(claims)) : Option.none<Identity>()
    })
  }
})

/** Lets members in by tokens. It has to be beneath the use cases, which read it as they are built. */
export const layer = (options: JwtIdentityOptions): Layer.Layer<never> => Layer.effect(IdentityTokens, make(options))
