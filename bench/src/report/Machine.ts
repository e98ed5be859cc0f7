/**
 * The machine that a figure was measured on: what tells whether two figures can be compared, and nothing that tells
 * whose machine it is.
 */
import { readFileSync } from "node:fs"
import { cpus, platform, totalmem, type } from "node:os"

/** What a figure depends on. */
export interface Machine {
  readonly processor: string
  readonly cores: number
  readonly memoryBytes: number
  readonly system: string
  /** Node's version, without the `v`. */
  readonly node: string
}

/** The distribution's name for itself, where there is one. */
const distribution = (): string | undefined => {
  if (platform() !== "linux") return undefined
  try {
    return /^PRETTY_NAME="?(.*?)"?$/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1]
  } catch {
    // A Linux without the file has no name to tell.
    return undefined
  }
}

/** This machine. */
export const thisMachine = (): Machine => ({
  processor: cpus()[0]?.model.trim() ?? "unknown processor",
  // All of them, whichever of them this process is held to.
  cores: cpus().length,
  memoryBytes: totalmem(),
  system: distribution() ?? type(),
  node: process.versions.node
})

/** One line about a machine. */
export const describe = (machine: Machine): string => {
  const memory = Math.round(machine.memoryBytes / 1024 ** 3)
  const cores = machine.cores === 1 ? "1 core" : `${machine.cores} cores`
  return `${machine.processor}, ${cores}, ${memory} GiB, ${machine.system}, Node ${machine.node}`
}
