/**
 * The outer sandbox, in which the fork-server runs: what bubblewrap is told.
 *
 * Its root is what sessions see, read-only; each session puts its own files, processes and devices beside it. Nothing of
 * the host is in it that is not named here. Options go through a file descriptor and the environment is empty, because
 * both can be read in the sandbox's `/proc`.
 *
 * Source: the notes on bubblewrap's holes: `--clearenv` clears less than it says; unsized memory file systems.
 */
import { insideUser } from "./SessionRequest.ts"

/** The root of the sandbox. */
export interface OuterRoot {
  /** Folders of the host that are shown, by the path at which they are. */
  readonly folders: ReadonlyArray<{ readonly from: string; readonly to: string }>
  /** Files and folders that are shown where the host has them. */
  readonly optional: ReadonlyArray<{ readonly from: string; readonly to: string }>
  /** Symbolic links, by their path. */
  readonly links: ReadonlyArray<{ readonly target: string; readonly at: string }>
  /** Folders that are shown empty. */
  readonly masked: ReadonlyArray<string>
}

/** What an outer sandbox is made of. */
export interface OuterSandbox {
  readonly root: OuterRoot
  /** The private folder of the host: programs and filter. */
  readonly folder: string
  /** The folder of the host in which the fork-server makes its socket. */
  readonly listen: string
  /** The Python of the root. */
  readonly python: string
  /** The delegated control group; absent: none is used. */
  readonly controlGroup: string | undefined
  /** Bytes that the buffers of one socket hold at most. */
  readonly socketBytes: number
}

/** Where things are inside. */
export const inside = {
  programs: "/castellan",
  filter: "/run/filter",
  listen: "/listen",
  socket: "/listen/socket"
} as const

/** The environment of every process of a session, before what an execution adds. */
export const environment: Readonly<Record<string, string>> = {
  HOME: "/tmp/home",
  LANG: "C.UTF-8",
  LOGNAME: "sandbox",
  MPLCONFIGDIR: "/tmp/matplotlib",
  // One thread each: what a library thinks it may take of the machine is not what a session has.
  MKL_NUM_THREADS: "1",
  NUMEXPR_NUM_THREADS: "1",
  OMP_NUM_THREADS: "1",
  OPENBLAS_NUM_THREADS: "1",
  PATH: "/usr/local/bin:/usr/bin:/bin",
  SHELL: "/bin/bash",
  TMPDIR: "/tmp",
  USER: "sandbox"
}

/** The options of bubblewrap. */
export const outerArguments = ({ controlGroup, folder, listen, root }: OuterSandbox): ReadonlyArray<string> =>
  [
    ["--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"],
    // A process can be moved only within what its namespace of control groups shows; sessions get one each, once moved.
    controlGroup === undefined ? ["--unshare-cgroup"] : ["--bind", controlGroup, "/control-groups"],
    ["--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"],
    ["--uid", String(insideUser), "--gid", String(insideUser), "--hostname", "sandbox"],
    ...root.folders.map(({ from, to }) => ["--ro-bind", from, to]),
    ...root.optional.map(({ from, to }) => ["--ro-bind-try", from, to]),
    ...root.links.map(({ at, target }) => ["--symlink", target, at]),
    ...root.masked.map((path) => ["--size", "4096", "--tmpfs", path, "--remount-ro", path]),
    ["--proc", "/proc", "--dev", "/dev", "--size", String(16 * 1024 * 1024), "--tmpfs", "/tmp", "--dir", "/stage"],
    ["--ro-bind", `${folder}/python`, inside.programs],
    ["--ro-bind", `${folder}/filter`, inside.filter],
    ["--bind", listen, inside.listen],
    // What has no mount of its own, such as `/etc`, is a part of the root: sessions share it.
    ["--remount-ro", "/", "--chdir", "/"],
    ...Object.entries(environment).map(([name, value]) => ["--setenv", name, value])
  ].flat()

/** The command that bubblewrap executes, which must be on its command line: it names nothing of the host. */
export const outerCommand = ({ python, socketBytes }: OuterSandbox): ReadonlyArray<string> => [
  "--",
  python,
  "-I",
  "-B",
  `${inside.programs}/castellan_zygote.py`,
  inside.socket,
  inside.filter,
  String(socketBytes)
]
