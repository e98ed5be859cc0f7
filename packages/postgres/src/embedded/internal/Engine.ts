/**
 * PostgreSQL in this thread, over a folder: made on the first start, recovered on every other.
 */
import { PGlite } from "@electric-sql/pglite"
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import { DurableFiles, flush, flushAll } from "./DurableFiles.ts"
import * as FolderLock from "./FolderLock.ts"
import type { StartFailure } from "./EngineMessage.ts"

/** The major version of PostgreSQL that PGlite is, on which the layout of its files depends. */
const majorVersion = "18"

/** How PostgreSQL starts. PGlite's own parameters, but for the one that turns `fsync` off. */
const startParameters = [
  "--single",
  "-j",
  "-c",
  "exit_on_error=false",
  "-c",
  "log_checkpoints=false",
  "-c",
  "max_worker_processes=0",
  "-c",
  "max_parallel_workers=0",
  "-c",
  "max_parallel_workers_per_gather=0",
  "-c",
  "max_parallel_maintenance_workers=0",
  "-c",
  "io_method=sync",
  // A commit is answered when it is on the disk. Of the ways to have it there, this one alone reaches the file system.
  "-c",
  "fsync=on",
  "-c",
  "wal_sync_method=fsync",
  "-c",
  "synchronous_commit=on",
  "-c",
  "full_page_writes=on"
]

/** The database cannot be started. */
export class EngineFailure extends Error {
  readonly failure: StartFailure

  constructor(failure: StartFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.failure = failure
  }
}

/** Ends the thread: PostgreSQL recovers from its log when it is started again, and not before. */
export const giveUp = (): never => process.exit(70)

const start = (folder: string): Promise<PGlite> =>
  PGlite.create({ fs: new DurableFiles(folder, { onAbort: giveUp }), startParams: startParameters })

/** Makes the files of a new database beside their place, and moves them there when they are whole. */
const create = async (folder: string, data: string): Promise<void> => {
  const draft = `${data}.new`
  rmSync(draft, { recursive: true, force: true })
  const database = await start(draft)
  await database.close()
  flushAll(draft)
  renameSync(draft, data)
  flush(folder)
}

/** Starts the database of a folder. */
export const open = async (folder: string): Promise<PGlite> => {
  const data = join(folder, "data")
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (!FolderLock.take(join(folder, "lock"))) {
    throw new EngineFailure(
      "InUse",
      `another process works on the database in ${folder}: stop it first, or use a folder of your own`
    )
  }
  if (!existsSync(data)) await create(folder, data)
  const version = readFileSync(join(data, "PG_VERSION"), "utf8").trim()
  if (version !== majorVersion) {
    throw new EngineFailure(
      "Unusable",
      `the database in ${folder} is of PostgreSQL ${version}, and this version works with ${majorVersion}: export it with the version that made it, and import it into a new folder`
    )
  }
  return await start(data)
}
