/**
 * The core as it is published: JavaScript, file by file. In the workspace its `exports` point at the sources, and Node
 * takes time for every file to erase the types, which nobody pays who installs the package.
 */
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { rmSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { BenchmarkFailure } from "../BenchmarkFailure.ts"

const bench = join(import.meta.dirname, "../..")
const workspace = join(bench, "..")
const published = join(bench, "dist/core")

/** What makes JavaScript of a project that is set up to make declarations; its types are checked elsewhere. */
const javascriptOnly = [
  ["--emitDeclarationOnly", "false"],
  ["--declaration", "false"],
  ["--declarationMap", "false"],
  ["--composite", "false"],
  ["--incremental", "false"]
].flat()

/** Writes the JavaScript of the core, and answers with its folder. */
export const publish: Effect.Effect<string, BenchmarkFailure> = Effect.suspend(() => {
  rmSync(published, { recursive: true, force: true })
  const { error, status, stdout } = spawnSync(
    join(workspace, "node_modules/.bin/tsc"),
    ["--project", join(workspace, "packages/core"), ...javascriptOnly, "--noCheck", "--outDir", published],
    { encoding: "utf8" }
  )
  if (status === 0) {
    // What the core imports is found from where the core is.
    symlinkSync(join(workspace, "packages/core/node_modules"), join(published, "node_modules"))
    return Effect.succeed(published)
  }
  return Effect.fail(
    new BenchmarkFailure({ message: `the core cannot be written as JavaScript: ${error?.message ?? stdout}` })
  )
})
