/**
 * Control groups, by which the system itself bounds all of a session: its memory, processes and processors.
 *
 * They need a group of version 2 that is delegated: empty of processes, with the controllers `memory` and `pids`, and
 * ours to write. Below it are one group for the fork-server and one for each session.
 *
 * Source: the kernel's `Documentation/admin-guide/cgroup-v2.rst`, "Delegation".
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { chown, mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { LinuxUnavailable } from "../LinuxUnavailable.ts"
import type { LinuxLimits } from "../LinuxLimits.ts"
import type { ProcessUser } from "./ForkServerHandle.ts"

/** A session's group. */
export interface ControlGroup {
  /** Its name below the delegated one. */
  readonly name: string
  /** Bytes of memory that the session holds, with its files. */
  readonly memory: Effect.Effect<number | undefined>
  /** Whether the system ended the session because of the memory that it held. */
  readonly wasOutOfMemory: Effect.Effect<boolean>
}

/** A delegated group. */
export interface ControlGroups {
  readonly path: string
  /** Makes a session's group with its limits; it and what runs in it are gone when the scope closes. */
  readonly open: (name: string, limits: LinuxLimits) => Effect.Effect<ControlGroup, LinuxUnavailable, Scope.Scope>
  /** Puts a fork-server into a group of its own, by its outermost process. */
  readonly adopt: (pid: number) => Effect.Effect<void, LinuxUnavailable>
}

/** The file system of control groups, in which a folder's files come and go with it. */
export interface GroupFiles {
  readonly read: (path: string) => Promise<string>
  readonly write: (path: string, text: string) => Promise<void>
  readonly names: (path: string) => Promise<ReadonlyArray<string>>
  readonly make: (path: string) => Promise<unknown>
  readonly remove: (path: string) => Promise<void>
  readonly own: (path: string, user: ProcessUser) => Promise<void>
}

const systemFiles: GroupFiles = {
  read: (path) => readFile(path, "utf8"),
  write: (path, text) => writeFile(path, text),
  names: (path) => readdir(path),
  make: (path) => mkdir(path),
  remove: (path) => rmdir(path),
  own: (path, { gid, uid }) => chown(path, uid, gid)
}

const needed = ["memory", "pids"]
const wanted = ["cpu"]
/** The period of the processors' shares, in microseconds. */
const period = 100_000

const unavailable = (message: string): LinuxUnavailable =>
  new LinuxUnavailable({
    promise: "control_groups",
    message,
    remedy:
      "delegate a control group of version 2 to the user of the sandbox, for example by a systemd unit with " +
      "Delegate=memory pids cpu and DelegateSubgroup=host, write +memory +pids +cpu to cgroup.subtree_control of the " +
      "unit's group, and give the path of an empty group below it"
  })

const attempt = <A>(what: string, run: () => Promise<A>): Effect.Effect<A, LinuxUnavailable> =>
  Effect.tryPromise({
    try: run,
    catch: (error) => unavailable(`${what}: ${error instanceof Error ? error.message : String(error)}`)
  })

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))

/** Removes a group; it cannot go before the last process of it is buried, which takes a moment after the kill. */
const remove = async (files: GroupFiles, path: string): Promise<void> => {
  if ((await files.names(path)).includes("cgroup.kill")) await files.write(join(path, "cgroup.kill"), "1")
  const removeWhenEmpty = (tries: number): Promise<void> =>
    files.remove(path).catch(async (error) => {
      const isBusy = error instanceof Error && "code" in error && error.code === "EBUSY"
      if (!isBusy || tries === 0) throw error
      await pause(10)
      return removeWhenEmpty(tries - 1)
    })
  await removeWhenEmpty(500)
}

const descendants = async (pid: number): Promise<ReadonlyArray<number>> => {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")
  const children = text.split(" ").flatMap((field) => (field.trim() === "" ? [] : [Number(field)]))
  return [...children, ...(await Promise.all(children.map(descendants))).flat()]
}

/** The limits of a group, by the names of the files that hold them. */
export const groupLimits = (limits: LinuxLimits): Readonly<Record<string, string>> => ({
  "memory.max": String(limits.memory),
  "memory.swap.max": "0",
  // A session without one of its processes is of no use: all of it ends, and says so.
  "memory.oom.group": "1",
  "pids.max": String(limits.processes),
  "cpu.max": `${Math.round(limits.cpus * period)} ${period}`
})

/** Takes a delegated group into use. */
export const make = Effect.fnUntraced(function* (
  path: string,
  user: ProcessUser | undefined,
  files: GroupFiles = systemFiles
): Effect.fn.Return<ControlGroups, LinuxUnavailable, Scope.Scope> {
  const own = async (file: string): Promise<void> => {
    if (user !== undefined) await files.own(file, user)
  }

  const offered = (yield* attempt(`${path} is no control group of version 2`, () =>
    files.read(join(path, "cgroup.controllers"))
  ))
    .trim()
    .split(" ")
  const missing = needed.filter((name) => !offered.includes(name))
  if (missing.length > 0) {
    return yield* unavailable(`${path} has no controller of ${missing.join(" and ")} (it has ${offered.join(", ")})`)
  }
  const taken = [...needed, ...wanted].filter((name) => offered.includes(name))
  yield* attempt(`${path} cannot be divided`, () =>
    files.write(join(path, "cgroup.subtree_control"), taken.map((name) => `+${name}`).join(" "))
  )
  const server = join(path, "fork-server")
  yield* Effect.acquireRelease(
    attempt(`a group below ${path} cannot be made`, () => files.make(server)),
    () => Effect.orDie(attempt(`${server} cannot be removed`, () => remove(files, server)))
  )
  // Whoever moves a process between two groups writes to what is above both of them.
  yield* attempt(`${path} cannot be handed over`, () => own(join(path, "cgroup.procs")))

  const openGroup = async (group: string, limits: LinuxLimits): Promise<void> => {
    await files.make(group)
    const present = await files.names(group)
    // A kernel that accounts for no swap has no file for it, and a group without `cpu` none for processors.
    const held = Object.entries(groupLimits(limits)).filter(
      ([name]) => present.includes(name) || (name !== "memory.swap.max" && name !== "cpu.max")
    )
    await Promise.all(held.map(([name, value]) => files.write(join(group, name), value)))
    await own(join(group, "cgroup.procs"))
  }

  return {
    path,
    open: (name, limits) => {
      const group = join(path, name)
      return Effect.acquireRelease(
        attempt(`the group ${group} cannot be made`, () => openGroup(group, limits)).pipe(
          Effect.onError(() => Effect.ignore(attempt(group, () => remove(files, group))))
        ),
        () => Effect.orDie(attempt(`${group} cannot be removed`, () => remove(files, group)))
      ).pipe(
        Effect.as({
          name,
          memory: Effect.promise(() => files.read(join(group, "memory.current")).then(Number, () => undefined)),
          wasOutOfMemory: Effect.promise(() =>
            files.read(join(group, "memory.events")).then(
              (text) => /^oom_kill [1-9]/m.test(text),
              () => false
            )
          )
        })
      )
    },
    adopt: (pid) =>
      attempt(`the fork-server cannot be moved to ${server}`, async () => {
        const members = [pid, ...(await descendants(pid))]
        await Promise.all(members.map((member) => files.write(join(server, "cgroup.procs"), String(member))))
      })
  }
})
