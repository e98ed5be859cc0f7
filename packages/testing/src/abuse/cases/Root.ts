/** A host that is root: 50. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { SandboxRuntime } from "@castellan/core/sandcastle/SandboxRuntime"
import { chmodSync, existsSync } from "node:fs"
import { type AbuseCase, alive, attempts, closed, daring, opened, realSystem, run, survives } from "../Abuse.ts"
import { descendants, stillRuns, usersOf } from "../HostWatch.ts"
import { forks } from "./Memory.ts"

const staying = 'import subprocess\nfor _ in range(3): subprocess.Popen(["sleep", "1000"])'

/** The cases. */
export const cases: ReadonlyArray<AbuseCase> = [
  {
    number: 50,
    title: "a host that is root has nothing of that in its sessions: no process, no file, no limit that root is above",
    run: Effect.fnUntraced(function* (host) {
      chmodSync(host.secretPath, 0o600)
      const { capabilities } = yield* SandboxRuntime
      if (realSystem(capabilities) === undefined) {
        const before = descendants()
        const session = yield* opened
        yield* run(session, staying)
        const own = descendants().filter(({ id }) => !before.some((one) => one.id === id))
        assert.isAtLeast(own.filter(stillRuns).length, process.platform === "linux" ? 4 : 0)
        for (const entry of own) assert.notInclude(usersOf(entry), 0, `process ${entry.id} of the session is root's`)
        const after = yield* attempts(session, {
          "to be root": 'import os\nif os.getuid() != 0: raise PermissionError("it is not")',
          "to become root": "import os\nos.setuid(0)",
          "a file that is root's alone": `open(${JSON.stringify(host.secretPath)}).read()`
        })
        // A limit of processes is none for root.
        assert.include((yield* run(after, forks)).stdout, "bounded")
        yield* survives(after)
        return
      }
      let session = yield* opened
      const [secretPath, marker] = [JSON.stringify(host.secretPath), JSON.stringify(host.markerPath)]
      for (const code of [
        `Deno.readTextFileSync(${secretPath}); "OPEN a file that is root's alone"`,
        'Deno.readTextFileSync("/etc/shadow"); "OPEN the passwords"',
        `Deno.chownSync(${secretPath}, 65534, 65534); "OPEN another owner"`,
        `Deno.chmodSync(${secretPath}, 0o666); "OPEN another mode"`,
        `Deno.writeTextFileSync(${marker}, ""); "OPEN a file of its own"`,
        'Deno.listen({ hostname: "127.0.0.1", port: 1 }); "OPEN a port of root\'s"',
        'Deno.kill(1, "SIGURG"); "OPEN a signal to the first process"',
        'process.getBuiltinModule("node:os").setPriority(-5); "OPEN a higher priority"'
      ]) {
        const program = `from pyodide.code import run_js\ntry: print(run_js(${JSON.stringify(code)}))\nexcept Exception as error: print("closed", error)`
        const outcome = yield* daring(session, program)
        closed(outcome)
        if ("lost" in outcome) session = yield* opened
        else assert.include(outcome.stdout, "closed", outcome.everything)
      }
      assert.isFalse(existsSync(host.markerPath))
      yield* alive(session)
    })
  }
]
