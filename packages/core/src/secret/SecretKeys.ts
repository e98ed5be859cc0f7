/**
 * The keys that secrets are kept encrypted with, each with an id by which a kept secret names it. One is the current
 * key, with which secrets are written; former ones are there to read what was written before.
 *
 * To replace the key of a deployment without a moment in which a server cannot read what another one wrote: give every
 * server the new key as a former one, then make it the current one and the old key a former one, re-encrypt what is
 * kept, and take the old key away.
 *
 * Source: decisions.md §5 ("encrypted at rest"); issue "Everything kept" §1 ("with key ids so that keys can be rotated").
 */
import * as Aead from "effect/crypto/Aead"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** A key's id, which is no secret: up to 64 letters, digits, dots, dashes and underscores. */
export const SecretKeyId = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9._-]{1,64}$/)).pipe(
  Schema.brand("SecretKeyId")
)
export type SecretKeyId = typeof SecretKeyId.Type

/** A key for AES-256-GCM; the key itself shows nothing of what it holds. */
export interface SecretKey {
  readonly id: SecretKeyId
  readonly key: Aead.Key<Aead.AesGcm>
}

/** The keys of a deployment. */
export class SecretKeys extends Context.Service<
  SecretKeys,
  {
    /** What secrets are written with. */
    readonly current: SecretKey
    /** Every key by which a secret can be read, the current one among them. */
    readonly byId: ReadonlyMap<string, SecretKey>
  }
>()("@castellan/core/secret/SecretKeys") {}

/** Texts are no keys. The message says which rule is broken, and holds nothing of a key. */
export class SecretKeysRefusal extends Schema.TaggedError<SecretKeysRefusal>()("SecretKeysRefusal", {
  message: Schema.String
}) {}

/** Keys as configuration has them: each an id, a colon, and 32 bytes in base64. */
export interface SecretKeyTexts {
  readonly current: Redacted.Redacted<string>
  readonly former?: ReadonlyArray<Redacted.Redacted<string>>
}

/** The length of a key, in bytes. */
export const keyLength = Aead.aes256Gcm.keyLength

const isId = Schema.is(SecretKeyId)

/** The id and the bytes of a key. */
const parse = (
  text: Redacted.Redacted<string>
): Result.Result<{ readonly id: SecretKeyId; readonly bytes: Uint8Array }, SecretKeysRefusal> => {
  const refuse = (message: string) => Result.fail(new SecretKeysRefusal({ message }))
  const value = Redacted.value(text).trim()
  const colon = value.indexOf(":")
  const id = value.slice(0, Math.max(colon, 0))
  // Without a colon, all of the text may be the key: nothing of it is repeated.
  if (!isId(id)) {
    return refuse("a secrets key must be an id, a colon and the key; an id has up to 64 letters, digits, `.`, `-`, `_`")
  }
  const decoded = Base64.decode(value.slice(colon + 1))
  if (Result.isFailure(decoded)) return refuse(`the secrets key "${id}" is not base64`)
  const { length } = decoded.success
  if (length !== keyLength) return refuse(`the secrets key "${id}" must be ${keyLength} bytes long, and is ${length}`)
  return Result.succeed({ id, bytes: decoded.success })
}

const isSame = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, index) => byte === other[index])

/** The keys that texts hold. A key may be named more than once: while keys are replaced, one is both. */
export const read = Effect.fnUntraced(function* ({ current, former = [] }: SecretKeyTexts) {
  const byId = new Map<string, SecretKey>()
  const bytesById = new Map<string, Uint8Array>()
  const add = Effect.fnUntraced(function* (text: Redacted.Redacted<string>) {
    const { bytes, id } = yield* Effect.fromResult(parse(text))
    const known = bytesById.get(id)
    if (known !== undefined && !isSame(known, bytes)) {
      return yield* new SecretKeysRefusal({ message: `there are two secrets keys with the id "${id}"` })
    }
    const key = byId.get(id) ?? { id, key: yield* Effect.orDie(Aead.key(Aead.aes256Gcm, bytes)) }
    byId.set(id, key)
    bytesById.set(id, bytes)
    return key
  })
  const first = yield* add(current)
  for (const text of former) yield* add(text)
  return SecretKeys.of({ current: first, byId })
})

/** Keys from texts. */
export const layer = (texts: SecretKeyTexts): Layer.Layer<SecretKeys, SecretKeysRefusal> =>
  Layer.effect(
    SecretKeys,
    Effect.suspend(() => read(texts))
  )

/** A new key as configuration has it, under an id. */
export const generate = (id: SecretKeyId): Effect.Effect<Redacted.Redacted<string>, never, SecureRandom.SecureRandom> =>
  SecureRandom.SecureRandom.use((random) =>
    Effect.map(random.randomBytes(keyLength), (bytes) => Redacted.make(`${id}:${Base64.encode(bytes)}`))
  )
