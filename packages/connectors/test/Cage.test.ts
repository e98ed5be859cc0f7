/**
 * The cage of processes that read what nobody vetted: what is not theirs is not there for them.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { canCage, enclose } from "../src/duckdb/internal/Enclosure.ts"
import { programFiles } from "../src/duckdb/internal/ProgramFiles.ts"
import * as Folder from "./support/Folder.ts"

const manifest = join(import.meta.dirname, "..", "package.json")

const memory = 512 * 1024 * 1024

const caged = (folder: string) => {
  mkdirSync(join(folder, "root"), { recursive: true })
  mkdirSync(join(folder, "own"), { recursive: true })
  return { root: join(folder, "root"), readable: programFiles(), writable: [join(folder, "own")] }
}

const probe = mkdtempSync(join(tmpdir(), "castellan-cage-"))
const cageable = await canCage(join(probe, "own"), caged(probe))
rmSync(probe, { recursive: true })

if (!cageable && process.platform === "linux") {
  process.stderr.write("SKIPPED: tests of the cage, because this machine allows no user namespaces\n")
}

describe.runIf(cageable)("a cage", () => {
  /** What a program of Node prints in one. */
  const run = (folder: string, program: string) =>
    Effect.callback<string>((resume) => {
      const command = enclose(
        { program: process.execPath, arguments: ["-e", program] },
        { folder: join(folder, "own"), cage: caged(folder), memory, sealed: true }
      )
      const env = { SECRET: "of the host" }
      execFile(command.program, command.arguments, { env }, (error, stdout, stderr) => {
        resume(error === null ? Effect.succeed(stdout.trim()) : Effect.die(new Error(stderr)))
      })
    })

  const attempt = (statement: string): string =>
    `const fs = require("fs"); try { console.log(${statement} ?? "done") } catch (error) { console.log(error.code) }`

  it.live.each([
    { what: "accounts", statement: 'fs.readFileSync("/etc/passwd")', code: "ENOENT" },
    { what: "homes", statement: 'fs.readdirSync("/home")', code: "ENOENT" },
    { what: "the superuser's home", statement: 'fs.readdirSync("/root")', code: "ENOENT" },
    { what: "other processes", statement: 'fs.readFileSync("/proc/1/environ")', code: "ENOENT" },
    { what: "the server's process", statement: "fs.readFileSync(`/proc/${process.ppid}/environ`)", code: "ENOENT" },
    { what: "logs and mail", statement: 'fs.readdirSync("/var")', code: "ENOENT" },
    { what: "its own root to write", statement: 'fs.writeFileSync("/new", "x")', code: "EROFS" },
    { what: "its libraries to write", statement: 'fs.writeFileSync("/usr/lib/new", "x")', code: "EROFS" },
    { what: "its program to write", statement: `fs.appendFileSync(${JSON.stringify(manifest)}, "")`, code: "EROFS" }
  ])("has not $what", ({ code, statement }) =>
    Effect.gen(function* () {
      const folder = yield* Folder.scoped({ "secret.txt": "of the host" })
      assert.strictEqual(yield* run(folder, attempt(statement)), code)
      const outside = `fs.readFileSync(${JSON.stringify(join(folder, "secret.txt"))})`
      assert.strictEqual(yield* run(folder, attempt(outside)), "ENOENT")
    })
  )

  it.live("has its own directory, starts in it, and knows how much memory it uses", () =>
    Effect.gen(function* () {
      const folder = yield* Folder.scoped({})
      assert.strictEqual(yield* run(folder, attempt('fs.writeFileSync("mine.txt", "x")')), "done")
      assert.strictEqual(readFileSync(join(folder, "own", "mine.txt"), "utf8"), "x")
      assert.strictEqual(yield* run(folder, attempt("process.memoryUsage.rss() > 1e6")), "true")
    })
  )

  it.live("has nothing of the environment, and cannot be undone", () =>
    Effect.gen(function* () {
      const folder = yield* Folder.scoped({})
      assert.strictEqual(yield* run(folder, attempt("Object.keys(process.env).length")), "0")
      assert.notInclude(yield* run(folder, attempt('fs.readFileSync("/proc/self/environ", "latin1")')), "of the host")
      const undo = 'require("child_process").spawnSync("/bin/mount", ["-o", "remount,bind,rw", "/"]).status'
      assert.notStrictEqual(yield* run(folder, attempt(undo)), "0")
    })
  )
})
