/**
 * The self-test finds out what it is there to find out: a process that keeps a permission, storage that works.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { boundsOf } from "../../src/embedded/EmbeddedOptions.ts"
import * as Children from "../../src/embedded/internal/Children.ts"
import * as Installation from "../../src/embedded/internal/Installation.ts"
import * as PackageSet from "../../src/embedded/internal/PackageSet.ts"
import * as SelfTest from "../../src/embedded/internal/SelfTest.ts"
import { patience } from "./support/Patience.ts"

const readable = createRequire(import.meta.url).resolve("pyodide/pyodide.mjs")

const sources = fileURLToPath(new URL("../../src/embedded", import.meta.url))

/** An interpreter whose program is changed in one place. */
const changed = Effect.fnUntraced(function* (path: string, from: string, to: string) {
  const installation = yield* Installation.locate
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "castellan-changed-"))),
    (made) => Effect.promise(() => rm(made, { recursive: true, force: true }))
  )
  yield* Effect.promise(async () => {
    await cp(join(sources, "deno"), join(folder, "deno"), { recursive: true })
    await cp(join(sources, "internal/deno"), join(folder, "internal/deno"), { recursive: true })
    const text = await readFile(join(folder, path), "utf8")
    assert.include(text, from)
    await writeFile(join(folder, path), text.replaceAll(from, to))
  })
  return yield* Children.interpreter({
    installation: { ...installation, programs: folder, kernelProgram: join(folder, "deno/kernel.ts") },
    bounds: boundsOf({}),
    packages: PackageSet.none
  })
})

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
