/**
 * What everything that signs session tokens keeps to.
 */
import { ApiKeyId } from "@castellan/core/apikey/ApiKey"
import * as Uuid from "@castellan/core/identifier/Uuid"
import { RoleId } from "@castellan/core/role/Role"
import { Session } from "@castellan/core/session/Session"
import { SessionId } from "@castellan/core/session/SessionId"
import { SessionTokens } from "@castellan/core/session/SessionTokens"
import { assert, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"
import { assertSame } from "./Same.ts"

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

/** Runs the contract of `SessionTokens` against an adapter. */
export const suite = <E>(name: string, layer: Layer.Layer<SessionTokens, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`SessionTokens (${name})`, (it) => {
    const plain = Effect.gen(function* () {
      return new Session({
        id: SessionId.make(yield* Uuid.next),
        organizationId: yield* Sample.organizationId,
        memberId: yield* Sample.memberId,
        roles: [],
        restricted: false,
        issuedAt: DateTime.makeUnsafe("2030-01-01T00:00:00.001Z"),
        expiresAt: DateTime.makeUnsafe("2030-01-01T00:15:00.999Z")
      })
    })

    const full = Effect.gen(function* () {
      const role = RoleId.make(yield* Uuid.next)
      const key = ApiKeyId.make(yield* Uuid.next)
      return new Session({
        ...(yield* plain),
        roles: [role, RoleId.make(yield* Uuid.next)],
        ceiling: [role],
        clientMetadata: { text: '{ "tenant": "ż\\u00f3\\"łć", "n": -1.5 }', attributes: { tenant: 'żó"łć', n: -1.5 } },
        restricted: true,
        authenticatedAt: DateTime.makeUnsafe("2029-12-31T23:45:00.007Z"),
        key: { id: key, rotatedFrom: [ApiKeyId.make(yield* Uuid.next), key] }
      })
    })

    const read = (token: string) => SessionTokens.use((tokens) => tokens.read(Redacted.make(token)))

    it.effect("reads what it signed, with all that it says, expired or not", () =>
      Effect.gen(function* () {
        const tokens = yield* SessionTokens
        for (const session of [yield* plain, yield* full]) {
          const token = yield* tokens.sign(session)
          assertSame(yield* tokens.read(token), Option.some(session))
        }
      })
    )

    it.effect("a token has the form of a JSON Web Token, with the registered claims, and prints as redacted", () =>
      Effect.gen(function* () {
        const session = yield* full
        const token = yield* SessionTokens.use((tokens) => tokens.sign(session))
        assert.strictEqual(String(token), "<redacted>")
        const [header = "", payload = "", signature = "", ...rest] = Redacted.value(token).split(".")
        assert.strictEqual(rest.length, 0)
        for (const part of [header, payload, signature]) assert.match(part, /^[A-Za-z0-9_-]+$/u)
        const claims: unknown = JSON.parse(Result.getOrThrow(Base64Url.decodeString(payload)))
        assert.containSubset(claims, {
          sub: session.memberId,
          org: session.organizationId,
          jti: session.id,
          exp: DateTime.toEpochMillis(session.expiresAt) / 1000
        })
        const algorithm: unknown = JSON.parse(Result.getOrThrow(Base64Url.decodeString(header)))
        assert.notInclude(JSON.stringify(algorithm).toLowerCase(), '"none"')
      })
    )

    it.effect("a token of which any one character was changed is none", () =>
      Effect.gen(function* () {
        const token = Redacted.value(
          yield* Effect.flatMap(full, (session) => SessionTokens.use((t) => t.sign(session)))
        )
        for (let position = 0; position < token.length; position++) {
          const present = token.charAt(position)
          const next = alphabet.charAt((alphabet.indexOf(present) + 1) % alphabet.length)
          const changed = token.slice(0, position) + next + token.slice(position + 1)
          assert.isTrue(Option.isNone(yield* read(changed)), `character ${position}`)
        }
        // The last character has bits that decoders pass over: no other way to write it is taken either.
        for (const last of alphabet) {
          if (token.endsWith(last)) continue
          assert.isTrue(Option.isNone(yield* read(token.slice(0, -1) + last)), `ends with ${last}`)
        }
      })
    )

    it.effect("a token without its signature, by another algorithm, or padded is none", () =>
      Effect.gen(function* () {
        const token = Redacted.value(
          yield* Effect.flatMap(plain, (session) => SessionTokens.use((t) => t.sign(session)))
        )
        const [header = "", payload = "", signature = ""] = token.split(".")
        const headerOf = (algorithm: string) => Base64Url.encode(JSON.stringify({ alg: algorithm, typ: "JWT" }))
        const wrong = [
          "",
          ".",
          "..",
          "a.b.c",
          `${header}.${payload}`,
          `${header}.${payload}.`,
          `${headerOf("none")}.${payload}.`,
          `${headerOf("none")}.${payload}.${signature}`,
          `${headerOf("HS384")}.${payload}.${signature}`,
          `${header}.${payload}.${signature}.`,
          `${header}.${payload}.${signature}=`,
          `${header}.${payload}=.${signature}`,
          ` ${token}`,
          `${token}\n`,
          `${header}.${payload}\n.${signature}`,
          `${signature}.${payload}.${header}`
        ]
        for (const one of wrong) assert.isTrue(Option.isNone(yield* read(one)), JSON.stringify(one))
        assert.isTrue(Option.isSome(yield* read(token)))
      })
    )

    it.effect("the claims of one token under the signature of another are none", () =>
      Effect.gen(function* () {
        const tokens = yield* SessionTokens
        const [one = "", two = ""] = [
          Redacted.value(yield* tokens.sign(yield* plain)),
          Redacted.value(yield* tokens.sign(yield* full))
        ]
        const parts = (token: string) => token.split(".")
        const mixed = [parts(one)[0], parts(two)[1], parts(one)[2]].join(".")
        assert.isTrue(Option.isNone(yield* read(mixed)))
      })
    )
  })
}
