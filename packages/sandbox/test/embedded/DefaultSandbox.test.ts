import { choose, layer, SandboxChoice } from "@castellan/sandbox/DefaultSandbox"
import { EmbeddedUnavailable } from "@castellan/sandbox/embedded/EmbeddedUnavailable"
import { LinuxUnavailable } from "@castellan/sandbox/linux/LinuxUnavailable"
import { layerUnavailable, SandboxRuntime } from "@castellan/core/sandcastle/SandboxRuntime"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { SandboxTier } from "../../src/session/SandboxProcess.ts"
import { lost } from "../../src/session/SessionFailure.ts"
import { opened } from "./support/Sessions.ts"

const tierOf = Effect.gen(function* () {
  const { capabilities } = yield* SandboxRuntime
  const tier: SandboxTier = { capabilities, launch: () => Effect.fail(lost) }
  return tier
}).pipe(Effect.provide(layerUnavailable))

const noLinux = new LinuxUnavailable({ promise: "bubblewrap", message: "no bubblewrap", remedy: "apt-get install it" })
const noEmbedded = new EmbeddedUnavailable({ promise: "deno", message: "no deno", remedy: "" })

describe("the choice of sandboxes", () => {
  it.effect("is the strongest that starts, with the reason", () =>
    Effect.gen(function* () {
      const works = yield* tierOf
      const ok = Effect.succeed(works)
      let asked = false
      const never = Effect.sync(() => {
        asked = true
        return works
      })
      assert.deepStrictEqual(yield* choose("auto", { linux: ok, embedded: never }), {
        choice: { tier: "linux", reason: "its self-test passed" },
        tier: works
      })
      assert.isFalse(asked)
      assert.deepStrictEqual(yield* choose("auto", { linux: Effect.fail(noLinux), embedded: ok }), {
        choice: {
          tier: "embedded",
          reason: "the Linux tier does not start: no bubblewrap (to mend it: apt-get install it)"
        },
        tier: works
      })
      const none = yield* choose("auto", { linux: Effect.fail(noLinux), embedded: Effect.fail(noEmbedded) })
      assert.isUndefined(none.tier)
      assert.strictEqual(none.choice.tier, "none")
      assert.match(none.choice.reason, /no bubblewrap.*the embedded tier does not start: no deno$/)
    })
  )

  it.effect("of a host that has chosen is that one or an error, and nothing weaker", () =>
    Effect.gen(function* () {
      const ok = Effect.succeed(yield* tierOf)
      const tiers = { linux: Effect.fail(noLinux), embedded: ok }
      assert.strictEqual(yield* Effect.flip(choose("linux", tiers)), noLinux)
      assert.strictEqual((yield* choose("embedded", tiers)).choice.tier, "embedded")
      const failing = { linux: ok, embedded: Effect.fail(noEmbedded) }
      assert.strictEqual(yield* Effect.flip(choose("embedded", failing)), noEmbedded)
      assert.isUndefined((yield* choose("none", tiers)).tier)
    })
  )

  it.effect("of none opens nothing, and says so", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* SandboxChoice, { tier: "none", reason: "the host wants none" })
      const error = yield* Effect.flip(Effect.scoped(opened()))
      assert.strictEqual(error.reason, "unavailable")
    }).pipe(Effect.provide(layer({ choice: "none" })))
  )
})
