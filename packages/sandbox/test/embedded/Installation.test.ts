import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises"
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
      const path = yield* SnapshotCache.provide(folder, "0".repeat(64), make)
      assert.strictEqual(yield* SnapshotCache.provide(folder, "0".repeat(64), make), path)
      assert.strictEqual(made, 1)
      yield* Effect.promise(() => writeFile(path, "another memory"))
      assert.strictEqual(yield* SnapshotCache.provide(folder, "0".repeat(64), make), path)
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
    })
  )
})
