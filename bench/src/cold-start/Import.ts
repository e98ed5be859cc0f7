/**
 * A process that imports one thing and ends.
 */
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { join } from "node:path"
import { BenchmarkFailure } from "../BenchmarkFailure.ts"
import { command } from "../server/Cores.ts"

/** What such a process took. */
export interface ImportCost {
  /** From the moment before its start to its end. */
  readonly milliseconds: number
  /** Milliseconds of processor time of all of its threads. */
  readonly cpu: number
  /** Resident memory when it had imported. */
  readonly residentBytes: number
}

/** Where names are resolved from. */
const folder = join(import.meta.dirname, "../..")

/** Says what it has used up; it is the last thing that the process does. */
const tell = `const { system, user } = process.cpuUsage()
process.stdout.write([(system + user) / 1_000, process.memoryUsage.rss()].join(" "))`

/** Starts a process that imports a module, or nothing, and waits for its end. */
export const importing = (
  specifier: string | undefined,
  core: number | undefined
): Effect.Effect<ImportCost, BenchmarkFailure> =>
  Effect.callback((resume) => {
    const statement = specifier === undefined ? "" : `await import(${JSON.stringify(specifier)})\n`
    const [program, before] = command(process.execPath, core)
    const start = performance.now()
    const child = spawn(program, [...before, "--input-type=module", "--eval", `${statement}${tell}`], {
      cwd: folder,
      stdio: ["ignore", "pipe", "inherit"]
    })
    let said = ""
    child.stdout.on("data", (data: Buffer) => {
      said += data.toString()
    })
    child.on("error", (error) => resume(Effect.fail(new BenchmarkFailure({ message: error.message }))))
    child.on("close", (code) => {
      const milliseconds = performance.now() - start
      const [cpu = Number.NaN, residentBytes = Number.NaN] = said.split(" ").map(Number)
      resume(
        code === 0
          ? Effect.succeed({ milliseconds, cpu, residentBytes })
          : Effect.fail(new BenchmarkFailure({ message: `importing ${specifier} ended with ${code}` }))
      )
    })
    return Effect.sync(() => void child.kill("SIGKILL"))
  })
