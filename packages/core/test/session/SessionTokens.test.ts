import * as HmacSessionTokens from "@castellan/core/session/HmacSessionTokens"
import { Session } from "@castellan/core/session/Session"
import { SessionId } from "@castellan/core/session/SessionId"
import { SessionTokens } from "@castellan/core/session/SessionTokens"
import * as Uuid from "@castellan/core/identifier/Uuid"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import * as SessionTokensSuite from "@castellan/testing/suite/SessionTokensSuite"
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Exit, Layer, Option, Redacted } from "effect"
import { createHmac } from "node:crypto"

const secret = (fill: number, length = 32) => Redacted.make(new Uint8Array(length).fill(fill))

const layerOf = (secrets: HmacSessionTokens.SessionSecrets) =>
  HmacSessionTokens.layer(secrets).pipe(Layer.provide(layerCrypto))

SessionTokensSuite.suite("memory", HmacSessionTokens.layerMemory.pipe(Layer.provide(layerCrypto)))
SessionTokensSuite.suite("secret", layerOf({ current: secret(1) }))
SessionTokensSuite.suite("secret with former ones", layerOf({ current: secret(1), former: [secret(2), secret(3)] }))

const session = Effect.gen(function* () {
  return new Session({
    id: SessionId.make(yield* Uuid.next),
    organizationId: yield* Sample.organizationId,
    memberId: yield* Sample.memberId,
    roles: [],
    restricted: false,
    issuedAt: DateTime.makeUnsafe(0),
    expiresAt: DateTime.makeUnsafe(1)
  })
}).pipe(Effect.provide(layerCrypto))

const signWith = (secrets: HmacSessionTokens.SessionSecrets) =>
  Effect.gen(function* () {
    const made = yield* session
    return yield* SessionTokens.use((tokens) => tokens.sign(made)).pipe(Effect.provide(layerOf(secrets)))
  })

const readsWith = (secrets: HmacSessionTokens.SessionSecrets, token: Redacted.Redacted<string>) =>
  SessionTokens.use((tokens) => tokens.read(token)).pipe(Effect.map(Option.isSome), Effect.provide(layerOf(secrets)))

it.effect("the signature is HMAC with SHA-256 over the first two parts", () =>
  Effect.gen(function* () {
    const [header, payload, signature] = Redacted.value(yield* signWith({ current: secret(7) })).split(".")
    const expected = createHmac("sha256", new Uint8Array(32).fill(7)).update(`${header}.${payload}`).digest("base64url")
    assert.strictEqual(signature, expected)
  })
)

it.effect("a secret is replaced without ending the sessions of the one before it", () =>
  Effect.gen(function* () {
    const token = yield* signWith({ current: secret(1) })
    assert.isTrue(yield* readsWith({ current: secret(1) }, token))
    assert.isTrue(yield* readsWith({ current: secret(2), former: [secret(1)] }, token))
    assert.isFalse(yield* readsWith({ current: secret(2) }, token))
    const next = yield* signWith({ current: secret(2), former: [secret(1)] })
    assert.isFalse(yield* readsWith({ current: secret(1) }, next))
  })
)

it.effect("claims that are no session's are none, however well they are signed", () =>
  Effect.gen(function* () {
    const token = Redacted.value(yield* signWith({ current: secret(1) }))
    const [header = "", payload = ""] = token.split(".")
    const claims: object = JSON.parse(Buffer.from(payload, "base64url").toString())
    const signed = (changed: object, under = header) => {
      const text = `${under}.${Buffer.from(JSON.stringify(changed)).toString("base64url")}`
      const tag = createHmac("sha256", new Uint8Array(32).fill(1)).update(text).digest("base64url")
      return Redacted.make(`${text}.${tag}`)
    }
    assert.isTrue(yield* readsWith({ current: secret(1) }, signed(claims)))
    // What the secret signed for another purpose is none either.
    for (const other of ['{"typ":"JWT","alg":"HS256"}', '{"alg":"none"}', '{"alg":"HS256","typ":"at+jwt"}']) {
      const under = Buffer.from(other).toString("base64url")
      assert.isFalse(yield* readsWith({ current: secret(1) }, signed(claims, under)), other)
    }
    const wrong: ReadonlyArray<object> = [
      { ...claims, aud: "another" },
      { ...claims, iss: "another" },
      { ...claims, sub: "nobody" },
      { ...claims, roles: "all" },
      { ...claims, restricted: undefined },
      { ...claims, exp: "tomorrow" },
      { ...claims, exp: 1e300 },
      { ...claims, client: '{"a":1,"a":2}' },
      []
    ]
    for (const one of wrong) {
      assert.isFalse(yield* readsWith({ current: secret(1) }, signed(one)), JSON.stringify(one))
    }
  })
)

it.effect("a secret shorter than the hash is no secret", () =>
  Effect.gen(function* () {
    const exit = yield* Effect.exit(signWith({ current: secret(1, 31) }))
    assert.isTrue(Exit.isFailure(exit))
  })
)
