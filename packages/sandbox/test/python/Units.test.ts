/**
 * Runs the unit tests of the Python sources by the machine's own Python.
 */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as PlainPython from "../support/PlainPython.ts"

const here = fileURLToPath(new URL(".", import.meta.url))

describe.skipIf(!PlainPython.isAvailable)("the Python side", () => {
  for (const [name, least] of [
    ["test_arrow", 15],
    ["test_cells", 24],
    ["test_session", 15]
  ] as const) {
    it(`${name} passes`, () => {
      const run = spawnSync(PlainPython.python, ["-B", "-W", "error::ResourceWarning", "-m", "unittest", name], {
        cwd: here,
        encoding: "utf8",
        env: { PATH: "/usr/bin:/bin", PYTHONPATH: PlainPython.sources, OPENBLAS_NUM_THREADS: "1" }
      })
      assert.strictEqual(run.status, 0, run.stderr)
      const ran = Number(/^Ran (\d+) tests?/mu.exec(run.stderr)?.[1])
      assert.isAtLeast(ran, least)
    }, 300_000)
  }
})
