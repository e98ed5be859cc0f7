/**
 * How much memory a process has in use, on every system that the embedded tier runs on.
 */
import { execFile } from "node:child_process"
import { readFile } from "node:fs/promises"

const run = (program: string, ...given: ReadonlyArray<string>): Promise<string> =>
  new Promise((resolve) => {
    execFile(program, [...given], { timeout: 5_000, windowsHide: true }, (error, stdout) =>
      resolve(error === null ? stdout : "")
    )
  })

const kilobytes = (digits: string | undefined): number | undefined =>
  digits === undefined || digits === "" ? undefined : Number(digits.replaceAll(/\D/g, "")) * 1024

/** How often it can be asked, in milliseconds: where another program has to be asked, it costs more. */
export const askEvery: number = process.platform === "linux" ? 100 : 500

/** Resident memory of a process in bytes; undefined where it is gone, or the system does not tell. */
export const residentMemory = async (pid: number): Promise<number | undefined> => {
  if (process.platform === "linux") {
    const status = await readFile(`/proc/${pid}/status`, "latin1").catch(() => "")
    return kilobytes(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1])
  }
  if (process.platform === "win32") {
    const table = await run("tasklist", "/FI", `PID eq ${pid}`, "/FO", "CSV", "/NH")
    return kilobytes(/"([^"]*)"\s*$/.exec(table)?.[1])
  }
  return kilobytes((await run("/bin/ps", "-o", "rss=", "-p", String(pid))).trim())
}
