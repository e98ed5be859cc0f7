import { OrganizationId } from "@castellan/core/organization/Organization"
import * as SealedSecret from "@castellan/core/secret/SealedSecret"
import * as SecretKeys from "@castellan/core/secret/SecretKeys"
import { SecretId } from "@castellan/core/secret/Secrets"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import { AnyText } from "@castellan/testing/fixture/AnyText"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { Base64 } from "effect/encoding"

/** A key of which every byte is the same. */
const keyText = (id: string, byte: number, length = 32): string =>
  `${id}:${Base64.encode(new Uint8Array(length).fill(byte))}`

const read = (current: string, ...former: ReadonlyArray<string>) =>
  SecretKeys.read({ current: Redacted.make(current), former: former.map((text) => Redacted.make(text)) })

const sealingOf = (current: string, ...former: ReadonlyArray<string>) =>
  Effect.flatMap(read(current, ...former), SealedSecret.make)

const uuid = (digit: number): string => `0000000${digit}-0000-7000-8000-000000000000`
const place = { organizationId: OrganizationId.make(uuid(1)), id: SecretId.make(uuid(2)) }

describe("SecretKeys", () => {
  it.effect("reads the current key and the former ones, each under its id", () =>
    Effect.gen(function* () {
      const keys = yield* read(keyText("2031-02", 1), keyText("2030.old", 2), ` ${keyText("a_b", 3)}\n`)
      assert.strictEqual(keys.current.id, "2031-02")
      assert.deepStrictEqual([...keys.byId.keys()], ["2031-02", "2030.old", "a_b"])
    })
  )

  it.effect("takes a key that is named twice, as the current and a former one, while keys are replaced", () =>
    Effect.gen(function* () {
      const keys = yield* read(keyText("new", 1), keyText("old", 2), keyText("new", 1), `${keyText("old", 2)}\n`)
      assert.strictEqual(keys.current.id, "new")
      assert.deepStrictEqual([...keys.byId.keys()], ["new", "old"])
      assert.strictEqual(keys.byId.get("new"), keys.current)
    })
  )

  const good = keyText("good", 9)
  const rule = "must be an id, a colon and the key"
  for (const [what, texts, message] of [
    ["no colon", [keyText("", 1).slice(1)], rule],
    ["no id", [keyText("", 1)], rule],
    ["an id with a space", [keyText("a b", 1)], rule],
    ["an id that is too long", [keyText("i".repeat(65), 1)], rule],
    ["a key that is too short", [keyText("short", 1, 31)], 'the secrets key "short" must be 32 bytes long, and is 31'],
    ["a key that is too long", [keyText("long", 1, 33)], 'the secrets key "long" must be 32 bytes long, and is 33'],
    ["no key", ["none:"], 'the secrets key "none" must be 32 bytes long, and is 0'],
    ["what is no base64", ["odd:!!!!"], 'the secrets key "odd" is not base64'],
    ["a former key that is none", [good, keyText("old", 1, 16)], 'the secrets key "old" must be 32 bytes long'],
    ["one id twice", [good, keyText("good", 8)], 'there are two secrets keys with the id "good"']
  ] as const) {
    it.effect(`refuses ${what}, and repeats nothing of a key`, () =>
      Effect.gen(function* () {
        const [current, ...former] = texts
        const refusal = yield* Effect.flip(read(current, ...former))
        assert.include(refusal.message, message)
        for (const text of texts) {
          const key = text.slice(text.indexOf(":") + 1)
          if (key.length > 4) assert.notInclude(`${refusal}${JSON.stringify(refusal)}`, key.slice(0, 8))
        }
      })
    )
  }

  it("shows nothing of the keys that it holds", () => {
    const keys = Effect.runSync(read(keyText("k", 65)))
    assert.notInclude(JSON.stringify([keys.current, ...keys.byId.values()]), Base64.encode(new Uint8Array(6).fill(65)))
  })

  it.effect("makes keys that it reads, each another one", () =>
    Effect.gen(function* () {
      const id = SecretKeys.SecretKeyId.make("new")
      const [one, other] = [yield* SecretKeys.generate(id), yield* SecretKeys.generate(id)]
      assert.notStrictEqual(Redacted.value(one), Redacted.value(other))
      assert.strictEqual((yield* SecretKeys.read({ current: one })).current.id, id)
    }).pipe(Effect.provide(layerCrypto))
  )
})

