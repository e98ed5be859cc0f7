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

/** What a process in a cage can see; nothing else of the machine is there for it. */
export interface Cage {
  /** An empty directory, at which the cage is put together. */
  readonly root: string
  /** Absolute paths, each with all that is below it. One that does not exist is left out. */
  readonly readable: ReadonlyArray<string>
  readonly writable: ReadonlyArray<string>
}

/** What a process is enclosed for. */
export interface Occupant {
  /** Absolute path of the connector's folder; of the directory that it starts in, where there is a cage. */
  readonly folder: string
  /** Absent: the process sees what its user sees. It needs namespaces. */
  readonly cage?: Cage
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

/**
 * `$0` is the root of the cage; then come `ro:` and `rw:` paths, `--`, and the directory to start in. Of /proc there is
 * only the process's own entry: other processes of the same user have environments that are nobody's business.
 */
const confine = `root=$0
only_read() {
  for flags in ro ro,nosuid ro,nodev ro,nosuid,nodev; do
    mount -o "remount,bind,$flags" "$1" 2>/dev/null && return
  done
  exit 71
}
mount -t tmpfs -o size=1m,mode=755 tmpfs "$root" || exit 71
mkdir -p "$root/proc/self" && mount --bind "/proc/$$" "$root/proc/self" || exit 71
while [ "$1" != -- ]; do
  kind=\${1%%:*}; path=\${1#*:}; shift
  if [ -L "$path" ]; then mkdir -p "$root\${path%/*}"; ln -s "$(readlink "$path")" "$root$path"; continue; fi
  [ -e "$path" ] || continue
  if [ -d "$path" ]; then mkdir -p "$root$path"; else mkdir -p "$root\${path%/*}" && : > "$root$path"; fi
  mount --rbind "$path" "$root$path" || exit 71
  [ "$kind" = rw ] && continue
  only_read "$root$path"
done
shift
only_read "$root"
cd "$root" && pivot_root . . && umount -l . || exit 71
cd "$1" || exit 71
shift
exec setpriv --no-new-privs --bounding-set=-all --inh-caps=-all env -i "$@"`

/** The command that runs a program enclosed. */
export const enclose = (command: Command, { cage, folder, memory, sealed }: Occupant): Command => {
  if (!linux) return command
  const kilobytes = String(Math.ceil((memory + reserved) / 1024))
  const inner = [command.program, ...command.arguments]
  const walls =
    cage === undefined
      ? [seal, folder]
      : [
          confine,
          cage.root,
          ...cage.readable.map((path) => `ro:${path}`),
          ...cage.writable.map((path) => `rw:${path}`),
          "--",
          folder
        ]
  const namespaces = ["unshare", "--user", "--map-root-user", "--mount", "--net", "/bin/sh", "-c", ...walls]
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
export const canSeal = (folder: string): Promise<boolean> =>
  succeeds('test -r "$1" && test ! -w "$1"', [folder], { folder, memory: 0, sealed: true })

/**
 * Whether a process can have a cage in which its programs are there and the machine's accounts are not: tried. `folder`
 * is one of the writable paths.
 */
export const canCage = (folder: string, cage: Cage): Promise<boolean> =>
  succeeds('test -x "$1" && test -w "$2" && test ! -e /etc/passwd && test ! -e /proc/1', [process.execPath, folder], {
    folder,
    cage,
    memory: 0,
    sealed: true
  })

const succeeds = (test: string, values: ReadonlyArray<string>, occupant: Occupant): Promise<boolean> => {
  if (!linux) return Promise.resolve(false)
  const command = enclose({ program: "/bin/sh", arguments: ["-c", test, "sh", ...values] }, occupant)
  return new Promise((resolve) => {
    execFile(command.program, command.arguments, { env: {}, timeout: patience }, (error) => resolve(error === null))
  })
}
