/**
 * The session's files inside the shell's process: takes the host's edits over, and tells what a command changed.
 */
/* oxlint-disable no-await-in-loop -- a file system in memory, whose entries depend on those before them */
import { type FileEdit, filesRoot, split } from "./Wire.ts"

/** The file system of just-bash, as far as it is used. */
export interface ShellFileSystem {
  readonly lstat: (path: string) => Promise<ShellEntry>
  readonly readdir: (path: string) => Promise<ReadonlyArray<string>>
  readonly readFileBuffer: (path: string) => Promise<Uint8Array>
  readonly writeFile: (path: string, content: Uint8Array) => Promise<void>
  readonly readlink: (path: string) => Promise<string>
  readonly mkdir: (path: string, options: { readonly recursive: boolean }) => Promise<void>
  readonly symlink: (target: string, path: string) => Promise<void>
  readonly rm: (path: string, options: { readonly recursive: boolean; readonly force: boolean }) => Promise<void>
}

/** What the file system tells of an entry. */
export interface ShellEntry {
  readonly isFile: boolean
  readonly isDirectory: boolean
  readonly isSymbolicLink: boolean
  readonly size: number
}

/** What a command changed. */
export interface ShellChange {
  readonly path: string
  readonly kind: "file" | "directory" | "link" | "other" | "gone"
  readonly content: Uint8Array
  readonly target?: string
}

interface Known {
  readonly kind: ShellChange["kind"]
  readonly content: Uint8Array
  readonly target?: string
}

const maximumDepth = 64
const nothing = new Uint8Array(0)

const same = (one: Known, other: Known): boolean =>
  one.kind === other.kind &&
  one.target === other.target &&
  (one.content === other.content ||
    (one.content.length === other.content.length && one.content.every((byte, at) => byte === other.content[at])))

/** The files of one session's shell. */
export class ShellFiles {
  readonly system: ShellFileSystem
  readonly #maximum: number
  #known = new Map<string, Known>()

  constructor(system: ShellFileSystem, maximum: number) {
    this.system = system
    this.#maximum = maximum
  }

  /** Takes the host's edits over: what stands in the way of one makes room. */
  async apply(edits: ReadonlyArray<FileEdit>, payload: Uint8Array): Promise<void> {
    await this.system.mkdir(filesRoot, { recursive: true })
    const contents = split(payload, edits)
    for (const edit of edits) {
      const { value } = contents.next()
      await this.#edit(edit, value ?? nothing)
    }
  }

  async #edit({ kind, path, target = "" }: FileEdit, content: Uint8Array): Promise<void> {
    const at = `${filesRoot}/${path}`
    const parts = path.split("/")
    for (let depth = 1; depth < parts.length; depth += 1) {
      const folder = `${filesRoot}/${parts.slice(0, depth).join("/")}`
      const entry = await this.#look(folder)
      if (entry === undefined && kind === "gone") return this.#forget(path)
      if (entry !== undefined && !entry.isDirectory) await this.system.rm(folder, { recursive: true, force: true })
      await this.system.mkdir(folder, { recursive: true })
    }
    const present = await this.#look(at)
    if (kind === "directory" && present?.isDirectory === true) return
    if (present !== undefined) await this.system.rm(at, { recursive: true, force: true })
    if (kind === "gone") return this.#forget(path)
    if (kind === "file") await this.system.writeFile(at, content)
    else if (kind === "directory") await this.system.mkdir(at, { recursive: true })
    else await this.system.symlink(target, at)
    this.#known.set(path, kind === "link" ? { kind, content: nothing, target } : { kind, content })
  }

  #forget(path: string): void {
    this.#known.delete(path)
  }

  async #look(path: string): Promise<ShellEntry | undefined> {
    try {
      return await this.system.lstat(path)
    } catch {
      // There is nothing of that name.
      return undefined
    }
  }

  /** What was made, changed or removed since this was asked last, and since the host's edits. */
  async changes(): Promise<ReadonlyArray<ShellChange>> {
    const now = new Map<string, Known>()
    const changes: Array<ShellChange> = []
    const walk = async (prefix: string, depth: number): Promise<void> => {
      for (const name of await this.system.readdir(`${filesRoot}${prefix === "" ? "" : `/${prefix}`}`)) {
        if (now.size >= this.#maximum) throw new Error("the session has too many files")
        const path = prefix === "" ? name : `${prefix}/${name}`
        const found = await this.#read(path)
        now.set(path, found)
        const before = this.#known.get(path)
        if (before === undefined || !same(before, found)) changes.push({ path, ...found })
        if (found.kind === "directory" && depth < maximumDepth) await walk(path, depth + 1)
      }
    }
    await walk("", 1)
    const gone = [...this.#known.keys()]
      .filter((path) => !now.has(path))
      .map((path) => ({ path, kind: "gone" as const, content: nothing }))
    this.#known = now
    return [...gone, ...changes]
  }

  async #read(path: string): Promise<Known> {
    const at = `${filesRoot}/${path}`
    const entry = await this.system.lstat(at)
    if (entry.isSymbolicLink) return { kind: "link", content: nothing, target: await this.system.readlink(at) }
    if (entry.isDirectory) return { kind: "directory", content: nothing }
    return entry.isFile
      ? { kind: "file", content: await this.system.readFileBuffer(at) }
      : { kind: "other", content: nothing }
  }
}
