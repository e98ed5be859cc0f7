/**
 * The memory that interpreters start with, made once for each version of what it is made of, and kept in a private
 * folder of the host: a start takes a fifth of the time with it.
 *
 * Its file has the hash of its content in its name, is written beside and moved into place, and is verified before it
 * is used. Nobody but the host's own user may write into the folder.
 */
import * as Effect from "effect/Effect"
import { createHash, randomUUID } from "node:crypto"
import { chmod, lstat, mkdir, readdir, readFile, realpath, rename, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { EmbeddedUnavailable } from "../EmbeddedUnavailable.ts"

const unfit = (message: string): EmbeddedUnavailable =>
  new EmbeddedUnavailable({
    promise: "snapshot",
    message,
    remedy: "give the option `cache` a folder that only the host's user can write to"
  })

const attempt = <A>(what: string, work: () => Promise<A>): Effect.Effect<A, EmbeddedUnavailable> =>
  Effect.tryPromise({
    try: work,
    catch: (error) => unfit(`${what}: ${error instanceof Error ? error.message : error}`)
  })

/** The folder that is used where none is given: one for each user of the system. */
export const defaultFolder = (): string => join(tmpdir(), `castellan-sandbox-${process.getuid?.() ?? "user"}`)

/** Makes the folder where it is missing, and makes sure that it is nobody else's. Answers its path without links. */
export const privateFolder = Effect.fnUntraced(function* (path: string) {
  yield* attempt("the folder of the snapshot cannot be made", () => mkdir(path, { recursive: true, mode: 0o700 }))
  const about = yield* attempt("the folder of the snapshot cannot be read", () => lstat(path))
  if (!about.isDirectory()) return yield* unfit(`${path} is no folder`)
  const own = process.getuid?.()
  if (own !== undefined && about.uid !== own) return yield* unfit(`${path} belongs to somebody else`)
  if (own !== undefined && (about.mode & 0o077) !== 0) {
    yield* attempt(`${path} cannot be made private`, () => chmod(path, 0o700))
  }
  return yield* attempt("the folder of the snapshot cannot be read", () => realpath(path))
})

const hashOf = (content: Uint8Array): string => createHash("sha256").update(content).digest("hex")

/** The path of the snapshot of a version, made where there is none that is whole. */
export const provide: <E>(
  folder: string,
  version: string,
  make: Effect.Effect<Uint8Array, E>
) => Effect.Effect<string, E | EmbeddedUnavailable> = Effect.fnUntraced(function* (folder, version, make) {
  const prefix = `pyodide-${version.slice(0, 32)}-`
  const names = yield* attempt("the folder of the snapshot cannot be read", () => readdir(folder))
  for (const name of names.filter((one) => one.startsWith(prefix) && one.endsWith(".snapshot"))) {
    const path = join(folder, name)
    const content = yield* attempt("the snapshot cannot be read", () => readFile(path))
    if (name === `${prefix}${hashOf(content)}.snapshot`) return path
    // It is damaged: another is made.
    yield* attempt("a damaged snapshot cannot be removed", () => rm(path, { force: true }))
  }
  const content = yield* make
  const path = join(folder, `${prefix}${hashOf(content)}.snapshot`)
  const beside = join(folder, `.${randomUUID()}.part`)
  yield* attempt("the snapshot cannot be written", async () => {
    try {
      await writeFile(beside, content, { mode: 0o600, flush: true })
      await rename(beside, path)
    } finally {
      await rm(beside, { force: true })
    }
  })
  return path
})
