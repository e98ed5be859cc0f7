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

/** A key's value, as its holder keeps it. Prints as `<redacted>`. */
export type ApiKeySecret = Redacted.Redacted<string>

const randomLength = 32
const checksumLength = 4

/** Characters of a value. Its 36 bytes fill them without padding, so that each value has one way to be written. */
const length = 48

/** No six bits. */
const none = 0xff

/** What a character of the standard alphabet stands for: six bits; `none` for any other character of a byte. */
const sextets = new Uint8Array(256).fill(none)
for (const [sextet, character] of [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"].entries()) {
  sextets[character.charCodeAt(0)] = sextet
}

/**
 * The bytes of a value; nothing where it has a character that no issued one has, padding and line breaks as well. Every
 * request begins with it, and it takes a tenth of the time of a decoder that knows all of base64's ways.
 */
const bytesOf = (value: string): Uint8Array | undefined => {
  const bytes = new Uint8Array(randomLength + checksumLength)
  let place = 0
  let bits = 0
  for (let index = 0; index < length; index++) {
    const sextet = sextets[value.charCodeAt(index)] ?? none
    if (sextet === none) return undefined
    bits = (bits << 6) | sextet
    if (index % 4 !== 3) continue
    bytes[place++] = bits >>> 16
    bytes[place++] = bits >>> 8
    bytes[place++] = bits
    bits = 0
  }
  return bytes
}

/** What a byte does to the checksum. */
const remainders = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte
  for (let bit = 0; bit < 8; bit++) remainder = (remainder >>> 1) ^ (remainder & 1 ? 0xedb88320 : 0)
  return remainder
})

/** CRC-32 (IEEE 802.3) of the random bytes: it guards against typing mistakes, not against an adversary. */
const checksum = (bytes: Uint8Array): number => {
  let crc = 0xffffffff
  for (let index = 0; index < randomLength; index++) {
    crc = (crc >>> 8) ^ (remainders[(crc ^ (bytes[index] ?? 0)) & 0xff] ?? 0)
  }
  return (crc ^ 0xffffffff) >>> 0
}

/** The place of each byte of the checksum, with what it is shifted by: the highest one comes first. */
const places = [24, 16, 8, 0].map((shift, index) => [randomLength + index, shift] as const)

/** The checksum that a value ends with. */
const ending = (bytes: Uint8Array): number =>
  places.reduce((sum, [place, shift]) => sum | ((bytes[place] ?? 0) << shift), 0) >>> 0

/** A new value from the secure random source of the context. */
export const generate: Effect.Effect<ApiKeySecret, never, SecureRandom.SecureRandom> = Effect.gen(function* () {
  const random = yield* SecureRandom.SecureRandom
  const bytes = yield* random.randomBytes(randomLength)
  const value = new Uint8Array(randomLength + checksumLength)
  value.set(bytes)
  const sum = checksum(value)
  for (const [place, shift] of places) value[place] = sum >>> shift
  return Redacted.make(Base64.encode(value))
})

/**
 * Whether a value has the form of an issued one: exactly the standard, padded base64 that was issued (a reformatted
 * one is refused), of the right length, with the right checksum.
 */
export const isWellFormed = (value: string): boolean => {
  if (value.length !== length) return false
  const bytes = bytesOf(value)
  return bytes !== undefined && ending(bytes) === checksum(bytes)
}
