/**
 * Fetches Pyodide's wheels into a folder of the host, once, where there is a network: by the host, which is trusted, and
 * never from inside a sandbox. Each is verified by the hash in the lock, and only then gets its name; what was begun and
 * broken off is taken up again.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import { mkdir, open, readFile, rename, rm } from "node:fs/promises"
import { createRequire } from "node:module"
import { join } from "node:path"
import { closure, isLocked, type LockedPackage, lockAt } from "./internal/PackageSet.ts"
import type { EmbeddedUnavailable } from "./EmbeddedUnavailable.ts"

/** What is fetched. */
export interface PrefetchOptions {
  /** The folder; it is made where it is missing. */
  readonly folder: string
  /** The packages; what they need is fetched with them. */
  readonly packages: ReadonlyArray<string>
  /** Where the wheels are; absent: jsDelivr's distribution of the installed Pyodide. */
  readonly source?: URL
  /** The path of the lock; absent: that of the installed Pyodide. */
  readonly lock?: string
  /** How long one wheel may take. Absent: 10 minutes. */
  readonly timeout?: Duration.Input
}

/** What became of a wheel. */
export interface Fetched {
  readonly name: string
  readonly version: string
  readonly file: string
  /** `present`: it was there and right before. */
  readonly state: "fetched" | "present"
}

/** A wheel could not be fetched. The message is for whoever runs the command. */
export class PrefetchError extends Schema.TaggedError<PrefetchError>()("PrefetchError", {
  message: Schema.String
}) {}

const require = createRequire(import.meta.url)

/** Bytes of one wheel, at most. */
const maximumWheel = 1024 * 1024 * 1024

/** The packages that most analyses want. */
export const commonPackages: ReadonlyArray<string> = ["matplotlib", "numpy", "pandas"]

const failed = (what: string) => (error: unknown) =>
  new PrefetchError({ message: `${what}: ${error instanceof Error ? error.message : String(error)}` })

const contentAt = (path: string): Promise<Uint8Array | undefined> =>
  // A file that cannot be read is one that is not there: it is fetched.
  readFile(path).catch(() => undefined)

/** Writes what is missing of a file behind what there is. */
const download = async (url: URL, path: string, signal: AbortSignal): Promise<void> => {
  const file = await open(path, "a+")
  try {
    const { size } = await file.stat()
    const response = await fetch(url, { signal, headers: size > 0 ? { range: `bytes=${size}-` } : {} })
    // All of it was there.
    if (response.status === 416) return
    if (!response.ok || response.body === null) throw new Error(`${url.href} answers ${response.status}`)
    if (response.status !== 206) await file.truncate(0)
    let written = response.status === 206 ? size : 0
    for await (const chunk of response.body) {
      written += chunk.length
      if (written > maximumWheel) throw new Error(`${url.href} is larger than any wheel`)
      await file.appendFile(chunk)
    }
    await file.sync()
  } finally {
    await file.close()
  }
}

const fetchOne = Effect.fnUntraced(function* (one: LockedPackage, source: URL, options: PrefetchOptions) {
  const path = join(options.folder, one.file_name)
  const told = { name: one.name, version: one.version, file: one.file_name }
  const present = yield* Effect.promise(() => contentAt(path))
  if (present !== undefined && isLocked(one, present)) return { ...told, state: "present" } satisfies Fetched
  const part = `${path}.part`
  const url = new URL(encodeURIComponent(one.file_name), source)
  const whole = Effect.tryPromise({
    try: async (signal) => {
      await download(url, part, signal)
      return (
        createHash("sha256")
          .update(await readFile(part))
          .digest("hex") === one.sha256
      )
    },
    catch: failed(`${one.name} cannot be fetched`)
  }).pipe(
    Effect.timeoutOrElse({
      duration: options.timeout ?? Duration.minutes(10),
      orElse: () => Effect.fail(new PrefetchError({ message: `${one.name} was not fetched in time` }))
    })
  )
  const discard = Effect.tryPromise({
    try: () => rm(part, { force: true }),
    catch: failed(`${part} cannot be removed`)
  })
  // What was taken up again may have been of another version: then all of it is fetched anew, once.
  if (!(yield* whole)) {
    yield* discard
    if (!(yield* whole)) {
      yield* discard
      return yield* new PrefetchError({ message: `${url.href} is not the file that the lock names` })
    }
  }
  yield* Effect.tryPromise({ try: () => rename(part, path), catch: failed(`${path} cannot be written`) })
  return { ...told, state: "fetched" } satisfies Fetched
})

/** Fetches wheels with all that they need; tells what became of each. */
export const prefetch: (
  options: PrefetchOptions
) => Effect.Effect<ReadonlyArray<Fetched>, EmbeddedUnavailable | PrefetchError> = Effect.fn("PackagePrefetch.prefetch")(
  function* (options) {
    const lock = yield* lockAt(options.lock ?? require.resolve("pyodide/pyodide-lock.json"))
    const found = closure(lock, options.packages)
    if (Result.isFailure(found)) return yield* new PrefetchError({ message: `Pyodide has no package ${found.failure}` })
    const { version }: { readonly version: string } = require("pyodide/package.json")
    const source = options.source ?? new URL(`https://cdn.jsdelivr.net/pyodide/v${version}/full/`)
    yield* Effect.tryPromise({
      try: () => mkdir(options.folder, { recursive: true }),
      catch: failed(`${options.folder} cannot be made`)
    })
    return yield* Effect.forEach(found.success, (one) => fetchOne(one, source, options), { concurrency: 3 })
  }
)
