/**
 * How the memory of a DuckDB process is bounded, by platform. DuckDB's own limit does not hold: under 128 MB,
 * `select length(repeat('x', 2000000000))` took 4 GB.
 */
import { readFileSync } from "node:fs"

/**
 * - `operating-system`: the kernel refuses allocations beyond a limit, and a watchdog bounds what is resident
 * - `watchdog`: only the watchdog, which looks every few milliseconds
 */
export type MemoryBound = "operating-system" | "watchdog"

/** The bound that this platform has. */
export const memoryBound: MemoryBound = process.platform === "linux" ? "operating-system" : "watchdog"

/**
 * Address space that Node and the engine map without using it. Node 24 alone maps 570 MB, and the engine's allocator
 * keeps what it has freed. What is resident is bounded by the watchdog, exactly; this is what stops an allocation
 * that would outrun it.
 */
const reserved = 1024 * 1024 * 1024

/** A program with its arguments, under the limits that this platform has. */
export const limited = (
  program: string,
  arguments_: ReadonlyArray<string>,
  memory: number
): { readonly program: string; readonly arguments: ReadonlyArray<string> } => {
  if (memoryBound === "watchdog") return { program, arguments: arguments_ }
  const kilobytes = Math.ceil((memory + reserved) / 1024)
  return {
    program: "/bin/sh",
    arguments: ["-c", `ulimit -c 0; ulimit -d ${kilobytes} && exec "$0" "$@"`, program, ...arguments_]
  }
}

/** Size of a page of memory on Linux where Node runs. `statm` counts in pages. */
const page = 4096

/** Resident memory of a process in bytes; undefined where the platform does not tell, or the process is gone. */
export const residentMemory = (pid: number): number | undefined => {
  if (process.platform !== "linux") return undefined
  try {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, "latin1").split(" ")[1])
    return Number.isFinite(pages) ? pages * page : undefined
  } catch {
    return undefined
  }
}
