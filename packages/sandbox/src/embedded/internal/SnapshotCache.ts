/**
 * The memory that interpreters start with, made once for each version of what it is made of, and kept in a private
 * folder of the host: a start takes a fifth of the time with it.
 *
 * Its file has the hash of its content in its name, is written beside and moved into place, and is verified when it is
 * found; every interpreter verifies it again before it starts with it. The name proves only that the content is whole:
 * whoever can write into the folder can have every session start with a memory of theirs. So nobody but the host's own
 * user may, nobody else may be able to move the folder, and what is found there has to be the host's own.
 */
import * as Effect from "effect/Effect"
import { createHash, randomUUID } from "node:crypto"
import { chmod, lstat, mkdir, readdir, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
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

const isSnapshot = (name: string): boolean => name.startsWith("pyodide-") && name.endsWith(".snapshot")

/** The folder above that everybody can move things in; nothing where there is none. In a sticky one only owners can. */
const exposed = async (path: string): Promise<string | undefined> => {
  for (let at = dirname(path); ; at = dirname(at)) {
    // oxlint-disable-next-line no-await-in-loop -- one folder after another, up to the root
    const { mode } = await stat(at)
    if ((mode & 0o1002) === 0o0002) return at
    if (at === dirname(at)) return undefined
  }
}

/**
 * Makes the folder where it is missing, and makes sure that it is nobody else's. What others may have put into it is
 * thrown away. Answers its path without links.
 */
export const privateFolder = Effect.fnUntraced(function* (path: string) {
  yield* attempt("the folder of the snapshot cannot be made", () => mkdir(path, { recursive: true, mode: 0o700 }))
  const about = yield* attempt("the folder of the snapshot cannot be read", () => lstat(path))
  if (!about.isDirectory()) return yield* unfit(`${path} is no folder`)
  const own = process.getuid?.()
  if (own !== undefined && about.uid !== own) return yield* unfit(`${path} belongs to somebody else`)
  if (own !== undefined && (about.mode & 0o077) !== 0) {
    yield* attempt(`${path} cannot be made private`, async () => {
      await chmod(path, 0o700)
      if ((about.mode & 0o022) === 0) return
      const planted = (await readdir(path)).filter(isSnapshot)
      await Promise.all(planted.map((name) => rm(join(path, name), { recursive: true, force: true })))
    })
  }
  const real = yield* attempt("the folder of the snapshot cannot be read", () => realpath(path))
  if (own === undefined) return real
  const open = yield* attempt("the folders above the snapshot cannot be read", () => exposed(real))
  return open === undefined ? real : yield* unfit(`everybody can move what is in ${open}`)
})

const hashOf = (content: Uint8Array): string => createHash("sha256").update(content).digest("hex")

/** The content of a file that nobody but this user can have written; undefined where it is another thing. */
const contentOf = async (path: string): Promise<Uint8Array | undefined> => {
  const about = await lstat(path)
  const own = process.getuid?.()
  const isOwn = own === undefined || (about.uid === own && about.nlink === 1 && (about.mode & 0o022) === 0)
  return about.isFile() && isOwn ? readFile(path) : undefined
}

/** A snapshot that is whole. */
export interface Snapshot {
  readonly path: string
  /** SHA-256 of its content, in hexadecimal digits. */
  readonly digest: string
  /** Whether it was there before. */
  readonly found: boolean
}

/** The snapshot of a version, made where there is none that is whole. */
export const provide: <E>(
  folder: string,
  version: string,
  make: Effect.Effect<Uint8Array, E>
) => Effect.Effect<Snapshot, E | EmbeddedUnavailable> = Effect.fnUntraced(function* (folder, version, make) {
  const prefix = `pyodide-${version.slice(0, 32)}-`
  const names = yield* attempt("the folder of the snapshot cannot be read", () => readdir(folder))
  for (const name of names.filter((one) => isSnapshot(one) && one.startsWith(prefix))) {
    const path = join(folder, name)
    const content = yield* attempt("the snapshot cannot be read", () => contentOf(path))
    const digest = content === undefined ? "" : hashOf(content)
    if (name === `${prefix}${digest}.snapshot`) return { path, digest, found: true }
    // It is damaged, or somebody else's: another is made.
    yield* attempt("a damaged snapshot cannot be removed", () => rm(path, { recursive: true, force: true }))
  }
  const content = yield* make
  const digest = hashOf(content)
  const path = join(folder, `${prefix}${digest}.snapshot`)
  const beside = join(folder, `.${randomUUID()}.part`)
  yield* attempt("the snapshot cannot be written", async () => {
    try {
      await writeFile(beside, content, { mode: 0o600, flush: true })
      await rename(beside, path)
    } finally {
      await rm(beside, { force: true })
    }
  }).pipe(
    // A host that is told to stop would leave a part of it behind, which nobody looks for.
    Effect.uninterruptible
  )
  return { path, digest, found: false }
})
