/**
 * Which processor core does what. The server has one core to itself and the load comes from another, so that a server
 * is measured and not a race for cores. Where that cannot be had, everything runs wherever the system puts it.
 */
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"

/** The core of the servers, and the core of the load. */
export interface Cores {
  readonly server: number
  readonly load: number
}

/** The numbers in a list such as `0-3,8`, as the kernel writes it. */
export const coresOf = (list: string): ReadonlyArray<number> =>
  list.split(",").flatMap((part) => {
    const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? []
    if (first === undefined || last === undefined) return []
    const from = Number(first)
    return Array.from({ length: Number(last) - from + 1 }, (_, index) => from + index)
  })

const allowed = (): ReadonlyArray<number> => {
  try {
    const status = readFileSync("/proc/self/status", "utf8")
    return coresOf(/^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1] ?? "")
  } catch {
    // Only Linux tells it here.
    return []
  }
}

/** Two cores of this process, where it has two and `taskset` can hold processes to them. */
export const divide = (): Cores | undefined => {
  const [server, load] = allowed()
  if (server === undefined || load === undefined) return undefined
  return spawnSync("taskset", ["--version"]).status === 0 ? { server, load } : undefined
}

/** Holds this process, with all of its threads, to some cores. */
export const hold = (...cores: ReadonlyArray<number>): void => {
  const list = cores.join(",")
  const { status, stderr } = spawnSync("taskset", ["--all-tasks", "--cpu-list", "--pid", list, `${process.pid}`], {
    encoding: "utf8"
  })
  if (status !== 0) throw new Error(`cannot hold this process to core ${list}: ${stderr}`)
}

/** How a program is started on a core, or anywhere. */
export const command = (program: string, core: number | undefined): readonly [string, ReadonlyArray<string>] =>
  core === undefined ? [program, []] : ["taskset", ["--cpu-list", `${core}`, program]]
