/**
 * When a process was started, in the kernel's ticks since the machine was: with its number, it names a process that has
 * no namesake.
 */
import { readFile } from "node:fs/promises"

/** The start of a process; undefined where there is none of that number. */
export const processStart = async (pid: number): Promise<string | undefined> => {
  try {
    const text = await readFile(`/proc/${pid}/stat`, "utf8")
    // The command, in parentheses, may hold anything; what follows the last one is fields.
    return text.slice(text.lastIndexOf(")") + 2).split(" ")[19]
  } catch {
    return undefined
  }
}
