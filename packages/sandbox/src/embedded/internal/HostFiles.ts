/**
 * The session's files as the host keeps them: the copy that counts. Interpreters and shells come and go; each has a
 * copy of its own, gets what changed before it runs something, and hands back what that changed when it has ended.
 *
 * They are in the host's memory, so that no path of a session is ever one of the host, and nothing stays on its disk;
 * quotas bound them, of contents and of names alike. Links are kept as names and never followed.
 *
 * Whoever wrote them may be hostile, and this runs in the host's own thread: nothing here takes longer than what there is.
 */
import * as Result from "effect/Result"
import { createHash } from "node:crypto"
import type { ReportedEntry } from "../../protocol/Report.ts"
import type { FileEdit } from "./deno/Wire.ts"
import { FileRoom } from "./FileRoom.ts"

/** What there is at a path. A new object each time it is made or changed. */
export type Entry =
  | { readonly kind: "file"; readonly content: Uint8Array; digest?: string }
  | { readonly kind: "directory" }
  | { readonly kind: "link"; readonly target: string }
  | { readonly kind: "other" }

/** Why something was not done; the message is fit for the session's user. */
export interface FileRefusal {
  readonly reason: "not_found" | "invalid" | "exhausted" | "too_many_files"
  readonly message: string
}

/** What an execution did to a path. */
export type Change = { readonly path: string; readonly kind: "gone" } | ({ readonly path: string } & Entry)

/** What a process has, to know what it lacks. */
export type Copy = ReadonlyMap<string, Entry>

/** The bounds. */
export interface FileLimits {
  readonly bytes: number
  readonly count: number
}

type Listed = typeof ReportedEntry.Type

const maximumDepth = 64
const maximumName = 255

/** Characters that all names of a session may have together, for each of its files, and for those that have few. */
const namesForEach = 256
const namesAtLeast = 1024 * 1024

/** Characters of all paths and targets of links that a session may have. */
export const nameLimit = ({ count }: FileLimits): number => Math.max(namesAtLeast, count * namesForEach)
const utf8 = new TextEncoder()

const isName = (name: string): boolean =>
  name !== "" && name !== "." && name !== ".." && !name.includes("\0") && utf8.encode(name).length <= maximumName

/** Whether it is a path below the root, of names that a file can have. */
export const isPath = (path: string): boolean => {
  const names = path.split("/")
  return names.length <= maximumDepth && names.every(isName) && path.isWellFormed()
}

/** The folder that a path is in; empty: the root. */
const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")))

const foldersOf = (path: string): ReadonlyArray<string> => {
  const names = path.split("/")
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join("/"))
}

const refuse = (reason: FileRefusal["reason"], message: string): Result.Result<never, FileRefusal> =>
  Result.fail({ reason, message })

const byPath = (one: Listed, other: Listed): number => (one.path < other.path ? -1 : 1)

const sizeOf = (entry: Entry | undefined): number => (entry?.kind === "file" ? entry.content.length : 0)

const namesOf = (path: string, entry: Entry | undefined): number =>
  entry === undefined ? 0 : path.length + (entry.kind === "link" ? entry.target.length : 0)

/** The folders that every session has. */
const folders = ["library", "uploads", "outputs"]

/** The files of one session. */
export class HostFiles {
  readonly limits: FileLimits
  /** What all sessions share. */
  readonly room: FileRoom
  #entries = new Map<string, Entry>()
  /** The paths in each folder. */
  #below = new Map<string, Set<string>>()
  #bytes = 0
  #names = 0
  /** What was taken of the room. */
  #taken = 0
  #closed = false

  constructor(limits: FileLimits, room: FileRoom = new FileRoom(limits.bytes)) {
    this.limits = limits
    this.room = room
    for (const path of folders) this.#set(path, { kind: "directory" })
  }

  /** Gives its room back: the session is over. */
  close(): void {
    this.#restore(new Map())
    this.#settle()
    this.#closed = true
  }

