/** A root that was built holds what was put there, and sandboxes over it keep to what every sandbox keeps to. */
import { OrganizationId } from "@castellan/core/organization/Organization"
import { SandcastleId } from "@castellan/core/sandcastle/Sandcastle"
import { SandboxRuntime } from "@castellan/core/sandcastle/SandboxRuntime"
import * as SandboxRuntimeSuite from "@castellan/testing/suite/SandboxRuntimeSuite"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { chmod, mkdtemp, readdir, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as PythonRoot from "../../src/linux/PythonRoot.ts"
import { layerLinux, missing, sayWhatIsSkipped } from "../support/Linux.ts"

sayWhatIsSkipped("sandboxes on Linux over a root of their own")

const withDebian = missing === undefined && existsSync("/var/lib/dpkg/status")
if (missing === undefined && !withDebian)
  console.warn("\n*** SKIPPED: roots of Debian packages: there is no dpkg here\n")

const withEnvironments =
  missing === undefined &&
  (() => {
    try {
      execFileSync("/usr/bin/python3", ["-c", "import ensurepip, venv"], { stdio: "ignore" })
      return true
    } catch {
      return false
    }
  })()

/** Milliseconds that only what hangs takes. */
const patience = 240_000

const folder = Effect.acquireRelease(
  Effect.promise(async () => {
    const path = await mkdtemp(join(tmpdir(), "castellan-root-"))
    await chmod(path, 0o755)
    return path
  }),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

const layerOver = (source: (path: string) => PythonRoot.RootSource) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const path = yield* folder
      const built = yield* Effect.orDie(PythonRoot.build(join(path, "root"), source(path)))
      return layerLinux({ root: built.path })
    })
  )

const shell = (code: string) =>
  Effect.gen(function* () {
    const runtime = yield* SandboxRuntime
    const session = yield* runtime.open({
      id: SandcastleId.make("root"),
      organizationId: OrganizationId.make("018f0000-0000-7000-8000-000000000001"),
      library: []
    })
    const request = { language: "bash", code, within: "process", timeout: Duration.minutes(1) } as const
    const events = yield* Stream.runCollect(session.exec(request))
    return events.map((event) => (event._tag === "Stdout" ? event.text : "")).join("")
  })

describe.skipIf(!withDebian)("a root of packages", { timeout: patience }, () => {
  const layer = layerOver(() => ({ packages: [] }))
  SandboxRuntimeSuite.suite("linux, over a root of packages", layer)

  it.live("holds what was put there, belongs to nobody inside, and is read-only", () =>
    Effect.gen(function* () {
      const names = (yield* shell("ls /usr")).trim().split("\n")
      for (const name of names) assert.include(["bin", "games", "lib", "lib64", "libexec", "sbin", "share"], name)
      assert.strictEqual(yield* shell("ls -d /usr/local /usr/include /home /root /var 2>/dev/null"), "")
      // The host has it, and Python does not need it.
      assert.strictEqual(yield* shell("ls /usr/bin/perl /usr/bin/apt /usr/bin/mount 2>/dev/null"), "")
      assert.strictEqual(yield* shell("awk 'BEGIN { print 6 * 7 }'; printf 'b\\na\\n' | sort | head -1"), "42\na\n")
      assert.strictEqual(yield* shell("touch /usr/made /etc/made /made 2>/dev/null; ls /usr/made /etc/made /made"), "")
    }).pipe(Effect.provide(layer))
  )
})

describe.skipIf(!withEnvironments)("a root of a virtual environment", { timeout: patience }, () => {
  it.live("has the environment's Python, at the environment's path", () =>
    Effect.gen(function* () {
      // Not in the folder for temporary files, which sessions have of their own.
      const path = yield* Effect.acquireRelease(
        Effect.promise(() => mkdtemp("/var/tmp/castellan-environment-")),
        (made) => Effect.promise(() => rm(made, { recursive: true, force: true }))
      )
      yield* Effect.promise(() => chmod(path, 0o755))
      execFileSync("/usr/bin/python3", ["-m", "venv", "--without-pip", join(path, "venv")])
      const said = yield* shell("python3 -c 'import sys; print(sys.version_info >= (3, 11))'; ls /; ls /var/tmp").pipe(
        Effect.provide(layerOver(() => ({ environment: join(path, "venv") })))
      )
      assert.include(said, "castellan-environment-")
      assert.notInclude(said, "home")
    })
  )
})

describe("building a root", () => {
  it.live("fails in words where it cannot, and leaves nothing", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const target = join(path, "root")
      const relative = yield* Effect.flip(PythonRoot.build(target, { environment: "/tmp/somewhere" }))
      assert.include(relative.message, "sessions have a /tmp of their own")
      const occupied = yield* Effect.flip(PythonRoot.build("/usr", { packages: [] }))
      assert.include(occupied.message, "/usr is not empty")
      assert.isTrue((yield* Effect.promise(() => stat("/usr/bin"))).isDirectory())
      if (withDebian) {
        const absent = yield* Effect.flip(PythonRoot.build(target, { packages: ["python3-never-heard-of"] }))
        assert.include(absent.message, "not installed: python3-never-heard-of")
      }
      assert.deepStrictEqual(yield* Effect.promise(() => readdir(path)), [])
    })
  )
})
