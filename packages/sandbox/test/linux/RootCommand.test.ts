/** The command that builds a root, as an operator runs it. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { missing, sayWhatIsSkipped } from "../support/Linux.ts"

sayWhatIsSkipped("the command that builds roots")

const program = fileURLToPath(new URL("../../src/linux/root.ts", import.meta.url))

/** Milliseconds that only what hangs takes. */
const patience = 240_000

const ran = (...given: ReadonlyArray<string>) =>
  Effect.promise(
    () =>
      new Promise<{ readonly code: number; readonly said: string; readonly complained: string }>((resolve) => {
        execFile(process.execPath, [program, ...given], (error, said, complained) => {
          resolve({ code: typeof error?.code === "number" ? error.code : 0, said, complained })
        })
      })
  )

const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "castellan-root-command-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

describe("castellan-sandbox-root", () => {
  it.effect(
    "says how it is used, and what is wrong, in a sentence",
    () =>
      Effect.gen(function* () {
        const path = yield* folder
        for (const given of [
          [],
          ["--nothing"],
          ["--folder", join(path, "root"), "--environment", path, "python3-numpy"],
          ["--folder", join(path, "root"), "--environment", join(path, "none")],
          ["--folder", join(path, "root"), "castellan-has-no-such-package"]
        ]) {
          const { code, complained, said } = yield* ran(...given)
          assert.strictEqual(code, 1, complained)
          assert.strictEqual(said, "")
          assert.isAbove(complained.length, 0)
          assert.notInclude(complained, "    at ", "a stack")
          assert.isFalse(existsSync(join(path, "root")))
        }
      }),
    patience
  )

  it.effect.skipIf(missing !== undefined || !existsSync("/var/lib/dpkg/status"))(
    "builds a root of a package and says what it holds",
    () =>
      Effect.gen(function* () {
        const root = join(yield* folder, "root")
        const { code, complained, said } = yield* ran("--folder", root, "python3")
        assert.strictEqual(code, 0, complained)
        assert.match(said, /files, \d+ MiB, Python at \//u)
        assert.isTrue(existsSync(join(root, "usr/bin")))
      }),
    patience
  )
})
