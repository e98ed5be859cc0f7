/**
 * A process of the machine's Python that is spoken to in lines.
 */
import { Effect, Queue, type Scope } from "effect"
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { BenchmarkFailure } from "../BenchmarkFailure.ts"

/** The interpreter of the distribution, which is what the Linux tier runs as well. */
export const python = "/usr/bin/python3"

/** Whether this machine has it. */
export const isAvailable = process.platform === "linux" && existsSync(python)

/** A program of this folder. */
export const programOf = (name: string): string => fileURLToPath(new URL(`./${name}`, import.meta.url))

/** How long anything may take that is not there at once. */
const patience = "3 minutes"

/** A running process. */
export interface PythonProcess {
  readonly send: (line: string) => Effect.Effect<void>
  /** The next line that it says. Fails once it has ended, or where it says nothing for minutes. */
  readonly next: Effect.Effect<string, BenchmarkFailure>
  readonly signal: (name: NodeJS.Signals) => Effect.Effect<void>
}

/** Starts one; it ends with its scope, when its input does. */
export const start: (args: ReadonlyArray<string>) => Effect.Effect<PythonProcess, BenchmarkFailure, Scope.Scope> =
  Effect.fnUntraced(function* (args) {
    const lines = yield* Queue.unbounded<string, BenchmarkFailure>()
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(python, [...args], {
          // The last one keeps a debugger of kernels, which nobody uses, from complaining.
          env: { ...process.env, OPENBLAS_NUM_THREADS: "1", MPLBACKEND: "agg", PYDEVD_DISABLE_FILE_VALIDATION: "1" },
          stdio: ["pipe", "pipe", "inherit"]
        })
      ),
      (running) =>
        Effect.callback<void>((resume) => {
          if (running.exitCode !== null || running.signalCode !== null) return resume(Effect.void)
          running.once("exit", () => resume(Effect.void))
          running.stdin.end()
        })
    )
    const end = (): void =>
      void Effect.runSync(Queue.fail(lines, new BenchmarkFailure({ message: `${args.join(" ")} has ended` })))
    child.stdin.on("error", () => undefined)
    child.once("error", end).once("exit", end)
    createInterface({ input: child.stdout }).on("line", (line) => Queue.offerUnsafe(lines, line))
    return {
      send: (line) => Effect.sync(() => void child.stdin.write(`${line}\n`)),
      next: Queue.take(lines).pipe(
        Effect.timeoutOrElse({
          duration: patience,
          orElse: () => Effect.fail(new BenchmarkFailure({ message: `${args.join(" ")} said nothing in ${patience}` }))
        })
      ),
      signal: (name) => Effect.sync(() => void child.kill(name))
    }
  })
