/** Control groups, over a file system of them that is kept here. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { dirname } from "node:path"
import * as ControlGroups from "../../src/linux/internal/ControlGroups.ts"
import { defaultLimits } from "../../src/linux/LinuxLimits.ts"

class GroupError extends Error {
  readonly code: string

  constructor(code: string, path: string) {
    super(`${code}: ${path}`)
    this.code = code
  }
}

/** Groups as the kernel keeps them: a group comes with its files, and does not go before its processes. */
const kernel = (controllers: string) => {
  const files = new Map([
    ["/groups/cgroup.controllers", `${controllers}\n`],
    ["/groups/cgroup.subtree_control", ""],
    ["/groups/cgroup.procs", ""]
  ])
  const groups = new Set(["/groups"])
  const owners = new Map<string, number>()
  /** Times that a group is still busy after the kill. */
  let busy = 0
  const each = [
    "cgroup.procs",
    "cgroup.kill",
    "memory.max",
    "memory.current",
    "memory.events",
    "memory.oom.group",
    "pids.max",
    "cpu.max"
  ]
  const fakes: ControlGroups.GroupFiles = {
    read: async (path) => {
      const text = files.get(path)
      if (text === undefined) throw new GroupError("ENOENT", path)
      return text
    },
    write: async (path, text) => {
      if (!files.has(path)) throw new GroupError("ENOENT", path)
      files.set(path, text)
      if (path.endsWith("cgroup.kill")) files.set(`${dirname(path)}/cgroup.procs`, "")
    },
    names: async (path) =>
      [...files.keys()].filter((name) => dirname(name) === path).map((name) => name.slice(path.length + 1)),
    make: async (path) => {
      if (groups.has(path) || !groups.has(dirname(path))) throw new GroupError("EEXIST", path)
      groups.add(path)
      for (const name of each) files.set(`${path}/${name}`, "")
    },
    remove: async (path) => {
      if (files.get(`${path}/cgroup.procs`) !== "" || busy-- > 0) throw new GroupError("EBUSY", path)
      groups.delete(path)
      for (const name of files.keys()) if (dirname(name) === path) files.delete(name)
    },
    own: async (path, { uid }) => void owners.set(path, uid)
  }
  return { files, groups, owners, fakes, stayBusy: (times: number) => (busy = times) }
}

const user = { uid: 65_534, gid: 65_534 }

describe("control groups", () => {
  it.effect("a session's group has its limits, belongs to the sandbox's user, and goes with its processes", () =>
    Effect.gen(function* () {
      const { fakes, files, groups, owners, stayBusy } = kernel("cpuset cpu io memory pids")
      const scope = yield* Scope.make()
      const made = yield* Scope.provide(ControlGroups.make("/groups", user, fakes), scope)
      assert.strictEqual(files.get("/groups/cgroup.subtree_control"), "+memory +pids +cpu")
      const session = yield* Scope.make()
      const group = yield* Scope.provide(made.open("one", { ...defaultLimits, cpus: 0.5 }), session)
      assert.strictEqual(files.get("/groups/one/memory.max"), String(defaultLimits.memory))
      assert.strictEqual(files.get("/groups/one/memory.oom.group"), "1")
      assert.strictEqual(files.get("/groups/one/pids.max"), String(defaultLimits.processes))
      assert.strictEqual(files.get("/groups/one/cpu.max"), "50000 100000")
      assert.deepStrictEqual(
        [...owners],
        [
          ["/groups/cgroup.procs", 65_534],
          ["/groups/one/cgroup.procs", 65_534]
        ]
      )
      files.set("/groups/one/memory.current", "4096\n")
      assert.strictEqual(yield* group.memory, 4096)
      files.set("/groups/one/memory.events", "low 0\nmax 7\noom 0\noom_kill 0\noom_group_kill 0\n")
      assert.isFalse(yield* group.wasOutOfMemory)
      files.set("/groups/one/memory.events", "low 0\nmax 9\noom 1\noom_kill 3\noom_group_kill 1\n")
      assert.isTrue(yield* group.wasOutOfMemory)
      files.set("/groups/one/cgroup.procs", "7\n")
      stayBusy(2)
      yield* Scope.close(session, Exit.void)
      assert.isFalse(groups.has("/groups/one"))
      assert.isUndefined(yield* group.memory)
      assert.isFalse(yield* group.wasOutOfMemory)
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual([...groups], ["/groups"])
    })
  )

  it.effect("a group of ours, or one without the controllers that count, is refused", () =>
    Effect.gen(function* () {
      const refused = yield* Effect.flip(ControlGroups.make("/groups", user, kernel("cpu pids").fakes))
      assert.strictEqual(refused.promise, "control_groups")
      assert.include(refused.message, "no controller of memory")
      const absent = yield* Effect.flip(ControlGroups.make("/elsewhere", user, kernel("memory pids").fakes))
      assert.include(absent.message, "/elsewhere is no control group of version 2")
      assert.include(absent.remedy, "Delegate")
    })
  )

  it.effect(
    "a host that is not root hands nothing over, and goes without a limit of processors where there is none",
    () =>
      Effect.gen(function* () {
        const { fakes, files, owners } = kernel("memory pids")
        const made = yield* ControlGroups.make("/groups", undefined, fakes)
        yield* made.open("one", defaultLimits)
        assert.strictEqual(files.get("/groups/cgroup.subtree_control"), "+memory +pids")
        assert.deepStrictEqual([...owners], [])
      })
  )
})
