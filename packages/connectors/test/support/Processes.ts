/**
 * The operating system's view of this process's children, on Linux.
 */
import * as Effect from "effect/Effect"
import { readdirSync, readFileSync } from "node:fs"

/** Whether this platform tells about processes; the tests that need it run only there. */
export const visible: boolean = process.platform === "linux"

const read = (path: string): string => {
  try {
    return readFileSync(path, "latin1")
  } catch {
    // The process has ended in the meantime.
    return ""
  }
}

/** The processes of DuckDB that a process has started and that have not ended. */
export const enginesOf = (parent: number): ReadonlyArray<number> =>
  readdirSync("/proc").flatMap((name) => {
    const status = /^\d+$/.test(name) ? read(`/proc/${name}/status`) : ""
    const own = new RegExp(`^PPid:\\s+${parent}$`, "m").test(status) && !/^State:\s+Z/m.test(status)
    return own && /node|duckdb/.test(read(`/proc/${name}/cmdline`)) ? [Number(name)] : []
  })

/** The processes of DuckDB that this process has started and that have not ended. */
export const engines = (): ReadonlyArray<number> => enginesOf(process.pid)

/** A part of what `/proc` tells of a process. */
export const detail = (pid: number, name: string): string => read(`/proc/${pid}/${name}`)

/** Waits until something holds, looking every few milliseconds of real time; dies when it takes too long. */
export const eventually = (holds: () => boolean, within = 20_000): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const started = performance.now()
    const look = (): void => {
      if (holds()) resume(Effect.void)
      else if (performance.now() - started > within) resume(Effect.die(new Error("it never came to hold")))
      else timer = setTimeout(look, 5)
    }
    let timer = setTimeout(look, 0)
    return Effect.sync(() => clearTimeout(timer))
  })
