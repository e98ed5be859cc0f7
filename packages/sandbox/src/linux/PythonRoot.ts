/**
 * Builds a root for the Linux tier: a folder with a Python, what it needs and some commands, and nothing else, so that
 * the files of the host are not the sandbox's. It is read-only in a sandbox and can be shared by any number of hosts.
 *
 * It is made from packages of Debian or Ubuntu that are installed, with all that they depend on, or from a virtual
 * environment. Nothing is downloaded, and no right of root is needed.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { randomBytes } from "node:crypto"
import { readdir, rename, rm } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { collectPackages, defaultPackages } from "./internal/DebianPackages.ts"
import { RootCopy } from "./internal/RootCopy.ts"
import { collectEnvironment, defaultCommands } from "./internal/VirtualEnvironment.ts"

/** What a root is built from. */
export type RootSource =
  /** Names of packages that are installed; those of Python and of a shell come with them. */
  | { readonly packages: ReadonlyArray<string> }
  /** The folder of a virtual environment, and the commands that are found on `PATH` and go with it. */
  | { readonly environment: string; readonly commands?: ReadonlyArray<string> }

/** What was built. */
export interface BuiltRoot {
  /** The folder, as `linux.layer({ root })` takes it. */
  readonly path: string
  /** The path of its Python, as seen inside. */
  readonly python: string
  readonly files: number
  readonly bytes: number
}

/** A root could not be built; nothing of it is left. */
export class PythonRootError extends Data.TaggedError("PythonRootError")<{ readonly message: string }> {}

const detailOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const assertVacant = async (path: string): Promise<void> => {
  const present = await readdir(path).catch(() => [])
  if (present.length > 0) throw new Error(`${path} is not empty`)
}

const fill = (copy: RootCopy, source: RootSource): Promise<string> =>
  "packages" in source
    ? collectPackages(copy, [...defaultPackages, ...source.packages])
    : collectEnvironment(copy, source.environment, source.commands ?? defaultCommands)

const describe = (source: RootSource): string =>
  "packages" in source ? `packages ${source.packages.join(" ")}` : `virtual environment ${source.environment}`

/** Builds a root in a folder that is empty or not there. Takes seconds to minutes, by how much is copied. */
export const build = (path: string, source: RootSource): Effect.Effect<BuiltRoot, PythonRootError> => {
  const unfinished = join(dirname(path), `.${basename(path)}-${randomBytes(6).toString("hex")}`)
  return Effect.tryPromise({
    try: async () => {
      await assertVacant(path)
      const copy = new RootCopy(unfinished)
      const python = await fill(copy, source)
      await copy.finish({ python, source: describe(source) })
      await rm(path, { recursive: true, force: true })
      await rename(unfinished, path)
      return { path, python, files: copy.files, bytes: copy.bytes }
    },
    catch: (error) => new PythonRootError({ message: detailOf(error) })
  }).pipe(Effect.ensuring(Effect.promise(() => rm(unfinished, { recursive: true, force: true }))))
}
