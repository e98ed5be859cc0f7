/**
 * The self-test finds out what it is there to find out: a process that keeps a permission, storage that works.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as SelfTest from "../../src/embedded/internal/SelfTest.ts"
import { changed, readable } from "./support/ChangedInterpreter.ts"
import { patience } from "./support/Patience.ts"

describe("the self-test", () => {
  it.live(
    "passes where nothing is changed, and finds a permission that was kept",
    () =>
      Effect.gen(function* () {
        yield* SelfTest.run(yield* changed("deno/kernel.ts", "Deno.exit(0)", "Deno.exit(0)"), readable)
        const open = yield* changed(
          "internal/deno/Runtime.ts",
          "for (const name of everyPermission)",
          "for (const name of [])"
        )
        const error = yield* Effect.flip(SelfTest.run(open, readable))
        assert.strictEqual(error._tag, "EmbeddedUnavailable")
        assert.match(error.message, /read its own files/)
      }).pipe(Effect.scoped),
    patience
  )

  it.live(
    "says so where it does not run",
    () =>
      Effect.gen(function* () {
        const mute = yield* changed(
          "deno/interpreter.ts",
          "const shown = bytes.subarray(0, this.#left)",
          "const shown = nothing"
        )
        const error = yield* Effect.flip(SelfTest.run(mute, readable))
        assert.match(error.message, /the self-test did not run/)
      }).pipe(Effect.scoped),
    patience
  )
})
