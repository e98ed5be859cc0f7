/**
 * What the processes that this one started have resident, each page divided among those that share it (PSS).
 */
import { readdirSync, readFileSync } from "node:fs"

/** The parents of all processes. */
const parents = (): ReadonlyMap<number, number> => {
  const found = new Map<number, number>()
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue
    try {
      // What stands in parentheses is the program's name, which may have any character.
      const [, rest = ""] = /^.*\) (.*)$/s.exec(readFileSync(`/proc/${name}/stat`, "utf8")) ?? []
      found.set(Number(name), Number(rest.split(" ")[1]))
    } catch {
      // It has ended since.
    }
  }
  return found
}

const kibibytesOf = (pid: number): number | undefined => {
  try {
    const [, kibibytes] = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8")) ?? []
    return kibibytes === undefined ? undefined : Number(kibibytes)
  } catch {
    return undefined
  }
}

/** MiB of all processes below this one; nothing where there is none that can be asked. */
export const below = (): number | undefined => {
  const all = parents()
  const isBelow = (pid: number): boolean => {
    for (let at = all.get(pid); at !== undefined && at > 0; at = all.get(at)) if (at === process.pid) return true
    return false
  }
  let sum: number | undefined
  for (const pid of all.keys()) {
    if (!isBelow(pid)) continue
    const kibibytes = kibibytesOf(pid)
    if (kibibytes !== undefined) sum = (sum ?? 0) + kibibytes / 1024
  }
  return sum
}
