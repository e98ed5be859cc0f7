/**
 * The wheels that sessions can import from: found in a folder by Pyodide's lock, with all that they need, each verified
 * by the hash in the lock.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import { readdir, readFile, realpath } from "node:fs/promises"
import { join } from "node:path"
import type { PackageFolder } from "../EmbeddedOptions.ts"
import { EmbeddedUnavailable } from "../EmbeddedUnavailable.ts"

/** A package of the lock; what is beside is Pyodide's own and passed on as it is. */
const LockedPackage = Schema.StructWithRest(
  Schema.Struct({
    name: Schema.String,
    version: Schema.String,
    /** A plain name, never a path: it is looked up in the host's folder. */
    file_name: Schema.String.check(Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._+-]*$/)),
    sha256: Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/)),
    depends: Schema.Array(Schema.String)
  }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)
export type LockedPackage = typeof LockedPackage.Type

/** Pyodide's lock. */
export const Lock = Schema.Struct({
  info: Schema.Unknown,
  packages: Schema.Record(Schema.String, LockedPackage)
})
export type Lock = typeof Lock.Type

const readLock = Schema.decodeUnknownEffect(Schema.fromJsonString(Lock))

/** A name as the lock's keys have it. */
export const normal = (name: string): string => name.toLowerCase().replaceAll(/[-_.]+/g, "-")

/** The packages of those names and all that they need, in the order of their names; or the name that the lock lacks. */
export const closure = (
  lock: Lock,
  names: ReadonlyArray<string>
): Result.Result<ReadonlyArray<LockedPackage>, string> => {
  const found = new Map<string, LockedPackage>()
  const pending = names.map(normal)
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (found.has(name)) continue
    const one = Object.hasOwn(lock.packages, name) ? lock.packages[name] : undefined
    if (one === undefined) return Result.fail(name)
    found.set(name, one)
    pending.push(...one.depends.map(normal))
  }
  return Result.succeed([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one))
}

/** Whether a content is what the lock says. */
export const isLocked = ({ sha256 }: LockedPackage, content: Uint8Array): boolean =>
  createHash("sha256").update(content).digest("hex") === sha256

/** Wheels that were verified. */
export interface PackageSet {
  /** The folder without links; empty where there are no wheels. */
  readonly folder: string
  readonly packages: ReadonlyArray<LockedPackage>
  /** The lock with these packages and no others, as JSON. */
  readonly lock: string
}

/** No wheels. */
export const none: PackageSet = { folder: "", packages: [], lock: "" }

const unfit = (message: string): EmbeddedUnavailable =>
  new EmbeddedUnavailable({
    promise: "packages",
    message,
    remedy: "fetch the packages anew: npx castellan-sandbox-prefetch --folder <folder> <package>…"
  })

const attempt = <A>(what: string, work: () => Promise<A>): Effect.Effect<A, EmbeddedUnavailable> =>
  Effect.tryPromise({
    try: work,
    catch: (error) => unfit(`${what}: ${error instanceof Error ? error.message : error}`)
  })

/** Reads a lock. */
export const lockAt = Effect.fnUntraced(function* (path: string) {
  const text = yield* attempt("the lock of the packages cannot be read", () => readFile(path, "utf8"))
  return yield* readLock(text).pipe(
    Effect.mapError((error) => unfit(`the lock of the packages is none: ${error.message}`))
  )
})

/** Finds and verifies the wheels of a folder. `ownLock` is the path of Pyodide's lock. */
export const load: (options: PackageFolder, ownLock: string) => Effect.Effect<PackageSet, EmbeddedUnavailable> =
  Effect.fnUntraced(function* ({ folder, lock: path, names }, ownLock) {
    const lock = yield* lockAt(path ?? ownLock)
    const real = yield* attempt("the folder of the packages cannot be read", () => realpath(folder))
    const present = new Set(yield* attempt("the folder of the packages cannot be read", () => readdir(real)))
    const wanted =
      names ??
      Object.entries(lock.packages)
        .filter(([, { file_name }]) => present.has(file_name))
        .map(([name]) => name)
    const found = closure(lock, wanted)
    if (Result.isFailure(found)) return yield* unfit(`the lock has no package ${found.failure}`)
    for (const one of found.success) {
      const content = yield* attempt(`the wheel of ${one.name} cannot be read`, () =>
        readFile(join(real, one.file_name))
      )
      if (!isLocked(one, content)) return yield* unfit(`${one.file_name} is not the file that the lock names`)
    }
    // By whole paths, of which Pyodide looks for nothing in a folder or a network.
    const packages = Object.fromEntries(
      found.success.map((one) => [normal(one.name), { ...one, file_name: join(real, one.file_name) }])
    )
    return { folder: real, packages: found.success, lock: JSON.stringify({ info: lock.info, packages }) }
  })
