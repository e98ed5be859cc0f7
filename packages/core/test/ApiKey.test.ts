import { ApiKeyStatus } from "@castellan/core/apikey/ApiKey"
import * as ApiKeySecret from "@castellan/core/apikey/ApiKeySecret"
import { revoke, statusAt } from "@castellan/core/apikey/ApiKeyState"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import { AnyText } from "@castellan/testing/fixture/AnyText"
import { assert, describe, it, layer } from "@effect/vitest"
import { DateTime, Effect, Redacted, Result } from "effect"
import { Base64 } from "effect/encoding"

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="

layer(layerCrypto)("ApiKeySecret", (it) => {
  it.effect("a value is base64 of 36 bytes, and no two are the same", () =>
    Effect.gen(function* () {
      const secrets = yield* Effect.all(Array.from({ length: 200 }, () => ApiKeySecret.generate))
      const values = secrets.map(Redacted.value)
      assert.strictEqual(new Set(values).size, 200)
      for (const value of values) {
        assert.match(value, /^[A-Za-z0-9+/]{48}$/u)
        assert.isTrue(ApiKeySecret.isWellFormed(value))
        assert.strictEqual(Result.getOrThrow(Base64.decode(value)).length, 36)
      }
    })
  )

  it.effect("prints as redacted", () =>
    Effect.gen(function* () {
      const secret = yield* ApiKeySecret.generate
      assert.notInclude(String(secret), Redacted.value(secret))
      assert.notInclude(JSON.stringify({ secret }), Redacted.value(secret))
    })
  )

  it.effect("K30: every change of a single character is found out", () =>
    Effect.gen(function* () {
      const value = Redacted.value(yield* ApiKeySecret.generate)
      for (let position = 0; position < value.length; position++) {
        for (const character of alphabet) {
          if (character === value[position]) continue
          const changed = value.slice(0, position) + character + value.slice(position + 1)
          assert.isFalse(ApiKeySecret.isWellFormed(changed), changed)
        }
      }
    })
  )

  it.effect("a character too few, too many, or two of them swapped is found out", () =>
    Effect.gen(function* () {
      const value = Redacted.value(yield* ApiKeySecret.generate)
      for (let position = 0; position < value.length - 1; position++) {
        const before = value.slice(0, position)
        const here = value.slice(position, position + 1)
        const next = value.slice(position + 1, position + 2)
        const rest = value.slice(position + 2)
        assert.isFalse(ApiKeySecret.isWellFormed(before + next + rest))
        assert.isFalse(ApiKeySecret.isWellFormed(`${before}${here}${here}${next}${rest}`))
        if (here !== next) assert.isFalse(ApiKeySecret.isWellFormed(`${before}${next}${here}${rest}`))
      }
    })
  )
})

describe("ApiKeySecret", () => {
  it.prop("anything but an issued value is refused, whatever it is", [AnyText], ([value]) => {
    assert.isFalse(ApiKeySecret.isWellFormed(value))
  })

  it("the checksum is the CRC-32 of IEEE 802.3, most significant byte first", () => {
    // CRC-32 of 32 zero bytes is 0x190a55ad.
    const value = new Uint8Array(36)
    value.set([0x19, 0x0a, 0x55, 0xad], 32)
    assert.isTrue(ApiKeySecret.isWellFormed(Base64.encode(value)))
  })
})

layer(layerCrypto)("ApiKeyState", (it) => {
  it.effect("K24, K28: every state at every moment, and nothing revives a key", () =>
    Effect.gen(function* () {
      const owner = yield* Sample.member(yield* Sample.organizationId)
      const at = (seconds: number) => DateTime.makeUnsafe(seconds * 1000)
      const active = ApiKeyStatus.cases.Active.make({})
      const revoked = ApiKeyStatus.cases.Revoked.make({ at: at(5) })
      const rows: ReadonlyArray<readonly [ApiKeyStatus, number | undefined, number, string]> = [
        [active, undefined, 0, "active"],
        [active, undefined, 1_000_000_000, "active"],
        [active, 10, 9.999, "active"],
        [active, 10, 10, "expired"],
        [active, 10, 10.001, "expired"],
        [revoked, undefined, 4, "revoked"],
        [revoked, 10, 9, "revoked"],
        [revoked, 10, 11, "revoked"]
      ]
      for (const [status, expiry, now, expected] of rows) {
        const { apiKey } = yield* Sample.key(owner, {
          status,
          ...(expiry === undefined ? {} : { expiresAt: at(expiry) })
        })
        assert.strictEqual(statusAt(apiKey, at(now)), expected)
        const outcome = revoke(apiKey, at(now))
        if (expected === "revoked") {
          assert.strictEqual(Result.getOrThrow(Result.flip(outcome)).message, "the API key is revoked")
        } else {
          const after = Result.getOrThrow(outcome)
          assert.strictEqual(statusAt(after, at(now)), "revoked")
          assert.deepStrictEqual({ ...after, status: apiKey.status }, { ...apiKey })
        }
      }
    })
  )
})
