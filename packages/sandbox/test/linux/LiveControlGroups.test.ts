/**
 * Control groups of this machine, where a hierarchy of version 2 can be written: sessions are moved into groups of their
 * own and leave none behind. Where the hierarchy has no controller of memory, as beside one of version 1, it is the files
 * of limits alone that are not written.
 */
import { OrganizationId } from "@castellan/core/organization/Organization"
import { SandcastleId } from "@castellan/core/sandcastle/Sandcastle"
import { type ExecEvent, SandboxRuntime, type SandboxSession } from "@castellan/core/sandcastle/SandboxRuntime"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { accessSync, constants, readdirSync, readFileSync } from "node:fs"
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rmdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import * as ControlGroups from "../../src/linux/internal/ControlGroups.ts"
import * as Host from "../../src/linux/internal/Host.ts"
import { defaultLimits } from "../../src/linux/LinuxLimits.ts"
import { startChanged } from "../support/ChangedForkServer.ts"
import { layerLinux, missing, sayWhatIsSkipped } from "../support/Linux.ts"

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

/** A group of its own below the hierarchy's root, delegated to nobody yet. */
const delegation = Effect.acquireRelease(
  Effect.promise(async () => {
    const path = await mkdtemp(join(hierarchy ?? "", "castellan-test-"))
    await chmod(path, 0o755)
    return path
  }),
  (path) => Effect.promise(() => rmdir(path))
)

const mebibyte = 1024 * 1024

const open = (name: string) =>
  SandboxRuntime.use((runtime) =>
    runtime.open({
      id: SandcastleId.make(name),
      organizationId: OrganizationId.make("018f0000-0000-7000-8000-000000000001"),
      library: []
    })
  )

const run = (session: SandboxSession, code: string) =>
  Stream.runCollect(session.exec({ language: "python", code, within: "session", timeout: Duration.minutes(3) }))

const said = (events: ReadonlyArray<ExecEvent>): string =>
  events.map((event) => (event._tag === "Stdout" ? event.text : "")).join("")

/** Fills the buffers of sockets in one process after another, and says how many bytes went in. */
const buffers = `
import os, signal, socket, time
told, telling = os.pipe()
for _ in range(12):
    if os.fork() == 0:
        held, written, block = [], 0, b"x" * 65536
        try:
            for _ in range(100):
                one, other = socket.socketpair()
                one.setblocking(False)
                held.append((one, other))
                try:
                    while True: written += one.send(block)
                except BlockingIOError: pass
        except OSError: pass
        os.write(telling, b"%d\\n" % written)
        signal.pause()
os.close(telling)
total = 0
with os.fdopen(told, "rb") as answers:
    for _ in range(12): total += int(answers.readline())
print("OPEN", total)
time.sleep(100)
`

/** Holds 48 MiB in each of some processes, and says how many of them came to be. */
const holding = `
import os, signal, time
made = 0
for _ in range(8):
    if os.fork() == 0:
        held = bytearray(48 << 20)
        for at in range(0, len(held), 4096): held[at] = 1
        signal.pause()
    made += 1
time.sleep(100)
print("OPEN", made)
`

if (missing === undefined && hierarchy !== undefined && !hasLimits) {
  console.warn("\n*** SKIPPED: limits of control groups: the hierarchy of version 2 has no controller of memory here\n")
}

describe.skipIf(missing !== undefined || !hasLimits)("limits of control groups", { timeout: 480_000 }, () => {
  it.live("end a session that holds too much, refuse it processes, and share the processors out", () =>
    Effect.gen(function* () {
      const controlGroup = yield* delegation
      yield* Effect.scoped(
        Effect.gen(function* () {
          // The tier's self-test has passed with them before the first session opens.
          const limits = { memory: 256 * mebibyte, processes: 24, cpus: 0.25 }
          const runtime = yield* Layer.build(layerLinux({ controlGroup, limits }))
          yield* Effect.gen(function* () {
            const { capabilities } = yield* SandboxRuntime
            assert.deepInclude(capabilities.limits, { cpu: "hard", memory: "hard", processes: "hard" })
            const [greedy, modest] = [yield* open("greedy"), yield* open("modest")]
            yield* run(modest, "x = 41")
            const error = yield* Effect.flip(run(greedy, holding))
            const message = "the sandbox held more memory than it may, and was ended"
            assert.deepInclude(error, { reason: "lost", message })
            assert.strictEqual(said(yield* run(modest, "print(x + 1)")), "42\n")
            const usage = yield* modest.usage
            assert.isAbove(usage.memoryBytes ?? 0, mebibyte)
            assert.isBelow(usage.memoryBytes ?? 0, 256 * mebibyte)
            const forks =
              "import os, signal\nmade = 0\ntry:\n  for _ in range(100):\n    if os.fork() == 0: signal.pause()\n    made += 1\nexcept OSError: pass\nprint(made)"
            const made = Number(said(yield* run(modest, forks)))
            assert.isAtLeast(made, 8)
            assert.isBelow(made, 24)
            const busy = yield* open("busy")
            const own = groupsIn(controlGroup).filter((name) => name !== "fork-server")
            // That of the session that was lost has gone with it.
            assert.lengthOf(own, 2)
            yield* run(busy, "import time\nend = time.process_time() + 0.5\nwhile time.process_time() < end: pass")
            const throttled = own.map((name) =>
              Number(/^nr_throttled (\d+)$/m.exec(readFileSync(join(controlGroup, name, "cpu.stat"), "utf8"))?.[1])
            )
            assert.isAbove(Math.max(...throttled), 0)
          }).pipe(Effect.provideContext(runtime))
        })
      )
      assert.deepStrictEqual(groupsIn(controlGroup), [])
    })
  )

  it.live("hold also what no watch sees: buffers of sockets that nobody reads", () =>
    Effect.gen(function* () {
      const controlGroup = yield* delegation
      yield* Effect.gen(function* () {
        const session = yield* open("buffers")
        assert.strictEqual((yield* Effect.flip(run(session, buffers))).reason, "lost")
      }).pipe(Effect.provide(layerLinux({ controlGroup, limits: { memory: 128 * mebibyte } })), Effect.scoped)
    })
  )
})

describe.skipIf(missing !== undefined || hierarchy === undefined)("control groups", { timeout: 240_000 }, () => {
  it.live("each session is in one of its own, all of it, and none is left", () =>
    Effect.gen(function* () {
      const delegated = yield* delegation
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
