/**
 * The data files of a folder at one moment, as tables. Hidden files and folders, the `ontology/` folder, symbolic
 * links and everything that is not data are passed over, so nothing outside the folder is ever reached.
 */
import { SourceUnavailable } from "@castellan/core/connector/ConnectorDriver"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import type { Dirent } from "node:fs"
import { lstat, readdir, realpath } from "node:fs/promises"
import { join } from "node:path"
import { type DataFile, formatOf, type NamedTable, tablesOf } from "./TableNames.ts"

/** A data file with what tells whether it has changed. */
export interface SnapshotFile extends DataFile {
  /** Absolute path. */
  readonly absolute: string
  /** Bytes. */
  readonly size: number
  /** Differs whenever the file's place, size, time of change or inode does. */
  readonly version: string
}

/** A table with what tells whether its files have changed. */
export interface SnapshotTable extends NamedTable<SnapshotFile> {
  /** Differs whenever the version of one of the files does. */
  readonly version: string
}

/** A folder at one moment. */
export interface FolderSnapshot {
  /** Absolute path, without symbolic links. */
  readonly folder: string
  /** Differs whenever a data file came, went or changed. */
  readonly version: string
  readonly tables: ReadonlyArray<SnapshotTable>
}

const maxDepth = 16
const maxEntries = 20_000

const hash = (parts: ReadonlyArray<string>): string =>
  createHash("sha256").update(parts.join("\n")).digest("hex").slice(0, 32)

class TooManyEntries extends Error {}

const visible = (entry: Dirent, depth: number): boolean =>
  !entry.name.startsWith(".") && !(depth === 0 && entry.name === "ontology" && entry.isDirectory())

const filesIn = async (folder: string): Promise<ReadonlyArray<SnapshotFile>> => {
  const found: Array<SnapshotFile> = []
  let entries = 0
  const visit = async (path: string, depth: number): Promise<void> => {
    const listed = await readdir(join(folder, path), { withFileTypes: true })
    entries += listed.length
    if (entries > maxEntries) throw new TooManyEntries()
    const read = listed
      .filter((entry) => visible(entry, depth))
      .map(async (entry): Promise<void> => {
        const below = path === "" ? entry.name : `${path}/${entry.name}`
        if (entry.isDirectory()) return depth < maxDepth ? visit(below, depth + 1) : undefined
        const format = entry.isFile() ? formatOf(entry.name) : undefined
        if (format === undefined) return
        const absolute = join(folder, below)
        const status = await lstat(absolute, { bigint: true })
        if (!status.isFile()) return
        const version = hash([absolute, String(status.size), String(status.mtimeNs), String(status.ino)])
        found.push({ path: below, format, absolute, size: Number(status.size), version })
      })
    await Promise.all(read)
  }
  await visit("", 0)
  return found
}

/** Looks at a folder. */
export const take = Effect.fnUntraced(function* (folder: string): Effect.fn.Return<FolderSnapshot, SourceUnavailable> {
  const { files, real } = yield* Effect.tryPromise({
    try: async () => {
      const resolved = await realpath(folder)
      return { files: await filesIn(resolved), real: resolved }
    },
    catch: (error) =>
      new SourceUnavailable({
        message:
          error instanceof TooManyEntries
            ? `the folder of this source has more than ${maxEntries} entries`
            : "the folder of this source is gone, or cannot be read"
      })
  })
  const tables = tablesOf(files).map((table): SnapshotTable => ({
    ...table,
    version: hash([table.name, ...table.files.map((file) => file.version)])
  }))
  return { folder: real, version: hash([real, ...tables.map((table) => table.version)]), tables }
})
