/**
 * A secret as it is kept: encrypted and authenticated, with a nonce of its own, for one place. The organization, the
 * secret's id and the key's are authenticated with it, so that a secret that is copied to another row, or under another
 * key's name, cannot be read there.
 *
 * AES-256-GCM, of which a key must not see a nonce twice: with random ones, that is so for some 2^32 secrets.
 *
 * Source: decisions.md §5 ("encrypted at rest"); NIST SP 800-38D.
 */
import * as Aead from "effect/crypto/Aead"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as TextBytes from "../library/TextBytes.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import type { SecretKeys } from "./SecretKeys.ts"
import type { SecretId } from "./Secrets.ts"

/** Whose secret it is, and which. */
export interface SecretPlace {
  readonly organizationId: OrganizationId
  readonly id: SecretId
}

/** A secret as it is kept. */
export interface SealedSecret {
  /** The id of the key that it was encrypted with. */
  readonly keyId: string
  readonly nonce: Uint8Array
  /** What was encrypted, and its tag. */
  readonly sealed: Uint8Array
}

/** A kept secret cannot be read. The message names the secret and the key by their ids, and nothing else. */
export class SecretUnreadable extends Schema.TaggedError<SecretUnreadable>()("SecretUnreadable", {
  reason: Schema.Literals(["unknown_key", "not_authentic"]),
  secretId: Schema.String,
  keyId: Schema.String
}) {
  override get message(): string {
    return this.reason === "unknown_key"
      ? `the secret ${this.secretId} is encrypted with the key "${this.keyId}", which this server does not have`
      : `the secret ${this.secretId} is not what was encrypted for it with the key "${this.keyId}"`
  }
}

/** Encrypts secrets for their places, and reads them there. */
export interface SecretSealing {
  /** Encrypts a secret with the current key. */
  readonly seal: (place: SecretPlace, value: Redacted.Redacted<string>) => Effect.Effect<SealedSecret>
  /** Reads a secret by the key that it names. */
  readonly open: (
    place: SecretPlace,
    secret: SealedSecret
  ) => Effect.Effect<Redacted.Redacted<string>, SecretUnreadable>
}

// As JSON, so that any text comes back to the letter, half a surrogate pair too.
const Text = Schema.fromJsonString(Schema.String)
const encode = Schema.encodeSync(Text)
const decode = Schema.decodeOption(Text)

const version = "castellan secret 1"

const authenticated = ({ id, organizationId }: SecretPlace, keyId: string): Uint8Array =>
  TextBytes.encode([version, organizationId, id, keyId].join("\n"))

/** The platform's cryptography: what a test makes predictable elsewhere must not be predictable here. */
const layerCrypto = Aead.layerWebCrypto.pipe(Layer.provideMerge(SecureRandom.layerWebCrypto))

/** Encrypts and reads with these keys. */
export const make = (keys: SecretKeys["Service"]): Effect.Effect<SecretSealing> =>
  Effect.gen(function* () {
    const aead = yield* Aead.Aead
    const random = yield* SecureRandom.SecureRandom
    return {
      seal: Effect.fnUntraced(function* (place, value) {
        const { id: keyId, key } = keys.current
        const nonce = yield* random.randomBytes(Aead.aes256Gcm.nonceLength)
        const options = { nonce, aad: authenticated(place, keyId) }
        const plain = TextBytes.encode(encode(Redacted.value(value)))
        return { keyId, nonce, sealed: yield* Effect.orDie(aead.encrypt(key, plain, options)) }
      }),
      open: Effect.fnUntraced(function* (place, { keyId, nonce, sealed }) {
        const unreadable = (reason: SecretUnreadable["reason"]) =>
          new SecretUnreadable({ reason, secretId: place.id, keyId })
        const key = keys.byId.get(keyId)
        if (key === undefined) return yield* unreadable("unknown_key")
        const options = { nonce, aad: authenticated(place, keyId) }
        const plain = yield* Effect.mapError(aead.decrypt(key.key, sealed, options), () => unreadable("not_authentic"))
        const text = Option.flatMap(TextBytes.decode(plain), decode)
        return Option.isSome(text) ? Redacted.make(text.value) : yield* unreadable("not_authentic")
      })
    } satisfies SecretSealing
  }).pipe(Effect.provide(layerCrypto))
