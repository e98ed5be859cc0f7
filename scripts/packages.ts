/**
 * The public packages of the workspace, read from their manifests, so that no script keeps a list of its own.
 */
import * as Schema from "effect/Schema"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** The root of the workspace. */
export const root: string = join(import.meta.dirname, "..")

const Versions = Schema.optionalKey(Schema.Record(Schema.String, Schema.String))

/** The part of a `package.json` that the scripts read. */
export const Manifest = Schema.Struct({
  name: Schema.String,
  version: Schema.String,
  dependencies: Versions,
  peerDependencies: Versions
})

/** A package that is published. */
export interface Package {
  /** The folder's name under `packages/`, and the name after the scope: `core`. */
  readonly id: string
  /** `@castellan/core` */
  readonly name: string
  readonly folder: string
  /** The packages that are there wherever this one is installed: dependencies and peers. */
  readonly needs: ReadonlyArray<string>
}

const readManifest = Schema.decodeUnknownSync(Schema.fromJsonString(Manifest))

/** The manifest of the package in a folder. */
export const manifestOf = (folder: string): typeof Manifest.Type =>
  readManifest(readFileSync(join(folder, "package.json"), "utf8"))

/** The public packages, each after the packages it needs. */
export const publicPackages = (workspace: string = root): ReadonlyArray<Package> => {
  const found = readdirSync(join(workspace, "packages")).map((id): Package => {
    const folder = join(workspace, "packages", id)
    const { dependencies = {}, name, peerDependencies = {} } = manifestOf(folder)
    return { id, name, folder, needs: [...Object.keys(dependencies), ...Object.keys(peerDependencies)] }
  })
  return inOrder(found)
}

const inOrder = (packages: ReadonlyArray<Package>): ReadonlyArray<Package> => {
  const ordered = new Set<Package>()
  const visit = (one: Package, above: ReadonlyArray<string>): void => {
    if (above.includes(one.name)) throw new Error(`packages need each other: ${[...above, one.name].join(" -> ")}`)
    for (const other of packages) {
      if (one.needs.includes(other.name)) visit(other, [...above, one.name])
    }
    ordered.add(one)
  }
  for (const one of packages) visit(one, [])
  return [...ordered]
}

/** Every TypeScript file below a folder, as sorted paths relative to it with `/` between their parts. */
export const sourcesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts") && !path.endsWith(".test.ts"))
    .toSorted()

/** Whether a path below `src` lies in a closed folder. */
export const isInternal = (path: string): boolean => path.split("/").includes("internal")

/** Whether a path below `src` is a public module: those are PascalCase. */
export const isModule = (path: string): boolean => /(^|\/)[A-Z][^/]*$/.test(path) && !isInternal(path)

/** Whether a path below `src` is a program of its own, such as a child process: those start in lower case. */
export const isEntry = (path: string): boolean => !isModule(path) && !isInternal(path) && !/(^|\/)index\.ts$/.test(path)
