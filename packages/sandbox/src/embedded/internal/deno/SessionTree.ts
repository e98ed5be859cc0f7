/**
 * The session's files inside Pyodide: takes the host's edits over, and tells what programs changed since.
 *
 * It goes by the nodes of the file system and not by paths, so that no link of a program is followed.
 */
import type { DiskQuota } from "./DiskQuota.ts"
import { contentOf, type FileNode, type FileSystem, nodesIn } from "./Pyodide.ts"
import { type FileEdit, filesRoot, split } from "./Wire.ts"

/** What is below the root now. */
export type TreeChange =
  | { readonly kind: "file"; readonly path: string; readonly content: Uint8Array }
  | { readonly kind: "directory" | "other" | "gone"; readonly path: string }
  | { readonly kind: "link"; readonly path: string; readonly target: string }

/** Folders within each other that are walked. */
const maximumDepth = 64

interface Mark {
  readonly id: number
  readonly revision: number
}

/** The files of one session. */
export class SessionTree {
  readonly #files: FileSystem
  readonly #quota: DiskQuota
  #known = new Map<string, Mark>()

  constructor(files: FileSystem, quota: DiskQuota) {
    this.#files = files
    this.#quota = quota
  }

  /** Takes the host's edits over: what stands in the way of one makes room. */
  apply(edits: ReadonlyArray<FileEdit>, payload: Uint8Array): void {
    this.#quota.lifted(() => {
      const contents = split(payload, edits)
      for (const edit of edits) {
        const { value } = contents.next()
        this.#edit(edit, value ?? new Uint8Array(0))
      }
    })
  }

  #edit(edit: FileEdit, content: Uint8Array): void {
    const parts = edit.path.split("/")
    const name = parts.pop() ?? ""
    const folder = this.#folder(parts, edit.kind !== "gone")
    if (folder === undefined) return
    const path = `${filesRoot}/${edit.path}`
    const present = nodesIn(folder)[name]
    if (edit.kind === "directory" && present !== undefined && this.#files.isDir(present.mode)) return
    if (present !== undefined && !(edit.kind === "file" && this.#files.isFile(present.mode)))
      this.#remove(path, present)
    if (edit.kind === "file") this.#files.writeFile(path, content)
    else if (edit.kind === "directory") this.#files.mkdir(path)
    else if (edit.kind === "link") this.#files.symlink(edit.target ?? "", path)
    const node = nodesIn(folder)[name]
    if (node === undefined) this.#known.delete(edit.path)
    else this.#known.set(edit.path, markOf(node))
  }

  /** The folder at a path, made where it is wanted; what is no folder goes. */
  #folder(parts: ReadonlyArray<string>, make: boolean): FileNode | undefined {
    let node = this.#root()
    let path = filesRoot
    for (const [index, part] of parts.entries()) {
      path = `${path}/${part}`
      let below = nodesIn(node)[part]
      if (below !== undefined && !this.#files.isDir(below.mode)) {
        if (!make) return undefined
        this.#remove(path, below)
        below = undefined
      }
      if (below === undefined) {
        if (!make) return undefined
        this.#files.mkdir(path)
        below = nodesIn(node)[part]
        if (below === undefined) return undefined
        this.#known.set(parts.slice(0, index + 1).join("/"), markOf(below))
      }
      node = below
    }
    return node
  }

  #root(): FileNode {
    this.#files.mkdirTree(filesRoot)
    return this.#files.lookupPath(filesRoot, { follow: false }).node
  }

  #remove(path: string, node: FileNode): void {
    if (!this.#files.isDir(node.mode)) return this.#files.unlink(path)
    for (const [name, below] of Object.entries(nodesIn(node))) this.#remove(`${path}/${name}`, below)
    this.#files.rmdir(path)
  }

  /** What was made, changed or removed since this was asked last, and since the host's edits. */
  changes(): ReadonlyArray<TreeChange> {
    const now = new Map<string, Mark>()
    const changes: Array<TreeChange> = []
    const walk = (node: FileNode, prefix: string, depth: number): void => {
      for (const [name, below] of Object.entries(nodesIn(node))) {
        const path = prefix === "" ? name : `${prefix}/${name}`
        const mark = markOf(below)
        const before = this.#known.get(path)
        now.set(path, mark)
        if (before?.id !== mark.id || before.revision !== mark.revision) changes.push(this.#change(below, path))
        if (this.#files.isDir(below.mode) && depth < maximumDepth) walk(below, path, depth + 1)
      }
    }
    walk(this.#root(), "", 1)
    const gone = [...this.#known.keys()]
      .filter((path) => !now.has(path))
      .map((path) => ({ kind: "gone" as const, path }))
    this.#known = now
    return [...gone, ...changes]
  }

  #change(node: FileNode, path: string): TreeChange {
    const content = contentOf(node)
    if (content !== undefined) return { kind: "file", path, content }
    if (this.#files.isDir(node.mode)) return { kind: "directory", path }
    return this.#files.isLink(node.mode) ? { kind: "link", path, target: node.link ?? "" } : { kind: "other", path }
  }
}

const markOf = (node: FileNode): Mark => ({ id: node.id, revision: node.revision ?? 0 })
