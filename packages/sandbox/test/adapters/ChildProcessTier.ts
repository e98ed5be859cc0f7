/**
 * The example of `docs/sandbox-adapters.md`: a tier over plain child processes. It isolates nothing: code that runs in
 * it can do whatever this process can. Replace the command by one that does isolate.
 */
// #region tier
import { SandboxError, type SandboxCapabilities } from "@castellan/core/sandcastle/SandboxRuntime"
import type { SandboxProcess, SandboxTier } from "@castellan/sandbox/session/SandboxProcess"
import * as SupervisorProgram from "@castellan/sandbox/session/SupervisorProgram"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { spawn } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Claim only what holds: a caller that requires more is refused, and one that trusts a false claim is not warned. */
const capabilities: SandboxCapabilities = {
  isolation: "none",
  statefulPython: true,
  realBash: true,
  packages: [],
  gentleInterrupt: true,
  persistent: false,
  limits: { cpu: "none", memory: "none", processes: "none", disk: "none", network: "none", time: "watchdog" }
}

const lost = new SandboxError({ reason: "lost", message: "the process is gone" })

/** One supervisor over a folder; it ends, with all that it started, when its input does. */
const start = Effect.fnUntraced(function* (
  python: string,
  root: string,
  nonce: string
): Effect.fn.Return<SandboxProcess, SandboxError, Scope.Scope> {
  const session = yield* Effect.scope
  const own = yield* Scope.fork(session)
  const child = yield* Scope.provide(
    Effect.acquireRelease(
      // What the process inherits, the code in it can read: nothing of this one's environment.
      Effect.sync(() =>
        spawn(python, ["-I", SupervisorProgram.program, root], { env: { PATH: "/usr/bin:/bin", HOME: root } })
      ),
      (running) =>
        Effect.callback<void>((resume) => {
          if (running.exitCode !== null || running.signalCode !== null) return resume(Effect.void)
          running.once("exit", () => resume(Effect.void))
          running.stdin.destroy()
        })
    ),
    own
  )
  child.on("error", () => undefined)
  child.stdin.on("error", () => undefined)
  child.stdin.write(`${nonce}\n`)
  return {
    send: (bytes) =>
      Effect.callback((resume) => {
        child.stdin.write(bytes, (error) => resume(error ? Effect.fail(lost) : Effect.void))
      }),
    // Read as it is pulled: a pipe that nobody reads holds its writer back.
    output: Stream.fromAsyncIterable<Uint8Array, SandboxError>(child.stdout, () => lost),
    replaceInterpreter: Effect.andThen(Scope.close(own, Exit.void), Scope.provide(start(python, root, nonce), session)),
    memoryBytes: Effect.succeed(undefined)
  }
})

/** The tier: each session has a folder and a supervisor, and both are gone with its scope. */
export const tier = (python: string): SandboxTier => ({
  capabilities,
  launch: (_spec, nonce) =>
    Effect.acquireRelease(
      Effect.promise(() => mkdtemp(join(tmpdir(), "castellan-example-"))),
      (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
    ).pipe(Effect.flatMap((root) => start(python, root, nonce)))
})
// #endregion
