/**
 * The value of an API key: base64 of 32 random bytes and a 4-byte checksum, so that a mistyped or truncated value is
 * told apart from an unknown one without a look-up.
 *
 * Source: decisions.md §3 ("Key value"); policy-cases K30 to K32.
 */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Base64 from "effect/encoding/Base64"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"

/** A key's value, as its holder keeps it. Prints as `<redacted>`. */
export type ApiKeySecret = Redacted.Redacted<string>

const randomLength = 32
const checksumLength = 4

/** CRC-32 (IEEE 802.3), bit by bit: it guards against typing mistakes, not against an adversary. */
const checksum = (bytes: Uint8Array): Uint8Array => {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  const value = (crc ^ 0xffffffff) >>> 0
  return Uint8Array.of(value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff)
}

/** A new value from the secure random source of the context. */
export const generate: Effect.Effect<ApiKeySecret, never, SecureRandom.SecureRandom> = Effect.gen(function* () {
  const random = yield* SecureRandom.SecureRandom
  const bytes = yield* random.randomBytes(randomLength)
  const value = new Uint8Array(randomLength + checksumLength)
  value.set(bytes)
  value.set(checksum(bytes), randomLength)
  return Redacted.make(Base64.encode(value))
})

/**
 * Whether a value has the form of an issued one: exactly the standard, padded base64 that was issued (a reformatted
 * one is refused), of the right length, with the right checksum.
 */
export const isWellFormed = (value: string): boolean => {
  const decoded = Base64.decode(value)
  if (Result.isFailure(decoded)) return false
  const bytes = decoded.success
  if (bytes.length !== randomLength + checksumLength || Base64.encode(bytes) !== value) return false
  const expected = checksum(bytes.subarray(0, randomLength))
  return expected.every((byte, index) => byte === bytes[randomLength + index])
}
