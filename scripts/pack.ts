/**
 * Proves that what would be published works where it is installed: packs every public package, asks two linters about
 * the tarballs, and then uses them from an empty project outside the workspace, as a stranger would.
 *
 * Run it after a build, through pnpm: `pnpm packed`.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, posix } from "node:path"
import { isEntry, isInternal, isModule, manifestOf, publicPackages, root, sourcesIn } from "./packages.ts"
import type { Package } from "./packages.ts"
import { command, main } from "./steps.ts"

const pnpm = process.env["npm_execpath"]
if (pnpm === undefined) throw new Error("run this through pnpm, which knows how it packs: pnpm packed")

const packages = publicPackages()
const place = mkdtempSync(join(tmpdir(), "castellan-packed-"))
const project = join(place, "project")
const tarballOf = ({ id }: Package): string => join(place, `${id}.tgz`)

/** What a stranger may import of a package: `.` and the path of every public module. */
const opened = ({ folder }: Package): ReadonlyArray<string> => [".", ...pathsIn(folder, isModule)]

/** What must stay closed: every internal module, those that are still to come, and the barrel by its path. */
const closed = ({ folder, name }: Package): ReadonlyArray<string> =>
  ["index", "internal/anything", ...pathsIn(folder, isInternal)].map((path) => `${name}/${path}`)

const pathsIn = (folder: string, wanted: (path: string) => boolean): ReadonlyArray<string> =>
  sourcesIn(join(folder, "src"))
    .filter(wanted)
    .map((path) => path.slice(0, -".ts".length))

/** A program that imports every public module of every package, and looks up the programs that they start. */
const everything = (): string => {
  const modules = packages.flatMap((one) => opened(one).map((path) => posix.join(one.name, path)))
  const entries = packages.flatMap(({ folder, name }) => pathsIn(folder, isEntry).map((path) => `${name}/${path}`))
  return [
    `import { createRequire } from "node:module"`,
    ...modules.map((name, index) => `import * as m${index} from "${name}"`),
    `console.log([${modules.map((_, index) => `m${index}`).join(", ")}].length, "modules imported")`,
    `const entries: ReadonlyArray<string> = ${JSON.stringify(entries)}`,
    `for (const name of entries) console.log("found", createRequire(import.meta.url).resolve(name))`,
    ""
  ].join("\n")
}

/** The stranger's other dependencies, at the versions that the workspace was tested with. */
const others = ["effect", "@effect/platform-node", "@effect/vitest", "vitest", "typescript", "@types/node"].map(
  (name) => `${name}@${manifestOf(join(root, "node_modules", name)).version}`
)

const typeCheck = (...resolution: ReadonlyArray<string>): void =>
  command(
    join(project, "node_modules/.bin/tsc"),
    ["--noEmit", "--strict", "--target", "ES2024", "--types", "node", ...resolution, "everything.ts", "program.ts"],
    project
  )

/** Both linters over a tarball. The second one says much about what is fine, so it may speak only when it finds fault. */
const lint = (one: Package): void => {
  command("publint", ["run", tarballOf(one), "--strict"])
  const entries = opened(one).map((path) => (path === "." ? path : `./${path}`))
  const attw = [tarballOf(one), "--profile", "esm-only", "--no-emoji", "--format", "ascii", "--entrypoints", ...entries]
  try {
    command("attw", ["--quiet", ...attw])
  } catch {
    command("attw", attw)
  }
}

try {
  await main([
    ...packages.map((one) => ({
      name: `pack ${one.name}`,
      run: () => {
        command(pnpm, ["pack", "--silent", "--out", tarballOf(one)], one.folder)
        lint(one)
      }
    })),
    {
      name: "install into an empty project",
      run: () => {
        mkdirSync(project)
        cpSync(join(root, "scripts/pack"), project, { recursive: true })
        writeFileSync(join(project, "everything.ts"), everything())
        writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }))
        command("npm", ["install", "--no-audit", "--no-fund", ...packages.map(tarballOf), ...others], project)
      }
    },
    { name: "types, as Node resolves", run: () => typeCheck("--module", "NodeNext") },
    {
      name: "types, as a bundler resolves",
      run: () => typeCheck("--module", "ESNext", "--moduleResolution", "Bundler")
    },
    { name: "import everything", run: () => command("node", ["everything.ts"], project) },
    { name: "a small program", run: () => command("node", ["program.ts"], project) },
    { name: "internals are closed", run: () => command("node", ["closed.ts", ...packages.flatMap(closed)], project) }
  ])
} finally {
  rmSync(place, { recursive: true, force: true })
}