  /** Why there is more than there may be; nothing where there is not. Takes the room for what there is. */
  #settle(): FileRefusal | undefined {
    if (this.#closed) return { reason: "invalid", message: "the session is over" }
    if (this.#bytes > this.limits.bytes) return { reason: "exhausted", message: "the session's files are full" }
    if (this.#entries.size > this.limits.count) {
      return { reason: "exhausted", message: "the session has too many files" }
    }
    if (this.#names > nameLimit(this.limits)) {
      return { reason: "exhausted", message: "the names of the session's files are too long together" }
    }
    if (!this.room.take(this.#bytes - this.#taken)) {
      return { reason: "exhausted", message: "the server has no room for more files of sandboxes" }
    }
    this.#taken = this.#bytes
    return undefined
  }

  /** Makes the files those that they were. */
  #restore(entries: Map<string, Entry>): void {
    this.#entries = new Map()
    this.#below = new Map()
    this.#bytes = 0
    this.#names = 0
    for (const [path, entry] of entries) this.#set(path, entry)
  }

  /** Changes the files as a whole, or not at all. */
  #change(work: () => FileRefusal | undefined): Result.Result<void, FileRefusal> {
    const before = new Map(this.#entries)
    const refusal = work() ?? this.#settle()
    if (refusal === undefined) return Result.succeed(undefined)
    this.#restore(before)
    this.#settle()
    return Result.fail(refusal)
  }

  /** What there is now. */
  get copy(): Copy {
    return new Map(this.#entries)
  }

  #set(path: string, entry: Entry | undefined): void {
    const present = this.#entries.get(path)
    this.#bytes += sizeOf(entry) - sizeOf(present)
    this.#names += namesOf(path, entry) - namesOf(path, present)
    const folder = folderOf(path)
    if (entry === undefined) {
      this.#entries.delete(path)
      this.#below.get(folder)?.delete(path)
      return
    }
    this.#entries.set(path, entry)
    if (present !== undefined) return
    const beside = this.#below.get(folder)
    if (beside === undefined) this.#below.set(folder, new Set([path]))
    else beside.add(path)
  }

  /** Writes a file, making its folders. */
  put(path: string, content: Uint8Array): Result.Result<void, FileRefusal> {
    if (!isPath(path)) return refuse("invalid", "a path has a name that no file can have")
    const missing: Array<string> = []
    for (const folder of foldersOf(path)) {
      const entry = this.#entries.get(folder)
      if (entry === undefined) missing.push(folder)
      else if (entry.kind !== "directory") return refuse("invalid", `${folder} is no folder`)
    }
    const present = this.#entries.get(path)
    if (present !== undefined && present.kind !== "file") return refuse("invalid", `${path} is no file`)
    for (const folder of missing) this.#set(folder, { kind: "directory" })
    this.#set(path, { kind: "file", content })
    const refusal = this.#settle()
    if (refusal === undefined) return Result.succeed(undefined)
    this.#set(path, present)
    for (const folder of missing) this.#set(folder, undefined)
    return Result.fail(refusal)
  }

  /** The content of a file. */
  get(path: string): Result.Result<Uint8Array, FileRefusal> {
    const entry = this.#entries.get(path)
    if (entry === undefined) return refuse("not_found", `${path}: no such file`)
    return entry.kind === "file" ? Result.succeed(entry.content) : refuse("invalid", `${path} is no file`)
  }

  /** Removes a file, or what stands for one. */
  remove(path: string): Result.Result<void, FileRefusal> {
    const entry = this.#entries.get(path)
    if (entry === undefined) return refuse("not_found", `${path}: no such file`)
    if (entry.kind === "directory") return refuse("invalid", `${path} is a folder`)
    this.#set(path, undefined)
    this.#settle()
    return Result.succeed(undefined)
  }

  /** The entries of a folder, with paths from the root; empty: the root's. */
  list(path: string): Result.Result<ReadonlyArray<Listed>, FileRefusal> {
    const entry: Entry | undefined = path === "" ? { kind: "directory" } : this.#entries.get(path)
    if (entry === undefined) return refuse("not_found", `${path}: no such folder`)
    if (entry.kind !== "directory") return refuse("invalid", `${path} is no folder`)
    const found: Array<Listed> = []
    for (const at of this.#below.get(path) ?? []) {
      const below = this.#entries.get(at)
      if (below !== undefined) found.push({ path: at, kind: below.kind, size: sizeOf(below) })
    }
    return Result.succeed(found.toSorted(byPath))
  }

  /** Everything below a folder, with paths from that folder and the digests of contents. */
  tree(path: string, maximum: number): Result.Result<ReadonlyArray<Listed>, FileRefusal> {
    const prefix = path === "" ? "" : `${path}/`
    const found: Array<Listed> = []
    for (const [at, entry] of this.#entries) {
      if (!at.startsWith(prefix)) continue
      if (found.length >= maximum) return refuse("too_many_files", `more than ${maximum} entries`)
      const listed = { path: at.slice(prefix.length), kind: entry.kind, size: sizeOf(entry) }
      found.push(entry.kind === "file" ? { ...listed, digest: digestOf(entry) } : listed)
    }
    return Result.succeed(found.toSorted(byPath))
  }

  /** Makes a folder hold these files and no others. */
  mount(
    path: string,
    files: ReadonlyArray<{ readonly path: string; readonly content: Uint8Array }>
  ): Result.Result<void, FileRefusal> {
    return this.#change(() => {
      this.#drop(path)
      this.#set(path, { kind: "directory" })
      for (const file of files) {
        const put = this.put(`${path}/${file.path}`, file.content)
        if (Result.isFailure(put)) return put.failure
      }
      return undefined
    })
  }

  /**
   * Takes over what an execution did. It is refused as a whole where it cannot be, or has more than it may: then the
   * files are as they were before.
   */
  apply(changes: ReadonlyArray<Change>): Result.Result<void, FileRefusal> {
    if (changes.length === 0) return Result.succeed(undefined)
    return this.#change(() => {
      for (const change of changes) {
        const { path } = change
        if (!isPath(path)) return { reason: "invalid", message: "a file has a name that no file can have" }
        if (change.kind === "gone") {
          this.#drop(path)
          continue
        }
        // What it is in is told before it.
        const folder = folderOf(path)
        if (folder !== "" && this.#entries.get(folder)?.kind !== "directory") {
          return { reason: "invalid", message: "a file is in no folder" }
        }
        const isFolder = this.#entries.get(path)?.kind === "directory"
        if (change.kind === "directory") {
          if (!isFolder) this.#set(path, { kind: "directory" })
          continue
        }
        if (isFolder) this.#drop(path)
        this.#set(path, change.kind === "file" ? { kind: "file", content: change.content } : entryOf(change))
      }
      return undefined
    })
  }

  #drop(path: string): void {
    for (const at of this.#below.get(path) ?? []) this.#drop(at)
    this.#below.delete(path)
    this.#set(path, undefined)
  }

  /** What a process that has a copy needs to have what there is now: the contents one by one, not copied. */
  editsFor(copy: Copy): { readonly edits: ReadonlyArray<FileEdit>; readonly contents: ReadonlyArray<Uint8Array> } {
    const edits: Array<FileEdit> = []
    const contents: Array<Uint8Array> = []
    for (const path of copy.keys()) if (!this.#entries.has(path)) edits.push({ path, kind: "gone", bytes: 0 })
    // Folders come before what is in them.
    for (const path of [...this.#entries.keys()].toSorted()) {
      const entry = this.#entries.get(path)
      if (entry === undefined) continue
      if (copy.get(path) === entry) continue
      if (entry.kind === "file") {
        edits.push({ path, kind: "file", bytes: entry.content.length })
        contents.push(entry.content)
      } else if (entry.kind === "link") edits.push({ path, kind: "link", bytes: 0, target: entry.target })
      else if (entry.kind === "directory") edits.push({ path, kind: "directory", bytes: 0 })
    }
    return { edits, contents }
  }
}

const entryOf = (change: Exclude<Change, { readonly kind: "gone" }>): Entry =>
  change.kind === "link" ? { kind: "link", target: change.target } : { kind: "other" }

const digestOf = (file: Extract<Entry, { readonly kind: "file" }>): string => {
  file.digest ??= createHash("sha256").update(file.content).digest("hex")
  return file.digest
}
