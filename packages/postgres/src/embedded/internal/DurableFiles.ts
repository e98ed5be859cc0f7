/**
 * Files of the embedded database that are on the disk when PostgreSQL was told so. PGlite as it comes never has
 * anything written through: it starts with `fsync` off, and its file system has no such operation.
 */
import { NodeFS } from "@electric-sql/pglite/nodefs"
import { closeSync, fsyncSync, openSync, readdirSync } from "node:fs"
import { join } from "node:path"

type Init = InstanceType<typeof NodeFS>["init"]

/** What the files are good for. */
export interface DurableFilesOptions {
  /** Called when PostgreSQL gave up (`PANIC`): nothing of it can be used any more. */
  readonly onAbort: () => void
}

/** A folder as PGlite's file system, with `fsync`. */
export class DurableFiles extends NodeFS {
  readonly #options: DurableFilesOptions

  constructor(folder: string, options: DurableFilesOptions) {
    super(folder)
    this.#options = options
  }

  override async init(...[database, given]: Parameters<Init>): ReturnType<Init> {
    const { emscriptenOpts } = await super.init(database, given)
    const writeThrough = (module: FileSystems): void => {
      const { NODEFS } = module
      NODEFS.stream_ops.fsync = (stream) => {
        NODEFS.tryFSOperation(() => fsyncSync(stream.nfd))
        return 0
      }
    }
    return {
      emscriptenOpts: {
        ...emscriptenOpts,
        onAbort: this.#options.onAbort,
        preRun: [...(emscriptenOpts.preRun ?? []), writeThrough]
      }
    }
  }
}

/** What Emscripten has for folders of Node. */
interface FileSystems {
  readonly NODEFS: {
    readonly stream_ops: { fsync?: (stream: { readonly nfd: number }) => number }
    readonly tryFSOperation: (operation: () => void) => void
  }
}

/** Writes one file, or the names in one folder, through to the disk. */
export const flush = (path: string): void => {
  const file = openSync(path, "r")
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Writes a folder and everything in it through to the disk. */
export const flushAll = (folder: string): void => {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) flushAll(path)
    else flush(path)
  }
  flush(folder)
}
