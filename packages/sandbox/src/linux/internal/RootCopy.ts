/**
 * A root while it is built: files of the host are copied to where they really are, links with what they lead to, and
 * programs with the libraries that they load.
 */
import { execFile } from "node:child_process"
import {
  chmod,
  constants,
  copyFile,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  realpath,
  symlink,
  writeFile
} from "node:fs/promises"
import { basename, dirname, join, resolve } from "node:path"
import { promisify } from "node:util"
import { accountFiles } from "./OuterRoots.ts"
import { manifestName, type RootManifest } from "./RootManifest.ts"

const run = promisify(execFile)

/** Runs a command of the host and gives what it says; a command may fail by its exit code and say something all the same. */
export const outputOf = async (command: string, given: ReadonlyArray<string>, mayFail = false): Promise<string> => {
  try {
    const { stdout } = await run(command, [...given], {
      env: { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" },
      maxBuffer: 256 * 1024 * 1024
    })
    return stdout
  } catch (error) {
    if (mayFail && error instanceof Error && "stdout" in error && typeof error.stdout === "string") return error.stdout
    throw error
  }
}

/** Programs and libraries that one call of `ldd` is asked about. */
const batch = 200
/** Files that are copied at the same time. */
const atOnce = 32
const elf = Buffer.from([0x7f, 0x45, 0x4c, 0x46])

const isElf = async (path: string): Promise<boolean> => {
  const file = await open(path, "r")
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0)
    return bytesRead === 4 && buffer.equals(elf)
  } finally {
    await file.close()
  }
}

const inBatches = <A>(items: ReadonlyArray<A>, size: number): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size))

/** Does something for each item, some at the same time. */
const forEach = async <A>(items: ReadonlyArray<A>, act: (item: A) => Promise<void>): Promise<void> => {
  const rest = items.values()
  const worker = async (): Promise<void> => {
    const { done, value } = rest.next()
    if (done === true) return
    await act(value)
    return worker()
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker))
}

/** Copies of the host's files below a folder. */
export class RootCopy {
  files = 0
  bytes = 0
  readonly #path: string
  /** Paths that are there, or are being copied. */
  readonly #taken = new Set<string>()
  readonly #folders = new Map<string, Promise<string>>()
  #programs: Array<string> = []

  constructor(path: string) {
    this.#path = path
  }

  /** Copies files, links and folders of the host; of a folder, only that it is there. */
  async add(paths: ReadonlyArray<string>): Promise<void> {
    await forEach(paths, (path) => this.#add(path))
    await this.#addLibraries()
  }

  /** Copies a folder with all that it holds, but for names that are left out. */
  async addTree(path: string, leaveOut: ReadonlySet<string> = new Set()): Promise<void> {
    const entries = await readdir(path, { recursive: true, withFileTypes: true })
    const wanted = entries
      .map((entry) => join(entry.parentPath, entry.name))
      .filter(
        (inner) =>
          !inner
            .slice(path.length)
            .split("/")
            .some((name) => leaveOut.has(name))
      )
    await this.add([path, ...wanted])
  }

  /** Whether something of that path, with links followed, was copied. */
  has(path: string): boolean {
    return this.#taken.has(path)
  }

  /** Adds what every root has, and says what it is. */
  async finish(manifest: RootManifest): Promise<void> {
    const top = await readdir("/", { withFileTypes: true })
    const links = top.filter((entry) => entry.isSymbolicLink() && /^(bin|lib\w*|sbin)$/.test(entry.name))
    await forEach(links, ({ name }) => this.#add(`/${name}`))
    await mkdir(join(this.#path, "etc"), { recursive: true })
    await this.#add("/etc/ld.so.cache")
    await forEach(Object.entries(accountFiles), async ([name, text]) => writeFile(join(this.#path, "etc", name), text))
    await chmod(this.#path, 0o755)
    await writeFile(join(this.#path, manifestName), `${JSON.stringify(manifest, null, 2)}\n`)
  }

  /** The same place by way of no link but a last one: what `/lib/x` is where `/lib` leads to `/usr/lib`. */
  async #real(path: string): Promise<string> {
    const folder = dirname(path)
    let real = this.#folders.get(folder)
    if (real === undefined) {
      real = realpath(folder)
      this.#folders.set(folder, real)
    }
    return join(await real, basename(path))
  }

  async #add(given: string): Promise<void> {
    const path = await this.#real(given)
    if (path === "/" || this.#taken.has(path)) return
    this.#taken.add(path)
    const found = await lstat(path)
    const target = join(this.#path, path)
    if (found.isDirectory()) {
      await mkdir(target, { recursive: true, mode: 0o755 })
      return
    }
    await mkdir(dirname(target), { recursive: true, mode: 0o755 })
    if (found.isSymbolicLink()) {
      const link = await readlink(path)
      await symlink(link, target)
      const leadsTo = resolve(dirname(path), link)
      // A link may lead nowhere on the host as well.
      const isThere = await lstat(leadsTo).then(
        () => true,
        () => false
      )
      if (isThere) await this.#add(leadsTo)
    } else if (found.isFile()) {
      await copyFile(path, target, constants.COPYFILE_FICLONE)
      // Neither set-user-id nor writable for others: whoever uses the root does not own it.
      await chmod(target, (found.mode & 0o755) | 0o444)
      this.files++
      this.bytes += found.size
      if ((found.mode & 0o111) !== 0 || /\.so(\.|$)/.test(path)) this.#programs.push(path)
    }
  }

  /** Copies the libraries that the programs load which were copied since the last time, and theirs. */
  async #addLibraries(): Promise<void> {
    const programs = this.#programs
    this.#programs = []
    if (programs.length === 0) return
    const isProgram = await Promise.all(programs.map(isElf))
    const asked = inBatches(
      programs.filter((_, index) => isProgram[index] === true),
      batch
    )
    // A library that is no program of its own lets `ldd` fail and say so, among answers of use.
    const answers = await Promise.all(asked.map((some) => outputOf("ldd", some, true)))
    const libraries = answers.join("\n").matchAll(/(?:=> |^\s+)(\/\S+) \(0x/gm)
    await this.add([...new Set([...libraries].flatMap(([, path]) => path ?? []))])
  }
}
