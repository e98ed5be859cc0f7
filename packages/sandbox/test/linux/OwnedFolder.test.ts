/** Private folders of hosts that cannot see each other's processes: each keeps its own, and the dead keep none. */
import { descendants } from "@castellan/testing/abuse/HostWatch"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawn, spawnSync } from "node:child_process"
import { chown, mkdir, mkdtemp, readdir, rm, symlink, utimes, writeFile } from "node:fs/promises"
import { createInterface } from "node:readline"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import * as OwnedFolder from "../../src/linux/internal/OwnedFolder.ts"

/** In a namespace of processes of its own, as a container has one; all of it ends with the outermost process. */
const apart = ["--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child=SIGKILL"]

const possible = process.platform === "linux" && spawnSync("unshare", [...apart, "true"]).status === 0
if (!possible) console.warn("\n*** SKIPPED: hosts in namespaces of their own: this machine's user makes none\n")

const program = fileURLToPath(new URL("../support/FolderOwner.ts", import.meta.url))

const temporary = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "castellan-test-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

/** A host in a namespace of its own, with the folder that it has. */
const host = Effect.fnUntraced(function* (parent: string) {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn("unshare", [...apart, process.execPath, program, parent], { stdio: ["ignore", "pipe", "inherit"] })
    ),
    (running) => Effect.sync(() => running.kill("SIGKILL"))
  )
  const path = yield* Effect.callback<string>((resume) => {
    createInterface({ input: child.stdout }).on("line", (line) => resume(Effect.succeed(line)))
  })
  const killed = Effect.callback<void>((resume) => {
    // Whoever forked the host waits for it: when that has ended, the host has let go of all that it had open.
    child.once("exit", () => resume(Effect.void))
    for (const { id } of descendants(child.pid)) process.kill(id, "SIGKILL")
  })
  return { name: basename(path), killed }
})

const namesIn = (path: string) => Effect.promise(async () => (await readdir(path)).toSorted())

describe.skipIf(!possible)("private folders", { timeout: 300_000 }, () => {
  it.live("of hosts in other namespaces of processes stay as long as they live, and go once they were killed", () =>
    Effect.gen(function* () {
      const parent = yield* temporary
      const [one, other] = [yield* host(parent), yield* host(parent)]
      assert.deepStrictEqual(yield* namesIn(parent), [one.name, other.name].toSorted())
      yield* one.killed
      const own = yield* Effect.promise(() => OwnedFolder.make(parent))
      assert.deepStrictEqual(yield* namesIn(parent), [other.name, basename(own.path)].toSorted())
      yield* Effect.promise(() => own.close())
      assert.deepStrictEqual(yield* namesIn(parent), [other.name])
      yield* other.killed
      const last = yield* host(parent)
      assert.deepStrictEqual(yield* namesIn(parent), [last.name])
    })
  )
})

describe.skipIf(process.platform === "win32")("private folders of one host", () => {
  it.live("are none that others have below the same folder, and none that somebody is about to own", () =>
    Effect.gen(function* () {
      const parent = yield* temporary
      const names = ["castellan-fork-servers-starting-aaaaaa", "castellan-sandbox-0", "castellan-fork-servers-x"]
      yield* Effect.promise(async () => {
        await Promise.all(names.map((name) => mkdir(join(parent, name))))
        await writeFile(join(parent, "castellan-fork-servers-abcdef.txt"), "")
        // Somebody was, and was killed before he did.
        const old = join(parent, "castellan-fork-servers-starting-bbbbbb")
        await mkdir(old)
        await utimes(old, 0, 0)
      })
      const own = yield* Effect.promise(() => OwnedFolder.make(parent))
      const kept = [...names, "castellan-fork-servers-abcdef.txt"]
      assert.deepStrictEqual(yield* namesIn(parent), [...kept, basename(own.path)].toSorted())
      yield* Effect.promise(() => own.close())
      assert.deepStrictEqual(yield* namesIn(parent), kept.toSorted())
    })
  )

  it.live.skipIf(process.getuid?.() !== 0)(
    "are of its own users: nothing of anybody else's is removed, also by root",
    () =>
      Effect.gen(function* () {
        const parent = yield* temporary
        const theirs = join(parent, "castellan-fork-servers-aaaaaa")
        const given = join(parent, "castellan-fork-servers-bbbbbb")
        const link = join(parent, "castellan-fork-servers-cccccc")
        const give = async (path: string, user: number) => {
          await mkdir(path)
          await writeFile(join(path, "kept"), "")
          await chown(path, user, user)
        }
        yield* Effect.promise(() => Promise.all([give(theirs, 12_345), give(given, 65_534), symlink(theirs, link)]))
        const own = yield* Effect.promise(() => OwnedFolder.make(parent, 65_534))
        assert.deepStrictEqual(
          yield* namesIn(parent),
          [basename(theirs), basename(link), basename(own.path)].toSorted()
        )
        assert.deepStrictEqual(yield* namesIn(theirs), ["kept"])
        yield* Effect.promise(() => own.close())
      })
  )

  it.live("are not made where none can be, and leave nothing", () =>
    Effect.gen(function* () {
      const parent = yield* temporary
      const long = join(parent, "x".repeat(120))
      yield* Effect.promise(() => mkdir(long))
      const error = yield* Effect.flip(Effect.tryPromise(() => OwnedFolder.make(long)))
      assert.isDefined(error)
      assert.deepStrictEqual(yield* namesIn(long), [])
    })
  )
})
