/**
 * Session tokens signed with a secret of the deployment: JSON Web Tokens by HMAC with SHA-256 (`HS256`).
 *
 * Source: RFC 7515 (compact serialization), RFC 7518 §3.2; decisions.md §3.
 */
import * as Mac from "effect/crypto/Mac"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { asciiBytes } from "../text/AsciiBytes.ts"
import { ofSession, SessionClaims, toSession } from "./SessionClaims.ts"
import { SessionTokens } from "./SessionTokens.ts"

/** Bytes of a secret at least: those of the hash (RFC 7518 §3.2). */
export const secretLength = 32

/** The one header that is written, and the only one that is read: no other algorithm is so much as looked at. */
const header = Base64Url.encode('{"alg":"HS256","typ":"JWT"}')

const Claims = Schema.fromJsonString(SessionClaims)
const encodeClaims = Schema.encodeSync(Claims)
const decodeClaims = Schema.decodeUnknownResult(Claims)

/** The parts of a token that are signed, and its signature; nothing for another form of token. */
const split = (token: string) => {
  const [first, payload, signature, ...rest] = token.split(".")
  if (first !== header || payload === undefined || signature === undefined || rest.length > 0) return undefined
  const tag = Base64Url.decode(signature)
  const text = Base64Url.decodeString(payload)
  if (Result.isFailure(tag) || Result.isFailure(text)) return undefined
  // The last character of a base64 text can be written in several ways; one of them is ours.
  if (Base64Url.encode(tag.success) !== signature) return undefined
  return { signed: asciiBytes(`${first}.${payload}`), tag: tag.success, text: text.success }
}

const make = Effect.fnUntraced(function* (current: Uint8Array, former: ReadonlyArray<Uint8Array>) {
  const mac = yield* Mac.Mac
  const keyOf = (secret: Uint8Array) =>
    secret.length < secretLength
      ? Effect.die(new RangeError(`the secret of session tokens must have at least ${secretLength} bytes`))
      : Effect.orDie(Mac.key(Mac.hmacSha256, secret))
  const signing = yield* keyOf(current)
  const keys = [signing, ...(yield* Effect.forEach(former, keyOf))]
  return SessionTokens.of({
    sign: (session) =>
      Effect.gen(function* () {
        const signed = `${header}.${Base64Url.encode(encodeClaims(ofSession(session)))}`
        const tag = yield* Effect.orDie(mac.sign(signing, asciiBytes(signed)))
        return Redacted.make(`${signed}.${Base64Url.encode(tag)}`)
      }),
    read: Effect.fnUntraced(function* (token) {
      const parts = split(Redacted.value(token))
      if (parts === undefined) return Option.none()
      for (const key of keys) {
        if (!(yield* Effect.orDie(mac.verify(key, parts.tag, parts.signed)))) continue
        const claims = decodeClaims(parts.text)
        return Option.fromUndefinedOr(Result.isFailure(claims) ? undefined : toSession(claims.success))
      }
      return Option.none()
    })
  })
})

/** The secrets of a deployment's session tokens, each of at least 32 bytes. */
export interface SessionSecrets {
  /** What tokens are signed with; the same on every server of the deployment. */
  readonly current: Redacted.Redacted<Uint8Array>
  /** What tokens were signed with before: they are read to the end of their quarter of an hour. */
  readonly former?: ReadonlyArray<Redacted.Redacted<Uint8Array>>
}

/** Signs with the secret of the deployment. */
export const layer = (secrets: SessionSecrets): Layer.Layer<SessionTokens, never, Mac.Mac> =>
  Layer.effect(
    SessionTokens,
    Effect.suspend(() => make(Redacted.value(secrets.current), (secrets.former ?? []).map(Redacted.value)))
  )

/** Signs with a secret that this process alone knows, and forgets: tokens end with it. */
export const layerMemory: Layer.Layer<SessionTokens, never, Mac.Mac | SecureRandom.SecureRandom> = Layer.effect(
  SessionTokens,
  Effect.gen(function* () {
    const random = yield* SecureRandom.SecureRandom
    return yield* make(yield* random.randomBytes(secretLength), [])
  })
)
