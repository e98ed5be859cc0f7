/**
 * Control groups of this machine, where a hierarchy of version 2 can be written: sessions are moved into groups of their
 * own and leave none behind. Where the hierarchy has no controller of memory, as beside one of version 1, it is the files
 * of limits alone that are not written.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { accessSync, constants, readdirSync, readFileSync } from "node:fs"
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rmdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import * as ControlGroups from "../../src/linux/internal/ControlGroups.ts"
import * as Host from "../../src/linux/internal/Host.ts"
import { defaultLimits } from "../../src/linux/LinuxLimits.ts"
import { startChanged } from "../support/ChangedForkServer.ts"
import { missing, sayWhatIsSkipped } from "../support/Linux.ts"

sayWhatIsSkipped("control groups of this machine")

/** A hierarchy of version 2 that can be written, if there is one. */
const hierarchy = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].find((path) => {
  try {
    accessSync(join(path, "cgroup.controllers"))
    accessSync(path, constants.W_OK)
    return process.getuid?.() === 0
  } catch {
    return false
  }
})

if (missing === undefined && hierarchy === undefined) {
  console.warn("\n*** SKIPPED: control groups of this machine: no hierarchy of version 2 can be written here\n")
}

const controllers = hierarchy === undefined ? "" : readFileSync(join(hierarchy, "cgroup.subtree_control"), "utf8")
const hasLimits = controllers.includes("memory") && controllers.includes("pids")

/** The machine's files; those of limits only where it has them. */
const files: ControlGroups.GroupFiles = {
  read: (path) =>
    path.endsWith("cgroup.controllers") && !hasLimits ? Promise.resolve("memory pids") : readFile(path, "utf8"),
  write: (path, text) =>
    hasLimits || path.endsWith("cgroup.procs") || path.endsWith("cgroup.kill")
      ? writeFile(path, text)
      : Promise.resolve(),
  names: (path) => readdir(path),
  make: (path) => mkdir(path),
  remove: (path) => rmdir(path),
  own: (path, { gid, uid }) => chown(path, uid, gid)
}

const members = (group: string): ReadonlyArray<string> =>
  readFileSync(join(group, "cgroup.procs"), "utf8")
    .split("\n")
    .filter((line) => line !== "")

const groupsIn = (path: string): ReadonlyArray<string> =>
  readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))

describe.skipIf(missing !== undefined || hierarchy === undefined)("control groups", { timeout: 240_000 }, () => {
  it.live("each session is in one of its own, all of it, and none is left", () =>
    Effect.gen(function* () {
      const delegated = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const path = await mkdtemp(join(hierarchy ?? "", "castellan-test-"))
          await chmod(path, 0o755)
          return path
        }),
        (path) => Effect.promise(() => rmdir(path))
      )
      yield* Effect.scoped(
        Effect.gen(function* () {
          const user = yield* Host.chooseUser(undefined)
          const groups = yield* ControlGroups.make(delegated, user, files)
          const { server } = yield* startChanged([], undefined, delegated)
          yield* groups.adopt(server.pid ?? 0)
          assert.lengthOf(members(join(delegated, "fork-server")), 3)
          yield* Effect.scoped(
            Effect.gen(function* () {
              const group = yield* groups.open("one", defaultLimits)
              const limits = defaultLimits
              yield* server.open({
                token: "one",
                limits,
                controlGroup: group.name,
                work: { program: "serve", nonce: "n" }
              })
              assert.isAtLeast(members(join(delegated, "one")).length, 1)
              assert.lengthOf(members(join(delegated, "fork-server")), 3)
            })
          )
          assert.deepStrictEqual(groupsIn(delegated), ["fork-server"])
        })
      )
      assert.deepStrictEqual(groupsIn(delegated), [])
    })
  )
})
