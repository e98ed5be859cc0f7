/** The machine's git, asked about many inputs at once: a process for each is most of what such a test costs. */
import { execFile, execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"

const environment = {
  PATH: process.env["PATH"] ?? "",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  HOME: "/nonexistent",
  LC_ALL: "C"
}

/** A folder that is gone when its use is over. */
export const inFolder = async <A>(use: (folder: string) => A | Promise<A>): Promise<A> => {
  const folder = mkdtempSync(join(tmpdir(), "castellan-library-"))
  try {
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Writes files below a folder. */
export const write = (
  folder: string,
  files: Iterable<readonly [path: string, contents: Uint8Array | string]>
): void => {
  for (const [path, contents] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), contents)
  }
}

/** What a file holds; nothing where there is none. */
export const read = (folder: string, path: string): string | undefined => {
  try {
    return readFileSync(join(folder, path), "utf8")
  } catch {
    return undefined
  }
}

/** The names in a folder. */
export const list = (folder: string): ReadonlyArray<string> => readdirSync(folder)

/** What git answers. */
export const git = (
  folder: string,
  args: ReadonlyArray<string>,
  input: Uint8Array | string = "",
  more: Readonly<Record<string, string>> = {}
): string =>
  execFileSync("git", [...args], {
    cwd: folder,
    input,
    env: { ...environment, ...more },
    encoding: "utf8",
    maxBuffer: 2 ** 30,
    stdio: ["pipe", "pipe", "pipe"]
  })

/** Runs a script in two shells at once: `$from` and `$to` are the numbers of the inputs that each is to look at. */
export const shell = async (folder: string, script: string, count: number): Promise<void> => {
  const half = Math.ceil(count / 2)
  await Promise.all(
    [
      [0, half],
      [half, count]
    ].map(([from, to]) =>
      promisify(execFile)("sh", ["-c", script], {
        cwd: folder,
        env: { ...environment, from: String(from), to: String(to) },
        maxBuffer: 2 ** 28
      })
    )
  )
}
