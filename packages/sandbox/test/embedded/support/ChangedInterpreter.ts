/**
 * An interpreter whose program is changed in one place: for tests of what becomes of it.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { boundsOf } from "../../../src/embedded/EmbeddedOptions.ts"
import * as Children from "../../../src/embedded/internal/Children.ts"
import * as Installation from "../../../src/embedded/internal/Installation.ts"
import * as PackageSet from "../../../src/embedded/internal/PackageSet.ts"

/** A file that interpreters are made of. */
export const readable = createRequire(import.meta.url).resolve("pyodide/pyodide.mjs")

const sources = fileURLToPath(new URL("../../../src/embedded", import.meta.url))

/** Starts one: of the file at `path`, `from`, which must be there, becomes `to`. */
export const changed = Effect.fnUntraced(function* (path: string, from: string, to: string) {
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
