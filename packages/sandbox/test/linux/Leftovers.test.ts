/** What is left of sandboxes once they are closed, or once whoever had them was killed: nothing. */
import { OrganizationId } from "@castellan/core/organization/Organization"
import { SandcastleId } from "@castellan/core/sandcastle/Sandcastle"
import { SandboxRuntime } from "@castellan/core/sandcastle/SandboxRuntime"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type ChildProcess, spawn } from "node:child_process"
import { chmod, mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { createInterface } from "node:readline"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { layerLinux, missing, sayWhatIsSkipped } from "../support/Linux.ts"

sayWhatIsSkipped("whether sandboxes on Linux leave anything behind")

/** All processes below one, as the system sees them now. */
const descendants = async (root: number): Promise<ReadonlyArray<number>> => {
  const numbers = (await readdir("/proc")).filter((name) => /^\d+$/.test(name))
  const stats = await Promise.all(numbers.map((name) => readFile(`/proc/${name}/stat`, "utf8").catch(() => "")))
  const parents = new Map(
    stats.flatMap((stat) => {
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      return stat === "" || fields[0] === "Z" ? [] : [[Number.parseInt(stat, 10), Number(fields[1])] as const]
    })
  )
  const below = (pid: number): ReadonlyArray<number> =>
    [...parents].flatMap(([child, parent]) => (parent === pid ? [child, ...below(child)] : []))
  return below(root)
}

const isAlive = (pid: number): Promise<boolean> =>
  readFile(`/proc/${pid}/stat`, "utf8").then(
    (stat) => !stat.slice(stat.lastIndexOf(")") + 2).startsWith("Z"),
    () => false
  )

const until = (test: () => Promise<boolean>): Effect.Effect<void> =>
  Effect.suspend(() =>
    Effect.flatMap(Effect.promise(test), (isMet): Effect.Effect<void> =>
      isMet ? Effect.void : Effect.andThen(Effect.sleep("20 millis"), until(test))
    )
  )

/** A folder of its own, which others can pass through. */
const folder = Effect.acquireRelease(
  Effect.promise(async () => {
    const path = await mkdtemp(join(tmpdir(), "castellan-test-"))
    await chmod(path, 0o755)
    return path
  }),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

const open = (id: string) =>
  SandboxRuntime.use((runtime) =>
    runtime.open({
      id: SandcastleId.make(id),
      organizationId: OrganizationId.make("018f0000-0000-7000-8000-000000000001"),
      library: []
    })
  )

const ready = (child: ChildProcess): Effect.Effect<void> =>
  Effect.callback((resume) => {
    if (child.stdout === null) throw new TypeError("a process without output")
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line === "ready") resume(Effect.void)
    })
  })

const hostProgram = fileURLToPath(new URL("../support/HostProgram.ts", import.meta.url))

const startHost = (path: string, user?: { readonly uid: number; readonly gid: number }) =>
  Effect.acquireRelease(
    Effect.sync(() => spawn(process.execPath, [hostProgram, path], { stdio: ["ignore", "pipe", "inherit"], ...user })),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )

/** Kills a host. Only once all its threads are gone, and it can be waited for, has it let go of what it had open. */
const killed = (host: ChildProcess): Effect.Effect<void> =>
  Effect.callback((resume) => {
    host.once("exit", () => resume(Effect.void))
    host.kill("SIGKILL")
  })

/** Milliseconds that only what hangs takes. */
const patience = 240_000

describe.skipIf(missing !== undefined)("what is left", { timeout: patience }, () => {
  it.live("a closed session leaves no process, and a closed layer no process, mount or folder", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const own = process.pid
      const mounts = () => Effect.promise(() => readFile("/proc/self/mountinfo", "utf8"))
      const before = new Set(yield* Effect.promise(() => descendants(own)))
      const mountedBefore = yield* mounts()
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(layerLinux({ folder: path }), scope)
      const idle = yield* Effect.promise(() => descendants(own))
      yield* Effect.scoped(
        Effect.gen(function* () {
          const session = yield* open("leftovers")
          const code = "import subprocess; subprocess.Popen(['sleep', '1000'], start_new_session=True)"
          const request = { language: "python", code, within: "session", timeout: Duration.minutes(1) } as const
          yield* Stream.runDrain(session.exec(request))
          // The supervisor, the interpreter, and what it started.
          assert.isAtLeast((yield* Effect.promise(() => descendants(own))).length, idle.length + 3)
        })
      ).pipe(Effect.provide(context))
      // At once: closing waits for the last of them.
      assert.deepStrictEqual((yield* Effect.promise(() => descendants(own))).toSorted(), idle.toSorted())
      assert.isAbove((yield* Effect.promise(() => readdir(path))).length, 0)
      yield* Scope.close(scope, Exit.void)
      const after = (yield* Effect.promise(() => descendants(own))).filter((pid) => !before.has(pid))
      assert.deepStrictEqual(after, [])
      assert.deepStrictEqual(yield* Effect.promise(() => readdir(path)), [])
      assert.strictEqual(yield* mounts(), mountedBefore)
    })
  )

  it.live("a session whose fork-server is killed is lost, and the next one has another", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const context = yield* Layer.build(layerLinux({ folder: path }))
      yield* Effect.gen(function* () {
        const session = yield* open("orphan")
        const fiber = yield* session
          .exec({ language: "python", code: "while True: pass", within: "session", timeout: Duration.minutes(5) })
          .pipe(Stream.runDrain, Effect.flip, Effect.forkChild({ startImmediately: true }))
        const all = yield* Effect.promise(() => descendants(process.pid))
        const [outermost] = all
        assert.isDefined(outermost)
        if (outermost !== undefined) process.kill(outermost, "SIGKILL")
        assert.strictEqual((yield* Fiber.join(fiber)).reason, "lost")
        yield* until(async () => !(await Promise.all(all.map(isAlive))).includes(true))
        const next = yield* open("next")
        const said = yield* Stream.runCollect(
          next.exec({ language: "bash", code: "echo hello", within: "process", timeout: Duration.minutes(1) })
        )
        assert.deepInclude(said, { _tag: "Stdout", text: "hello\n" })
      }).pipe(Effect.provide(context))
    })
  )

  it.live("a host that is killed takes everything with it, and the next one removes its folder", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const host = yield* startHost(path)
      yield* ready(host)
      const all = yield* Effect.promise(() => descendants(host.pid ?? 0))
      // bubblewrap twice, the fork-server, the supervisor, the interpreter, and the program that was left.
      assert.isAtLeast(all.length, 6)
      yield* killed(host)
      yield* until(async () => !(await Promise.all(all.map(isAlive))).includes(true))
      const [left] = yield* Effect.promise(() => readdir(path))
      assert.isDefined(left)
      yield* Layer.build(layerLinux({ folder: path }))
      const now = yield* Effect.promise(() => readdir(path))
      assert.lengthOf(now, 1)
      assert.notInclude(now, left)
    })
  )
})
