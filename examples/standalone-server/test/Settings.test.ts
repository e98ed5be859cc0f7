/** Settings that cannot be used are told by the name of their variable, and a secret is never shown. */
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Option, Redacted } from "effect"
import * as Failure from "../src/Failure.ts"
import { settings } from "../src/Settings.ts"

const read = (environment: Record<string, string>) =>
  settings.pipe(Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord(environment))))

describe("settings", () => {
  it.effect("have defaults", () =>
    Effect.gen(function* () {
      const found = yield* read({})
      assert.deepInclude(found, { host: "127.0.0.1", port: 3000, dataDirectory: ".castellan" })
      assert.isTrue(Option.isNone(found.files))
    })
  )

  it.effect("take an empty variable for one that is not set", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* read({ HOST: "", CASTELLAN_FILES: "" })).host, "127.0.0.1")
    })
  )

  it.effect("refuse the owner's login alone, with which the data folder would be used", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(read({ CASTELLAN_DATABASE_OWNER_URL: "postgres://owner:hunter2@127.0.0.1/x" }))
      assert.strictEqual(Failure.told(error), "CASTELLAN_DATABASE_URL: must be set as well")
    })
  )

  it.effect("choose what runs programs, and refuse what is no choice and no size", () =>
    Effect.gen(function* () {
      const { sandbox } = yield* read({})
      assert.strictEqual(sandbox.kind, "auto")
      const { memory, packages, root, timeout } = sandbox
      assert.isTrue([root, packages, memory, timeout].every((given) => Option.isNone<unknown>(given)))
      const given = yield* read({
        CASTELLAN_SANDBOX: "linux",
        CASTELLAN_SANDBOX_ROOT: "/srv/python",
        CASTELLAN_SANDBOX_MEMORY: "512",
        CASTELLAN_SANDBOX_TIMEOUT: "30"
      })
      assert.deepStrictEqual(given.sandbox, {
        kind: "linux",
        root: Option.some("/srv/python"),
        packages: Option.none(),
        memory: Option.some(512 * 1024 * 1024),
        timeout: Option.some(30)
      })
      for (const [name, value] of [
        ["CASTELLAN_SANDBOX", "docker"],
        ["CASTELLAN_SANDBOX_MEMORY", "64"],
        ["CASTELLAN_SANDBOX_MEMORY", "a lot"],
        ["CASTELLAN_SANDBOX_TIMEOUT", "0"]
      ] as const) {
        const error = yield* Effect.flip(read({ [name]: value }))
        assert.match(Failure.told(error), new RegExp(`^${name}: `), value)
      }
    })
  )

  it.effect("let no page of another origin in and believe no proxy, unless told to", () =>
    Effect.gen(function* () {
      assert.deepInclude(yield* read({}), { corsOrigins: [], trustedProxies: 0 })
      const given = yield* read({
        CASTELLAN_CORS_ORIGINS: "https://app.example.com, http://localhost:5173",
        CASTELLAN_TRUSTED_PROXIES: "2"
      })
      assert.deepStrictEqual(given.corsOrigins, ["https://app.example.com", "http://localhost:5173"])
      assert.strictEqual(given.trustedProxies, 2)
      for (const [name, value] of [
        ["CASTELLAN_CORS_ORIGINS", "*"],
        ["CASTELLAN_CORS_ORIGINS", "null"],
        ["CASTELLAN_CORS_ORIGINS", "app.example.com"],
        ["CASTELLAN_CORS_ORIGINS", "https://app.example.com/"],
        ["CASTELLAN_CORS_ORIGINS", "https://app.example.com,"],
        ["CASTELLAN_CORS_ORIGINS", "file:///srv/app"],
        ["CASTELLAN_TRUSTED_PROXIES", "-1"],
        ["CASTELLAN_TRUSTED_PROXIES", "1.5"],
        ["CASTELLAN_TRUSTED_PROXIES", "true"]
      ] as const) {
        const error = yield* Effect.flip(read({ [name]: value }))
        assert.match(Failure.told(error), new RegExp(`^${name}`), value)
      }
    })
  )

  it.effect("take a secret and keep it out of sight", () =>
    Effect.gen(function* () {
      const value = "0123456789abcdef0123456789abcdef"
      const found = yield* read({ CASTELLAN_SECRET: value, CASTELLAN_JWT_SECRET: value, PORT: "0" })
      assert.strictEqual(Option.getOrThrow(Option.map(found.secret, Redacted.value)), value)
      assert.notInclude(JSON.stringify(found), value)
    })
  )

  it.effect("take an identity provider by a secret, by the address of its keys, or by neither", () =>
    Effect.gen(function* () {
      const providerOf = (environment: Record<string, string>) =>
        Effect.map(read(environment), ({ identityProvider }) => Option.getOrUndefined(identityProvider))
      const CASTELLAN_JWT_SECRET = "0123456789abcdef0123456789abcdef"
      const CASTELLAN_JWKS_URL = "https://id.example/keys"
      const claims = { CASTELLAN_JWT_ISSUER: "https://id.example/", CASTELLAN_JWT_AUDIENCE: "acme" }
      const named = { issuer: "https://id.example/", audience: "acme" }
      const secret = Redacted.make(CASTELLAN_JWT_SECRET)
      const keySet = { url: new URL(CASTELLAN_JWKS_URL) }
      assert.isUndefined(yield* providerOf({}))
      assert.isUndefined(yield* providerOf({ CASTELLAN_JWT_SECRET: "", CASTELLAN_JWKS_URL: "" }))
      assert.deepStrictEqual(yield* providerOf({ CASTELLAN_JWT_SECRET }), { secret })
      assert.deepStrictEqual(yield* providerOf({ CASTELLAN_JWKS_URL, ...claims }), { ...named, keySet })
      assert.deepStrictEqual(yield* providerOf({ CASTELLAN_JWT_SECRET, CASTELLAN_JWKS_URL }), { secret, keySet })
      const local = yield* providerOf({ CASTELLAN_JWKS_URL: "http://127.0.0.1:8080/keys" })
      assert.strictEqual(local?.keySet?.url.port, "8080")
    })
  )

  it.effect.each([
    ["PORT", "abc"],
    ["PORT", "70000"],
    ["PORT", "-1"],
    ["PORT", "80.5"],
    ["CASTELLAN_SECRET", "hunter2"],
    ["CASTELLAN_JWT_SECRET", "hunter2"],
    ["CASTELLAN_JWKS_URL", "id.example"],
    ["CASTELLAN_JWKS_URL", "http://id.example/keys"],
    ["CASTELLAN_JWKS_URL", "file:///etc/keys"],
    ["CASTELLAN_DATABASE_URL", "nonsense"],
    ["CASTELLAN_DATABASE_URL", "mysql://castellan:hunter2@127.0.0.1/castellan"],
    ["CASTELLAN_DATABASE_OWNER_URL", "postgres://castellan:hunter2@[/castellan"]
  ] as const)("refuse %s=%s by name", ([name, value]) =>
    Effect.gen(function* () {
      const said = Failure.told(yield* Effect.flip(read({ [name]: value })))
      assert.match(said, new RegExp(`^${name}: .+$`))
      if (!name.includes("JWKS")) assert.notInclude(said, value)
      assert.notInclude(said, "hunter2")
    })
  )
})
