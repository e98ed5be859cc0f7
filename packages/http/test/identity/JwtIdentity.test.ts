import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto"
import * as JwtIdentity from "@castellan/http/identity/JwtIdentity"
import * as JwtSignature from "@castellan/http/identity/JwtSignature"
import { RoleId } from "@castellan/core/role/Role"
import { IdentityTokens } from "@castellan/core/session/IdentityTokens"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Exit, Option, Redacted } from "effect"
import { exportSPKI, importJWK, type JWK } from "jose"
import * as KeyServer from "./KeyServer.ts"

const { claims } = KeyServer

const secret = "a secret of more than thirty-two characters"

const read = (token: string) =>
  Effect.flatMap(IdentityTokens, (tokens) => Effect.map(tokens.read(Redacted.make(token)), Option.getOrUndefined))

const isTaken = (token: string) => Effect.map(read(token), (identity) => identity !== undefined)

/** A public key as it is published. */
const exportKey = (publicKey: KeyObject): JWK => ({ ...publicKey.export({ format: "jwk" }), kty: "RSA" })

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")

/** A token that is signed by hand, with any header at all. */
const handmade = (header: unknown, payload: unknown, key: string | Buffer, hash = "sha256"): string => {
  const signed = `${part(header)}.${part(payload)}`
  return `${signed}.${createHmac(hash, key).update(signed).digest("base64url")}`
}

const shared = JwtIdentity.layer({ secret: Redacted.make(secret) })

const withSecret = (header: unknown, payload: unknown, hash?: string) => handmade(header, payload, secret, hash)

describe("tokens of a shared secret", () => {
  it.effect("say who they are of, and until when", () =>
    Effect.gen(function* () {
      const identity = yield* read(withSecret({ alg: "HS256", typ: "JWT" }, claims({ exp: 1_000.5, nbf: 7 })))
      assert.deepEqual<unknown>(identity, {
        organizationId: KeyServer.organization,
        memberId: KeyServer.subject,
        expiresAt: DateTime.makeUnsafe(1_000_500),
        notBefore: DateTime.makeUnsafe(7_000)
      })
    }).pipe(Effect.provide(shared))
  )

  it.effect("may name the roles that they are limited to, and none is not all", () =>
    Effect.gen(function* () {
      const role = "0197c0de-0000-7000-8000-000000000003"
      const rolesOf = (roles: unknown) =>
        Effect.map(read(withSecret({ alg: "HS256" }, claims({ roles }))), (identity) => identity?.roles)
      assert.deepStrictEqual(yield* rolesOf([role]), [RoleId.make(role)])
      assert.deepStrictEqual(yield* rolesOf([]), [])
      for (const malformed of [["admin"], role, [role, 1], null, {}]) {
        assert.isFalse(yield* isTaken(withSecret({ alg: "HS256" }, claims({ roles: malformed }))), String(malformed))
      }
    }).pipe(Effect.provide(shared))
  )

  const without = (name: string) => Object.fromEntries(Object.entries(claims()).filter(([claim]) => claim !== name))

  it.effect.each([
    ["another issuer", claims({ iss: "somebody" })],
    ["the issuer in another case", claims({ iss: "Castellan" })],
    ["several issuers", { ...claims(), iss: ["castellan"] }],
    ["no issuer", without("iss")],
    ["another audience", claims({ aud: "somebody" })],
    ["other audiences", claims({ aud: ["somebody", "castellan-session"] })],
    ["no audiences at all", claims({ aud: [] })],
    ["no audience", without("aud")],
    ["no expiry", without("exp")],
    ["an expiry that is text", { ...claims(), exp: "1000" }],
    ["an expiry beyond all dates", claims({ exp: 1e300 })],
    ["an expiry before all time", claims({ exp: -1 })],
    ["a null expiry", { ...claims(), exp: null }],
    ["a beginning that is text", { ...claims(), nbf: "1" }],
    ["no member", without("sub")],
    ["a member's name", claims({ sub: "ada" })],
    ["no organization", without("org")],
    ["an organization's name", claims({ org: "acme" })],
    ["no object", [claims()]],
    ["nothing", null]
  ] as const)("are refused with %s", ([, payload]) =>
    Effect.gen(function* () {
      assert.isFalse(yield* isTaken(withSecret({ alg: "HS256" }, payload)))
    }).pipe(Effect.provide(shared))
  )

  it.effect("may be for others too", () =>
    Effect.gen(function* () {
      assert.isTrue(yield* isTaken(withSecret({ alg: "HS256" }, claims({ aud: ["somebody", "castellan"] }))))
    }).pipe(Effect.provide(shared))
  )

  it.effect("are of the issuer and for the audience that the host names", () =>
    Effect.gen(function* () {
      assert.isTrue(yield* isTaken(withSecret({ alg: "HS256" }, claims({ iss: "https://id.example/", aud: "acme" }))))
      assert.isFalse(yield* isTaken(withSecret({ alg: "HS256" }, claims())))
    }).pipe(
      Effect.provide(
        JwtIdentity.layer({ secret: Redacted.make(secret), issuer: "https://id.example/", audience: "acme" })
      )
    )
  )

  it.effect.each([
    ["another secret", handmade({ alg: "HS256" }, claims(), `${secret}.`)],
    ["no secret", handmade({ alg: "HS256" }, claims(), "")],
    ["a longer hash, by its name", withSecret({ alg: "HS512" }, claims(), "sha512")],
    ["a longer hash, by another name", withSecret({ alg: "HS256" }, claims(), "sha512")],
    ["no algorithm", withSecret({ alg: "none" }, claims())],
    ["no algorithm, in another case", withSecret({ alg: "nOnE" }, claims())],
    ["an algorithm in another case", withSecret({ alg: "hs256" }, claims())],
    ["no name of an algorithm", withSecret({ typ: "JWT" }, claims())],
    ["several algorithms", withSecret({ alg: ["HS256"] }, claims())],
    ["the algorithm of a public key", withSecret({ alg: "RS256" }, claims())],
    ["an extension that must be understood", withSecret({ alg: "HS256", crit: ["b64"], b64: true }, claims())],
    ["an unknown extension", withSecret({ alg: "HS256", crit: ["acme"], acme: 1 }, claims())],
    ["an empty list of extensions", withSecret({ alg: "HS256", crit: [] }, claims())]
  ] as const)("are refused with %s", ([, token]) =>
    Effect.gen(function* () {
      assert.isFalse(yield* isTaken(token))
    }).pipe(Effect.provide(shared))
  )

  it.effect("are refused when any part of them is not as it was signed", () =>
    Effect.gen(function* () {
      const good = withSecret({ alg: "HS256" }, claims())
      const [header = "", payload = "", signature = ""] = good.split(".")
      assert.isTrue(yield* isTaken(good))
      for (const altered of [
        `${header}.${payload}.`,
        `${header}.${payload}`,
        `${good}.`,
        `${header}.${part(claims({ exp: 2_000 }))}.${signature}`,
        `${part({ alg: "HS256", typ: "JWT" })}.${payload}.${signature}`,
        `${header}.${payload}.${signature.slice(0, -1)}`,
        `${header}.${payload}.${signature}A`,
        `.${payload}.${signature}`,
        "..",
        "",
        "a.b.c"
      ]) {
        assert.isFalse(yield* isTaken(altered), altered)
      }
    }).pipe(Effect.provide(shared))
  )

  it.effect("their signature is by one algorithm, whoever asks about it", () =>
    Effect.gen(function* () {
      const key = Buffer.from(secret)
      assert.strictEqual(yield* JwtSignature.bySecret(withSecret({ alg: "HS256" }, claims()), key), "Genuine")
      assert.strictEqual(yield* JwtSignature.bySecret(withSecret({ alg: "HS512" }, claims(), "sha512"), key), "Forged")
    })
  )

  it.effect("a secret that can be guessed is refused at the start", () =>
    Effect.gen(function* () {
      const built = yield* Effect.exit(
        Effect.provide(Effect.void, JwtIdentity.layer({ secret: Redacted.make("x".repeat(31)) }))
      )
      assert.isTrue(Exit.isFailure(built))
    })
  )
})

