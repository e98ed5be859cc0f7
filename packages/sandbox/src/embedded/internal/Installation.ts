/**
 * What of npm's packages a session is made of: Deno's program, Pyodide's folder, the shell's module, our own programs.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { createHash } from "node:crypto"
import { readdir, readFile, realpath } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { EmbeddedUnavailable } from "../EmbeddedUnavailable.ts"
import { find, thisPlatform } from "./DenoBinary.ts"

/** A module of ours that Python imports. */
export interface PythonModule {
  /** Below the folder of modules: `castellan/__init__.py`. */
  readonly path: string
  readonly content: Uint8Array
}

/** What sessions are made of, by absolute paths without links. */
export interface Installation {
  readonly deno: string
  /** Pyodide's folder. */
  readonly pyodide: string
  readonly pyodideVersion: string
  /** The folder of the shell's package, and the URL of its module. */
  readonly shell: string
  readonly shellModule: string
  /** Our own programs that Deno runs, and the folder of all that they import. */
  readonly programs: string
  readonly kernelProgram: string
  readonly shellProgram: string
  readonly modules: ReadonlyArray<PythonModule>
  /** What the memory of a started interpreter depends on. */
  readonly digest: string
}

const require = createRequire(import.meta.url)

/** Our packages of Python that do not need processes. */
const pythonPackages = ["castellan", "castellan_embedded"]

/** From this file's folder to Python's, in sources and when built alike. */
const pythonFolder = new URL("../../../python/", import.meta.url)

const readModules = async (): Promise<ReadonlyArray<PythonModule>> => {
  const found = await Promise.all(
    pythonPackages.map(async (name) => {
      const folder = fileURLToPath(new URL(`${name}/`, pythonFolder))
      const files = (await readdir(folder)).filter((file) => file.endsWith(".py")).toSorted()
      return Promise.all(
        files.map(async (file) => ({
          path: `${name}/${file}`,
          content: new Uint8Array(await readFile(join(folder, file)))
        }))
      )
    })
  )
  return found.flat()
}

const inWords = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const missing = (what: string) => (error: unknown) =>
  new EmbeddedUnavailable({
    promise: "pyodide",
    message: `${what} cannot be read: ${inWords(error)}`,
    remedy: "install the package @castellan/sandbox anew with its dependencies"
  })

/** Finds everything. */
export const locate: Effect.Effect<Installation, EmbeddedUnavailable> = Effect.gen(function* () {
  const found = find(thisPlatform())
  if (Result.isFailure(found)) {
    return yield* new EmbeddedUnavailable({
      promise: "deno",
      message: found.failure,
      remedy: "use the Linux or the remote tier here, or install the package that is named"
    })
  }
  const deno = found.success
  return yield* Effect.tryPromise({
    try: async (): Promise<Installation> => {
      const manifest = require.resolve("pyodide/package.json")
      const { version }: { readonly version: string } = JSON.parse(await readFile(manifest, "utf8"))
      const pyodide = await realpath(dirname(manifest))
      const shellModule = await realpath(fileURLToPath(import.meta.resolve("just-bash")))
      const kernelProgram = await realpath(require.resolve("@castellan/sandbox/embedded/deno/kernel"))
      const shellProgram = await realpath(require.resolve("@castellan/sandbox/embedded/deno/shell"))
      const modules = await readModules()
      const digest = createHash("sha256").update(`${version}\n${deno}\n`)
      for (const { content, path } of modules) digest.update(`${path}\n${content.length}\n`).update(content)
      return {
        deno,
        pyodide,
        pyodideVersion: version,
        // The module is in `dist/bundle` of its package.
        shell: dirname(dirname(dirname(shellModule))),
        shellModule: pathToFileURL(shellModule).href,
        programs: dirname(dirname(kernelProgram)),
        kernelProgram,
        shellProgram,
        modules,
        digest: digest.digest("hex")
      }
    },
    catch: missing("Pyodide or the shell")
  })
})
