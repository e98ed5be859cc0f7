/** Settings that cannot be used are told by the name of their variable, and a secret is never shown. */
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Option, Redacted } from "effect"
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

  it.effect("take a secret and keep it out of sight", () =>
    Effect.gen(function* () {
      const value = "0123456789abcdef0123456789abcdef"
      const found = yield* read({ CASTELLAN_JWT_SECRET: value, PORT: "0" })
      assert.strictEqual(Option.getOrThrow(Option.map(found.secret, Redacted.value)), value)
      assert.notInclude(JSON.stringify(found), value)
    })
  )

  it.effect.each([
    ["PORT", "abc"],
    ["PORT", "70000"],
    ["PORT", "-1"],
    ["PORT", "80.5"],
    ["CASTELLAN_JWT_SECRET", "hunter2"]
  ] as const)("refuse %s=%s by name", ([name, value]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(read({ [name]: value }))
      assert.include(error.message, name)
      if (name === "CASTELLAN_JWT_SECRET") assert.notInclude(error.message, value)
    })
  )
})