describe("tokens of published keys", () => {
  it.effect.each(["RS256", "RS512", "PS256", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"])(
    "are taken by %s",
    (algorithm) =>
      Effect.gen(function* () {
        const key = yield* KeyServer.key("one", algorithm)
        const { url } = yield* KeyServer.serve(KeyServer.publishing([key]))
        yield* Effect.gen(function* () {
          assert.isTrue(yield* isTaken(yield* key.sign(claims())))
          assert.isFalse(yield* isTaken(yield* key.sign(claims({ aud: "somebody" }))))
        }).pipe(Effect.provide(JwtIdentity.layer({ keySet: { url } })))
      })
  )

  it.effect("a public key is no secret: nobody signs with it", () =>
    Effect.gen(function* () {
      const key = yield* KeyServer.key("one", "RS256")
      const { url } = yield* KeyServer.serve(KeyServer.publishing([key]))
      const publicKey = yield* Effect.promise(() => importJWK(key.published, "RS256", { extractable: true }))
      const pem = publicKey instanceof Uint8Array ? "" : yield* Effect.promise(() => exportSPKI(publicKey))
      assert.match(pem, /BEGIN PUBLIC KEY/u)
      const confused = [pem, pem.trimEnd(), JSON.stringify(key.published), String(key.published.n)].map((known) =>
        handmade({ alg: "HS256", kid: "one" }, claims(), known)
      )
      const taken = Effect.forEach(confused, isTaken)
      const keySet = { url }
      assert.deepStrictEqual(yield* Effect.provide(taken, JwtIdentity.layer({ keySet })), Array(4).fill(false))
      const both = JwtIdentity.layer({ keySet, secret: Redacted.make(secret) })
      assert.deepStrictEqual(yield* Effect.provide(taken, both), Array(4).fill(false))
    })
  )

  it.effect("a secret that is published by mistake is no key", () =>
    Effect.gen(function* () {
      const k = Buffer.from(secret).toString("base64url")
      const { url } = yield* KeyServer.serve(KeyServer.publishing([{ kty: "oct", k, kid: "one", alg: "HS256" }]))
      assert.isFalse(
        yield* isTaken(withSecret({ alg: "HS256", kid: "one" }, claims())).pipe(
          Effect.provide(JwtIdentity.layer({ keySet: { url } }))
        )
      )
    })
  )

  it.effect("a key signs by its own algorithm, and only by those that the host allows", () =>
    Effect.gen(function* () {
      const rsa = yield* KeyServer.key("rsa", "RS256")
      const { alg: _, ...unbound } = rsa.published
      const elliptic = yield* KeyServer.key("elliptic", "ES256")
      const { answer, url } = yield* KeyServer.serve(KeyServer.publishing([rsa, elliptic]))
      yield* Effect.gen(function* () {
        assert.isTrue(yield* isTaken(yield* rsa.sign(claims())))
        assert.isFalse(yield* isTaken(yield* rsa.sign(claims(), { kid: "elliptic" })))
      }).pipe(Effect.provide(JwtIdentity.layer({ keySet: { url } })))
      answer(KeyServer.publishing([unbound, elliptic]))
      yield* Effect.gen(function* () {
        assert.isTrue(yield* isTaken(yield* elliptic.sign(claims())))
        assert.isFalse(yield* isTaken(yield* rsa.sign(claims())))
      }).pipe(Effect.provide(JwtIdentity.layer({ keySet: { url }, algorithms: ["ES256"] })))
    })
  )

  it.effect("a key that the token brings along, or points at, is not asked", () =>
    Effect.gen(function* () {
      const key = yield* KeyServer.key("one")
      const own = yield* KeyServer.key("one")
      const elsewhere = yield* KeyServer.serve(KeyServer.publishing([own]))
      const { url } = yield* KeyServer.serve(KeyServer.publishing([key]))
      yield* Effect.gen(function* () {
        for (const header of [
          { jwk: own.published },
          { jku: elsewhere.url.href },
          { x5u: elsewhere.url.href },
          { x5c: ["AAAA"] },
          { kid: elsewhere.url.href }
        ]) {
          assert.isFalse(yield* isTaken(yield* own.sign(claims(), header)), Object.keys(header).join())
        }
        assert.strictEqual(elsewhere.asked(), 0)
      }).pipe(Effect.provide(JwtIdentity.layer({ keySet: { url } })))
    })
  )

  it.effect("a key for encryption signs nothing", () =>
    Effect.gen(function* () {
      const key = yield* KeyServer.key("one", "RS256")
      const { url } = yield* KeyServer.serve(KeyServer.publishing([{ ...key.published, use: "enc" }]))
      assert.isFalse(
        yield* isTaken(yield* key.sign(claims())).pipe(Effect.provide(JwtIdentity.layer({ keySet: { url } })))
      )
    })
  )

  it.effect("a key that is too short to be safe signs nothing", () =>
    Effect.gen(function* () {
      const tokenOf = (modulusLength: number) =>
        Effect.gen(function* () {
          const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength })
          const { url } = yield* KeyServer.serve(KeyServer.publishing([{ ...exportKey(publicKey), kid: "one" }]))
          const signed = `${part({ alg: "RS256", kid: "one" })}.${part(claims())}`
          const token = `${signed}.${sign("sha256", Buffer.from(signed), privateKey).toString("base64url")}`
          return yield* Effect.provide(isTaken(token), JwtIdentity.layer({ keySet: { url } }))
        })
      assert.isTrue(yield* tokenOf(2_048))
      assert.isFalse(yield* tokenOf(1_024))
    })
  )

  it.effect("a token that names no key is put to all of them", () =>
    Effect.gen(function* () {
      const keys = yield* Effect.forEach(["one", "two", "three"], (id) => KeyServer.key(id))
      const stranger = yield* KeyServer.key("stranger")
      const { url } = yield* KeyServer.serve(KeyServer.publishing(keys))
      yield* Effect.gen(function* () {
        for (const key of keys) assert.isTrue(yield* isTaken(yield* key.sign(claims(), { kid: undefined })), key.id)
        assert.isFalse(yield* isTaken(yield* stranger.sign(claims(), { kid: undefined })))
      }).pipe(Effect.provide(JwtIdentity.layer({ keySet: { url } })))
    })
  )

  it.effect("a secret and published keys can be in force at once", () =>
    Effect.gen(function* () {
      const key = yield* KeyServer.key("one")
      const { url } = yield* KeyServer.serve(KeyServer.publishing([key]))
      yield* Effect.gen(function* () {
        assert.isTrue(yield* isTaken(yield* key.sign(claims())))
        assert.isTrue(yield* isTaken(withSecret({ alg: "HS256" }, claims())))
      }).pipe(Effect.provide(JwtIdentity.layer({ keySet: { url }, secret: Redacted.make(secret) })))
    })
  )
})
