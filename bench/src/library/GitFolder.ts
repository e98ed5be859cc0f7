/**
 * The machine's git, with the same inputs: each command is a whole process, as a service would run it.
 */
import { Effect, type Scope } from "effect"
import { execFile, execFileSync, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { MergeSides } from "@castellan/core/library/Merge"
import { BenchmarkFailure } from "../BenchmarkFailure.ts"
import { contentsOf, pathOf } from "./Inputs.ts"

/** A folder with the inputs, as git reads them; gone with the scope. */
export const gitFolder: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "castellan-bench-library-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** Writes the three versions of a text. */
export const writeText = (folder: string, { base, change, head }: MergeSides): void => {
  writeFileSync(join(folder, "base"), base)
  writeFileSync(join(folder, "head"), head)
  writeFileSync(join(folder, "change"), change)
}

/** Makes a repository with both versions of a tree, as `refs/heads/one` and `refs/heads/two`. */
export const writeTrees = (folder: string, fileCount: number, edited: ReadonlyArray<number>): void => {
  const put = (index: number, isEdited: boolean): string => {
    const contents = contentsOf(index, isEdited)
    return `M 100644 inline ${pathOf(index)}\ndata ${contents.length}\n${contents}\n`
  }
  const commit = (name: string, from: string, files: ReadonlyArray<string>): string =>
    `commit refs/heads/${name}\ncommitter Bench <bench@example.com> 1700000000 +0000\ndata 0\n${from}${files.join("")}\n`
  execFileSync("git", ["init", "-q", folder])
  execFileSync("git", ["fast-import", "--quiet"], {
    cwd: folder,
    input:
      commit(
        "one",
        "",
        Array.from({ length: fileCount }, (_, index) => put(index, false))
      ) +
      commit(
        "two",
        "from refs/heads/one\n",
        edited.map((index) => put(index, true))
      )
  })
}

/** What a command of git's prints, and how long its process took, in milliseconds. */
export const timed = (
  folder: string,
  args: ReadonlyArray<string>
): Effect.Effect<{ readonly output: string; readonly milliseconds: number }, BenchmarkFailure> =>
  Effect.callback((resume) => {
    const started = performance.now()
    execFile("git", [...args], { cwd: folder, maxBuffer: 2 ** 28 }, (error, output) =>
      resume(
        error === null
          ? Effect.succeed({ output, milliseconds: performance.now() - started })
          : Effect.fail(new BenchmarkFailure({ message: `git ${args.join(" ")}: ${error.message}` }))
      )
    )
  })

/** The most memory that a process has had resident, in bytes; nothing once it has ended, or where nobody tells. */
const peakSoFar = (pid: number): number | undefined => {
  try {
    const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? []
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024
  } catch {
    return undefined
  }
}

/** The most memory that a command of git's has resident, in bytes, asked over and over until it ends; on Linux alone. */
export const peakOf = (folder: string, args: ReadonlyArray<string>): Effect.Effect<number | undefined> =>
  Effect.callback((resume) => {
    const child = spawn("git", [...args], { cwd: folder, stdio: "ignore" })
    let peak: number | undefined
    child.on("close", () => resume(Effect.succeed(peak)))
    child.on("error", () => resume(Effect.succeed(undefined)))
    const { pid } = child
    if (pid === undefined) return
    for (let now = peakSoFar(pid); now !== undefined; now = peakSoFar(pid)) peak = now
  })
