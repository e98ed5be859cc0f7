/**
 * Where Deno's program is: in the package of this platform, which npm installs beside `deno` itself.
 *
 * `deno`'s own launcher is not used: it starts another process, and copies the program where it may write.
 */
import * as Result from "effect/Result"
import { accessSync, constants } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"

/** The system that a program has to run on. */
export interface Platform {
  readonly system: string
  readonly architecture: string
  /** Whether its C library is the GNU one; another cannot run Deno's program for Linux. */
  readonly gnu: boolean
}

/** The system that this runs on. */
export const thisPlatform = (): Platform => {
  // Node tells the version of the GNU library, where it runs on it.
  const report: unknown = process.platform === "linux" ? process.report.getReport() : {}
  const header: unknown = typeof report === "object" && report !== null ? Reflect.get(report, "header") : undefined
  const gnu = typeof header === "object" && header !== null && Reflect.has(header, "glibcVersionRuntime")
  return { system: process.platform, architecture: process.arch, gnu }
}

/** The name of the package that has Deno's program, or in words why there is none. */
export const packageFor = ({ architecture, gnu, system }: Platform): Result.Result<string, string> => {
  const known = ["linux", "darwin", "win32"].includes(system) && ["x64", "arm64"].includes(architecture)
  if (!known) return Result.fail(`Deno has no program for ${system} on ${architecture}`)
  if (system === "linux" && !gnu) {
    return Result.fail("Deno has no program for Linux with musl (Alpine); use an image with the GNU C library (Debian)")
  }
  return Result.succeed(`@deno/${system}-${architecture}${system === "linux" ? "-glibc" : ""}`)
}

const require = createRequire(import.meta.url)

/** The path of Deno's program, or in words why there is none. */
export const find = (platform: Platform): Result.Result<string, string> =>
  Result.flatMap(packageFor(platform), (name) => {
    const missing = `the package ${name} is not installed: install without leaving out optional dependencies`
    try {
      const beside = createRequire(require.resolve("deno/package.json"))
      const folder = dirname(beside.resolve(`${name}/package.json`))
      const program = join(folder, platform.system === "win32" ? "deno.exe" : "deno")
      accessSync(program, constants.X_OK)
      return Result.succeed(program)
    } catch {
      return Result.fail(missing)
    }
  })