describe("SealedSecret", () => {
  it.effect.prop(
    "any text comes back to the letter, and is not to be seen in what is kept",
    [AnyText],
    ([text]) =>
      Effect.gen(function* () {
        const sealing = yield* sealingOf(keyText("k1", 1))
        // So long that no encryption has it by chance.
        const ending = "what nobody else may see"
        const secret = `${text}${ending}`
        const kept = yield* sealing.seal(place, Redacted.make(secret))
        assert.strictEqual(Redacted.value(yield* sealing.open(place, kept)), secret)
        assert.isFalse(Buffer.from(kept.sealed).includes(ending))
        const alone = yield* sealing.seal(place, Redacted.make(text))
        assert.strictEqual(Redacted.value(yield* sealing.open(place, alone)), text)
      }),
    { arbitrary: { runs: 100 } }
  )

  it.effect("no two are encrypted alike", () =>
    Effect.gen(function* () {
      const sealing = yield* sealingOf(keyText("k1", 1))
      const kept = yield* Effect.forEach(Array.from({ length: 200 }), () => sealing.seal(place, Redacted.make("same")))
      assert.strictEqual(new Set(kept.map(({ nonce }) => Base64.encode(nonce))).size, 200)
      assert.strictEqual(new Set(kept.map(({ sealed }) => Base64.encode(sealed))).size, 200)
    })
  )

  it.effect("is read at its own place, under its own key and as it was written, and else not", () =>
    Effect.gen(function* () {
      const sealing = yield* sealingOf(keyText("k1", 1), keyText("k2", 1))
      const kept = yield* sealing.seal(place, Redacted.make("a secret"))
      const flipped = kept.sealed.slice()
      flipped[0] = (flipped[0] ?? 0) ^ 1
      const attempts: ReadonlyArray<readonly [SealedSecret.SecretPlace, SealedSecret.SealedSecret]> = [
        [{ ...place, organizationId: OrganizationId.make(uuid(3)) }, kept],
        [{ ...place, id: SecretId.make(uuid(3)) }, kept],
        [place, { ...kept, keyId: "k2" }],
        [place, { ...kept, nonce: new Uint8Array(12) }],
        [place, { ...kept, sealed: flipped }],
        [place, { ...kept, sealed: kept.sealed.slice(0, 7) }]
      ]
      assert.strictEqual(Redacted.value(yield* sealing.open(place, kept)), "a secret")
      for (const [at, secret] of attempts) {
        const error = yield* Effect.flip(sealing.open(at, secret))
        assert.strictEqual(error.reason, "not_authentic")
        assert.notInclude(error.message, "a secret")
      }
    })
  )

  it.effect("is read by a former key, and by none that is not there, which is named", () =>
    Effect.gen(function* () {
      const before = yield* sealingOf(keyText("k1", 1))
      const kept = yield* before.seal(place, Redacted.make("a secret"))
      const after = yield* sealingOf(keyText("k2", 2), keyText("k1", 1))
      assert.strictEqual(Redacted.value(yield* after.open(place, kept)), "a secret")
      assert.strictEqual((yield* after.seal(place, Redacted.make("a secret"))).keyId, "k2")
      const without = yield* sealingOf(keyText("k2", 2))
      const error = yield* Effect.flip(without.open(place, kept))
      assert.strictEqual(error.reason, "unknown_key")
      assert.include(error.message, 'the key "k1", which this server does not have')
      // Under the id of the key, another one.
      const wrong = yield* sealingOf(keyText("k1", 7))
      assert.strictEqual((yield* Effect.flip(wrong.open(place, kept))).reason, "not_authentic")
    })
  )
})
