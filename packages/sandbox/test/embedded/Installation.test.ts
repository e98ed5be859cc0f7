import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { createHash } from "node:crypto"
import { chmod, link, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { find, packageFor, thisPlatform } from "../../src/embedded/internal/DenoBinary.ts"
import { argumentsOf } from "../../src/embedded/internal/DenoProcess.ts"
import * as SnapshotCache from "../../src/embedded/internal/SnapshotCache.ts"

const temporary = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "castellan-snapshot-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
)

describe("what sessions are made of", () => {
  it("is Deno's program for this system, or the reason in words", () => {
    const on = (system: string, architecture: string, gnu: boolean) => packageFor({ system, architecture, gnu })
    assert.deepStrictEqual(on("linux", "x64", true), Result.succeed("@deno/linux-x64-glibc"))
    assert.deepStrictEqual(on("darwin", "arm64", false), Result.succeed("@deno/darwin-arm64"))
    assert.deepStrictEqual(on("win32", "x64", false), Result.succeed("@deno/win32-x64"))
    const words = [on("linux", "x64", false), on("freebsd", "x64", false), on("linux", "riscv64", true)].map((one) =>
      Result.isFailure(one) ? one.failure : ""
    )
    assert.match(words[0] ?? "", /musl/)
    assert.match(words[1] ?? "", /freebsd/)
    assert.match(words[2] ?? "", /riscv64/)
    assert.isTrue(Result.isSuccess(find(thisPlatform())))
    const elsewhere = find({
      system: process.platform === "win32" ? "darwin" : "win32",
      architecture: "x64",
      gnu: false
    })
    assert.match(Result.isFailure(elsewhere) ? elsewhere.failure : "", /is not installed/)
  })

  it("is started with no permission but to read what it is made of", () => {
    const given = argumentsOf({
      deno: "deno",
      program: "/p.ts",
      readable: ["/a", "/b,c"],
      memory: 2 ** 29,
      packages: false
    })
    assert.deepStrictEqual(
      given.filter((one) => one.startsWith("--allow")),
      ["--allow-read=/a,/b,,c"]
    )
    assert.include(given, "--v8-flags=--wasm-max-mem-pages=8192,--max-old-space-size=256")
    assert.notInclude(given, "-A")
  })
})

describe("the memory that interpreters start with", () => {
  it.effect("is made once, and again where it is damaged", () =>
    Effect.gen(function* () {
      const folder = yield* SnapshotCache.privateFolder(join(yield* temporary, "cache"))
      let made = 0
      const make = Effect.sync(() => {
        made += 1
        return new TextEncoder().encode("a memory")
      })
      const { digest, path } = yield* SnapshotCache.provide(folder, "0".repeat(64), make)
      const found = { path, digest, found: true }
      assert.deepStrictEqual(yield* SnapshotCache.provide(folder, "0".repeat(64), make), found)
      assert.strictEqual(made, 1)
      yield* Effect.promise(() => writeFile(path, "another memory"))
      assert.deepStrictEqual(yield* SnapshotCache.provide(folder, "0".repeat(64), make), { ...found, found: false })
      assert.strictEqual(made, 2)
      assert.strictEqual(yield* Effect.promise(() => readFile(path, "utf8")), "a memory")
      yield* SnapshotCache.provide(folder, "1".repeat(64), make)
      assert.strictEqual(made, 3)
      assert.deepStrictEqual(yield* Effect.promise(async () => (await readdir(folder)).length), 2)
    })
  )

  it.effect.skipIf(process.platform === "win32")("is kept where nobody else can write", () =>
    Effect.gen(function* () {
      const inside = yield* temporary
      const wide = join(inside, "wide")
      yield* Effect.promise(() => mkdir(wide))
      yield* Effect.promise(() => chmod(wide, 0o777))
      yield* SnapshotCache.privateFolder(wide)
      assert.strictEqual((yield* Effect.promise(() => stat(wide))).mode & 0o777, 0o700)
      yield* Effect.promise(() => symlink(wide, join(inside, "link")))
      const error = yield* Effect.flip(SnapshotCache.privateFolder(join(inside, "link")))
      assert.strictEqual(error.promise, "snapshot")
      // Whoever can move the folder can put another in its place.
      yield* Effect.promise(() => chmod(inside, 0o777))
      const movable = yield* Effect.flip(SnapshotCache.privateFolder(wide))
      assert.match(movable.message, /everybody can move/)
      yield* Effect.promise(() => chmod(inside, 0o1777))
      yield* SnapshotCache.privateFolder(wide)
    })
  )

  it.effect.skipIf(process.platform === "win32")("is none that somebody else may have put there", () =>
    Effect.gen(function* () {
      const inside = yield* temporary
      const folder = join(inside, "cache")
      const planted = new TextEncoder().encode("a memory with a trap in it")
      const name = `pyodide-${"0".repeat(32)}-${createHash("sha256").update(planted).digest("hex")}.snapshot`
      const make = Effect.succeed(new TextEncoder().encode("a memory"))
      const ways: Readonly<Record<string, () => Promise<void>>> = {
        "a folder that was open": async () => {
          await mkdir(folder)
          await writeFile(join(folder, name), planted, { mode: 0o600 })
          await chmod(folder, 0o777)
        },
        "a file that others can write": async () => {
          await mkdir(folder, { mode: 0o700 })
          await writeFile(join(folder, name), planted)
          await chmod(join(folder, name), 0o666)
        },
        "a link": async () => {
          await mkdir(folder, { mode: 0o700 })
          await writeFile(join(inside, "elsewhere"), planted, { mode: 0o600 })
          await symlink(join(inside, "elsewhere"), join(folder, name))
        },
        "another name of a file": async () => {
          await mkdir(folder, { mode: 0o700 })
          await link(join(inside, "elsewhere"), join(folder, name))
        }
      }
      for (const [way, plant] of Object.entries(ways)) {
        yield* Effect.promise(plant)
        const real = yield* SnapshotCache.privateFolder(folder)
        const { found, path } = yield* SnapshotCache.provide(real, "0".repeat(64), make)
        assert.isFalse(found, way)
        assert.strictEqual(yield* Effect.promise(() => readFile(path, "utf8")), "a memory", way)
        assert.lengthOf(yield* Effect.promise(() => readdir(folder)), 1, way)
        yield* Effect.promise(() => rm(folder, { recursive: true }))
      }
    })
  )
})
