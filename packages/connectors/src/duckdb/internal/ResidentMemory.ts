/**
 * How much memory a process has in use.
 */
import { readFileSync } from "node:fs"

/** Resident memory of a process in bytes; undefined where the platform does not tell, or the process is gone. */
export const residentMemory = (pid: number): number | undefined => {
  if (process.platform !== "linux") return undefined
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1]
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024
  } catch {
    return undefined
  }
}
