/**
 * The operating system's walls around a DuckDB process, as far as the platform has them.
 *
 * The engine's own are not enough: under a memory limit of 128 MB, `select length(repeat('x', 2000000000))` took 4 GB,
 * and `COPY … TO` a file that may be read overwrites it. So on Linux the kernel refuses allocations beyond a limit,
 * and, where unprivileged user namespaces are allowed, the process has no network, no capabilities, and sees the
 * connector's folder mounted read-only. Whatever else a platform lacks, a watchdog bounds the memory, and the gate
 * lets no statement through that writes.
 */
import { execFile } from "node:child_process"

/** What holds a process, and what holds it: the kernel, or only this package. */
export interface Enclosure {
  /** `operating-system`: allocations beyond the limit fail. `watchdog`: the process is killed soon after. */
  readonly memory: "operating-system" | "watchdog"
  /** `operating-system`: mounted read-only. `engine`: the engine is not given any other way to write. */
  readonly folder: "operating-system" | "engine"
  /** `operating-system`: there is no network. `engine`: the engine may not use it. */
  readonly network: "operating-system" | "engine"
}

/** A program with its arguments. */
export interface Command {
  readonly program: string
  readonly arguments: ReadonlyArray<string>
}

/** What a process is enclosed for. */
export interface Occupant {
  /** Absolute path of the connector's folder. */
  readonly folder: string
  /** Resident memory in bytes. */
  readonly memory: number
  /** Whether to use namespaces; `canSeal` tells whether they work. */
  readonly sealed: boolean
}

const linux = process.platform === "linux"

/**
 * Address space that Node and the engine map without using it. Node 24 alone maps 570 MB, and the engine's allocator
 * keeps what it has freed. What is resident is bounded by the watchdog, exactly; this is what stops an allocation
 * that would outrun it.
 */
const reserved = 1024 * 1024 * 1024

/**
 * Where memory runs out, this process goes before any other; it leaves no core file; it has no environment.
 * `$1` is the limit in kilobytes.
 */
const limits = `{ echo 1000 > /proc/self/oom_score_adj; } 2> /dev/null
ulimit -c 0
ulimit -d "$1" || exit 70
shift
exec env -i "$@"`

/**
 * `$0` is the folder. A mount that is already restricted may only be mounted again with the same restrictions, hence
 * the second attempt. The capabilities that mounting took are gone before the program starts.
 */
const seal = `mount --bind "$0" "$0" || exit 71
mount -o remount,bind,ro "$0" || mount -o remount,bind,ro,nosuid,nodev,noexec "$0" || exit 71
exec setpriv --no-new-privs --bounding-set=-all --inh-caps=-all env -i "$@"`

/** The command that runs a program enclosed. */
export const enclose = (command: Command, { folder, memory, sealed }: Occupant): Command => {
  if (!linux) return command
  const kilobytes = String(Math.ceil((memory + reserved) / 1024))
  const inner = [command.program, ...command.arguments]
  const namespaces = ["unshare", "--user", "--map-root-user", "--mount", "--net", "/bin/sh", "-c", seal, folder]
  return {
    program: "/bin/sh",
    arguments: ["-c", limits, "sh", kilobytes, ...(sealed ? [...namespaces, ...inner] : inner)]
  }
}

/** What encloses a process on this platform. */
export const enclosure = (sealed: boolean): Enclosure => ({
  memory: linux ? "operating-system" : "watchdog",
  folder: sealed ? "operating-system" : "engine",
  network: sealed ? "operating-system" : "engine"
})

const patience = 5000

/**
 * Whether a process can have namespaces of its own in which the folder is read-only: tried, with a program that only
 * looks whether it could write.
 */
export const canSeal = (folder: string): Promise<boolean> => {
  if (!linux) return Promise.resolve(false)
  const test = { program: "/bin/sh", arguments: ["-c", 'test -r "$1" && test ! -w "$1"', "sh", folder] }
  const command = enclose(test, { folder, memory: 0, sealed: true })
  return new Promise((resolve) => {
    execFile(command.program, command.arguments, { env: {}, timeout: patience }, (error) => resolve(error === null))
  })
}
