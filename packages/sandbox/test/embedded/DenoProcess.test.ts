/** A child process that cannot be heard any more is ended, whatever it goes on with. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { ChildEnded } from "../../src/embedded/internal/ChildEnded.ts"
import { DenoProcess } from "../../src/embedded/internal/DenoProcess.ts"
import { changed } from "./support/ChangedInterpreter.ts"
import { patience } from "./support/Patience.ts"

/** How a program ends that is started in Deno's place, and whose output is read to its end. */
const endOf = Effect.fnUntraced(function* (script: string) {
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "castellan-deno-"))),
    (made) => Effect.promise(() => rm(made, { recursive: true, force: true }))
  )
  const deno = join(folder, "deno")
  yield* Effect.promise(() => writeFile(deno, `#!/bin/sh\n${script}\n`, { mode: 0o755 }))
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => new DenoProcess({ deno, program: "none", readable: [], memory: 2 ** 28, packages: false })),
    (running) => Effect.sync(() => running.kill("killed"))
  )
  child.output.resume()
  return yield* Effect.callback<ChildEnded>((resume) => child.onEnd((ended) => resume(Effect.succeed(ended))))
})

describe.skipIf(process.platform === "win32")("a child process", () => {
  it.live(
    "that ends is told with its exit code, and one that closes its output and goes on is ended",
    () =>
      Effect.gen(function* () {
        const ended = yield* endOf("exit 3")
        assert.deepInclude({ ...ended }, { reason: "ended", exitCode: 3 })
        const mute = yield* endOf("exec >&-; exec /bin/sleep 1000")
        assert.deepInclude({ ...mute }, { reason: "ended", exitCode: 137 })
      }).pipe(Effect.scoped),
    patience
  )

  it.live(
    "of which the thread that runs programs ends without a word ends as well",
    () =>
      Effect.gen(function* () {
        const silent = yield* changed("deno/interpreter.ts", '  tell({ kind: "over", exitCode })\n', "")
        const nonce = "0".repeat(32)
        const order = { op: "execute", id: 1, nonce, within: "session", environment: {}, outputBytes: 65_536 } as const
        const code = new TextEncoder().encode("from pyodide.code import run_js\nrun_js('Deno.exit(5)')")
        const asked = silent.ask(order, code, { id: 1, nonce, take: () => Effect.succeed("more") })
        const { exitCode, reason } = yield* Effect.flip(asked)
        assert.deepStrictEqual({ exitCode, reason }, { exitCode: 70, reason: "ended" })
      }).pipe(Effect.scoped),
    patience
  )
})
