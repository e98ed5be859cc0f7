/**
 * A tier without any isolation, for tests of the engine alone: the supervisor as a plain process of the machine's
 * Python, in a temporary folder.
 */
import { type SandboxCapabilities, SandboxError } from "@castellan/core/sandcastle/SandboxRuntime"
import type { SandboxProcess, SandboxTier } from "@castellan/sandbox/session/SandboxProcess"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/** The interpreter of the distribution, which has the distribution's numpy and pandas. */
export const python = "/usr/bin/python3"

/** Whether this machine has what the tier needs. */
export const isAvailable = process.platform === "linux" && existsSync(python)

/** The folder of the Python sources. */
export const sources = fileURLToPath(new URL("../../python", import.meta.url))

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

/** What a test knows of a session beside the port. */
export interface PlainProcess {
  readonly pid: number
  /** The folder that is `/sandbox/files` elsewhere. */
  readonly root: string
}

/** Starts one supervisor over a folder. */
const start = (
  root: string,
  nonce: string,
  started: (process: PlainProcess) => void
): Effect.Effect<SandboxProcess, SandboxError, Scope.Scope> =>
  Effect.gen(function* () {
    const output = yield* Queue.unbounded<Uint8Array, SandboxError>()
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(python, ["-I", join(sources, "castellan_supervisor.py"), root], {
          env: { PATH: "/usr/bin:/bin", HOME: root, LANG: "C.UTF-8", OPENBLAS_NUM_THREADS: "1", MPLCONFIGDIR: root },
          stdio: ["pipe", "pipe", "inherit"]
        })
      ),
      (running) =>
        Effect.callback<void>((resume) => {
          if (running.exitCode !== null || running.signalCode !== null) return resume(Effect.void)
          running.once("exit", () => resume(Effect.void))
          // The supervisor ends, with all that it started, when its input does.
          running.stdin.destroy()
        })
    )
    child.stdin.on("error", () => {})
    child.stdout.on("data", (chunk: Buffer) => Queue.offerUnsafe(output, chunk))
    child.once("exit", () => Effect.runSync(Queue.fail(output, lost)))
    child.stdin.write(`${nonce}\n`)
    if (child.pid === undefined) return yield* lost
    started({ pid: child.pid, root })
    return {
      send: (bytes) =>
        Effect.callback<void, SandboxError>((resume) => {
          child.stdin.write(bytes, (error) => resume(error ? Effect.fail(lost) : Effect.void))
        }),
      output: Stream.fromQueue(output),
      replaceInterpreter: Effect.fail(lost),
      memoryBytes: Effect.succeed(undefined)
    } satisfies SandboxProcess
  })

/** The tier; `started` is told of each process. */
export const tier = (started: (process: PlainProcess) => void = () => {}): SandboxTier => ({
  capabilities,
  launch: (_spec, nonce) =>
    Effect.gen(function* () {
      const root = yield* Effect.acquireRelease(
        Effect.promise(() => mkdtemp(join(tmpdir(), "castellan-plain-"))),
        (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
      )
      return yield* start(root, nonce, started)
    })
})
