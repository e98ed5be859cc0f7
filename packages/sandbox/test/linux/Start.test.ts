/** Where the Linux tier must not start, or not as whom it was told: it says why, and nothing weaker starts instead. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type ChildProcess, spawn } from "node:child_process"
import { chmod, mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { type LinuxOptions, tier } from "../../src/linux.ts"
import { missing, sayWhatIsSkipped } from "../support/Linux.ts"

sayWhatIsSkipped("where sandboxes on Linux do not start")

/** Milliseconds that only what hangs takes. */
const patience = 240_000

const isRoot = process.getuid?.() === 0

const folder = Effect.acquireRelease(
  Effect.promise(async () => {
    const path = await mkdtemp(join(tmpdir(), "castellan-test-"))
    await chmod(path, 0o777)
    return path
  }),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

/** Why it does not start with these options; nothing of the attempt is left. */
const whyNot = Effect.fnUntraced(function* (options: LinuxOptions) {
  const path = yield* folder
  const error = yield* Effect.flip(Effect.scoped(tier({ folder: path, ...options })))
  assert.deepStrictEqual(yield* Effect.promise(() => readdir(path)), [])
  return error
})

describe.skipIf(missing !== undefined)("a start", { timeout: patience }, () => {
  it.live("without bubblewrap, without Python, or with another root than one of ours is refused in words", () =>
    Effect.gen(function* () {
      const bubblewrap = yield* whyNot({ bubblewrap: "/nowhere/bwrap" })
      assert.deepInclude(bubblewrap, { _tag: "LinuxUnavailable", promise: "bubblewrap" })
      assert.include(bubblewrap.message, "/nowhere/bwrap")
      assert.include(bubblewrap.remedy, "apt-get install bubblewrap")
      const python = yield* whyNot({ python: "/usr/bin/python-of-tomorrow" })
      assert.strictEqual(python.promise, "python", python.message)
      const root = yield* whyNot({ root: "/etc" })
      assert.strictEqual(root.promise, "python")
      assert.include(root.remedy, "npx castellan-sandbox-root --folder")
    })
  )

  it.live("with a program that is no bubblewrap is refused with what that program says", () =>
    Effect.gen(function* () {
      const error = yield* whyNot({ bubblewrap: "/usr/bin/false" })
      assert.strictEqual(error.promise, "bubblewrap")
    })
  )

  it.live("as root is refused, and so is another user than the host can become", () =>
    Effect.gen(function* () {
      const error = yield* whyNot({ user: { uid: 0, gid: 0 } })
      assert.strictEqual(error.promise, "user")
    })
  )

  it.live("with a control group that is none is refused", () =>
    Effect.gen(function* () {
      const error = yield* whyNot({ controlGroup: "/usr" })
      assert.strictEqual(error.promise, "control_groups")
      assert.include(error.remedy, "Delegate")
    })
  )

  it.live.skipIf(!isRoot)("of a host that is root runs all of it as somebody else", () =>
    Effect.gen(function* () {
      const path = yield* folder
      yield* tier({ folder: path, user: { uid: 60_123, gid: 60_124 } })
      const own = yield* Effect.promise(() => readFile(`/proc/self/task/${process.pid}/children`, "utf8"))
      const statuses = yield* Effect.promise(() =>
        Promise.all(
          own
            .trim()
            .split(" ")
            .map((pid) => readFile(`/proc/${pid}/status`, "utf8").catch(() => ""))
        )
      )
      const users = statuses
        .filter((status) => status.includes("bwrap"))
        .map((status) => /^Uid:\t(\d+)/m.exec(status)?.[1])
      assert.deepStrictEqual(users, ["60123"])
    })
  )
})

const hostProgram = fileURLToPath(new URL("../support/HostProgram.ts", import.meta.url))

/** What a host said before it ended, or until it was ready. */
const linesOf = (child: ChildProcess): Effect.Effect<ReadonlyArray<string>> =>
  Effect.callback((resume) => {
    const lines: Array<string> = []
    const note = (line: string): void => {
      lines.push(line)
      if (line === "ready") resume(Effect.succeed(lines))
    }
    for (const stream of [child.stdout, child.stderr]) {
      if (stream !== null) createInterface({ input: stream }).on("line", note)
    }
    child.on("close", () => resume(Effect.succeed(lines)))
  })

describe.skipIf(missing !== undefined || !isRoot)("a host that is not root", { timeout: patience }, () => {
  it.live("has sandboxes as well, as itself", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const child = yield* Effect.acquireRelease(
        Effect.sync(() =>
          spawn(process.execPath, [hostProgram, path], { stdio: ["ignore", "pipe", "pipe"], uid: 60_125, gid: 60_125 })
        ),
        (host) => Effect.sync(() => host.kill("SIGKILL"))
      )
      const lines = yield* linesOf(child)
      assert.strictEqual(lines.at(-1), "ready", lines.join("\n"))
    })
  )
})
