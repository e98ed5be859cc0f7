/**
 * Where the files are that a DuckDB process is made of: what has to be in a cage for it to start.
 */
import { existsSync, readdirSync, realpathSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"

const require = createRequire(import.meta.url)

/** Of the system: loaders and libraries, the tools that close the cage behind the process, and two devices. */
const system = [
  "/bin",
  "/lib",
  "/lib32",
  "/lib64",
  "/usr/bin",
  "/usr/lib",
  "/usr/lib32",
  "/usr/lib64",
  "/nix/store",
  "/etc/ld.so.cache",
  "/etc/ld-musl-x86_64.path",
  "/dev/null",
  "/dev/urandom"
]

/** The folder of packages that a file is in, or the package itself where it is in none: the one that is developed. */
const home = (file: string): string => {
  const parts = file.split("/")
  const packages = parts.lastIndexOf("node_modules")
  if (packages !== -1) return parts.slice(0, packages + 1).join("/")
  let folder = dirname(file)
  while (folder !== "/" && !existsSync(join(folder, "package.json"))) folder = dirname(folder)
  return folder
}

/** The folders of the engine's packages: each names the next, the last one by the platform. */
const engine = (): ReadonlyArray<string> => {
  const library = realpathSync(require.resolve("@duckdb/node-api"))
  const bindings = realpathSync(createRequire(library).resolve("@duckdb/node-bindings"))
  const vendor = join(home(bindings), "@duckdb")
  const platforms = readdirSync(vendor).map((name) => home(realpathSync(join(vendor, name))))
  return [home(library), home(bindings), ...platforms]
}

/** Absolute paths of everything that the program reads, those that hold others first; none where there are no cages. */
export const programFiles = (): ReadonlyArray<string> => {
  if (process.platform !== "linux") return []
  const script = realpathSync(require.resolve("@castellan/connectors/duckdb/child"))
  const arrow = realpathSync(require.resolve("@uwdata/flechette"))
  const core = realpathSync(require.resolve("@castellan/core/connector/ColumnNames"))
  const paths = new Set([
    ...system,
    realpathSync(process.execPath),
    process.execPath,
    home(script),
    home(arrow),
    home(core),
    ...engine()
  ])
  return [...paths].toSorted((one, other) => one.length - other.length)
}
