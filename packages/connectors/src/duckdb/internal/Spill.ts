/**
 * How much an engine has spilled.
 */
import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"

/** How the names of the engine's temporary files begin. */
const begin = "duckdb_temp"

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/** Bytes of the temporary files of the engine in a directory. */
export const spilled = (directory: string): number =>
  readdirSync(directory).reduce((sum, name) => (name.startsWith(begin) ? sum + sizeOf(join(directory, name)) : sum), 0)
