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

/** What a byte does to the checksum. */
const remainders = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte
  for (let bit = 0; bit < 8; bit++) remainder = (remainder >>> 1) ^ (remainder & 1 ? 0xedb88320 : 0)
  return remainder
})

/** The checksum of the random bytes up to and with a byte. */
const checked = (sum: number, byte: number): number => (sum >>> 8) ^ (remainders[(sum ^ byte) & 0xff] ?? 0)

/** CRC-32 (IEEE 802.3) begins and ends with all bits turned. It guards against typing mistakes, not an adversary. */
const turned = 0xffffffff

/** The places of the checksum's bytes, with what each is shifted by: the highest one comes first. */
const places = [24, 16, 8, 0].map((shift, index) => [randomLength + index, shift] as const)

/** A new value from the secure random source of the context. */
export const generate: Effect.Effect<ApiKeySecret, never, SecureRandom.SecureRandom> = Effect.gen(function* () {
  const random = yield* SecureRandom.SecureRandom
  const bytes = yield* random.randomBytes(randomLength)
  const value = new Uint8Array(randomLength + checksumLength)
  value.set(bytes)
  const sum = bytes.reduce(checked, turned) ^ turned
  for (const [place, shift] of places) value[place] = sum >>> shift
  return Redacted.make(Base64.encode(value))
})

/**
 * Whether a value has the form of an issued one: exactly the standard, padded base64 that was issued (a reformatted
 * one is refused), of the right length, with the right checksum.
 */
export const isWellFormed = (value: string): boolean => {
  if (value.length !== length) return false
  let sum = turned
  let ending = 0
  let count = 0
  let bits = 0
  for (let index = 0; index < length; index++) {
    const sextet = sextets[value.charCodeAt(index)] ?? none
    if (sextet === none) return false
    bits = (bits << 6) | sextet
    // The first of four characters fills no byte yet; each of the others fills one, and leaves so many bits of the next.
    const left = 6 - 2 * (index % 4)
    if (left === 6) continue
    const byte = (bits >>> left) & 0xff
    if (count++ < randomLength) sum = checked(sum, byte)
    else ending = (ending << 8) | byte
  }
  return ending === (sum ^ turned)
}
