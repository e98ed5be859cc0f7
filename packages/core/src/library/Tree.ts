/**
 * The library's files as an immutable tree of folders, each with the id that git gives it. Equal folders have equal
 * ids, so what did not change is shared between versions, is never hashed again, and is skipped when versions are
 * compared.
 *
 * Source: decisions.md §8; issue "Library mechanics".
 */
import { LibraryPath } from "./LibraryPath.ts"
import type { BlobId, TreeId } from "./ObjectId.ts"
import * as TreeObject from "./TreeObject.ts"

/** A file of a tree: how it may be used, and what it holds. */
export interface TreeFile {
  readonly _tag: "File"
  readonly mode: TreeObject.FileMode
  readonly blob: BlobId
}

/** A file that holds the contents with this id. */
export const file = (blob: BlobId, mode: TreeObject.FileMode = "100644"): TreeFile => ({ _tag: "File", mode, blob })

/** Whether two files are the same in every respect. */
export const isSameFile = (a: TreeFile | undefined, b: TreeFile | undefined): boolean =>
  a?.blob === b?.blob && a?.mode === b?.mode

/** What a name in a folder stands for. */
export type TreeEntry = TreeFile | Tree

const rowOf = (name: string, entry: TreeEntry): TreeObject.TreeRow =>
  entry._tag === "File"
    ? { name, mode: entry.mode, id: entry.blob }
    : { name, mode: TreeObject.folderMode, id: entry.id }

/** A folder with everything in it; the whole library is one. */
export class Tree {
  readonly _tag = "Tree"
  readonly id: TreeId
  /** What it holds, by name, in git's order. */
  readonly entries: ReadonlyMap<string, TreeEntry>
  /** How many files there are in it and in its folders. */
  readonly fileCount: number

  private constructor(id: TreeId, entries: ReadonlyMap<string, TreeEntry>) {
    let fileCount = 0
    for (const entry of entries.values()) fileCount += entry._tag === "File" ? 1 : entry.fileCount
    this.id = id
    this.entries = entries
    this.fileCount = fileCount
  }

  /** A folder that holds this. Empty folders are left out: git knows none. */
  static of(entries: Iterable<readonly [name: string, entry: TreeEntry]>): Tree {
    const kept = [...entries]
      .filter(([, entry]) => entry._tag === "File" || entry.fileCount > 0)
      .map(([name, entry]) => ({ ...rowOf(name, entry), entry }))
      .toSorted(TreeObject.compareRows)
    return new Tree(TreeObject.treeId(kept), new Map(kept.map(({ entry, name }) => [name, entry])))
  }

  /** This folder alone as a git object. */
  rows(): ReadonlyArray<TreeObject.TreeRow> {
    return Array.from(this.entries, ([name, entry]) => rowOf(name, entry))
  }
}

/** A library without files. */
export const empty: Tree = Tree.of([])

/** What a path leads to; nothing where there is nothing. */
export const find = (tree: Tree, path: LibraryPath): TreeEntry | undefined => {
  let entry: TreeEntry | undefined = tree
  for (const name of path.split("/")) {
    if (entry?._tag !== "Tree") return undefined
    entry = entry.entries.get(name)
  }
  return entry
}

/** The file at a path; nothing where there is none, or a folder. */
export const fileAt = (tree: Tree, path: LibraryPath): TreeFile | undefined => {
  const entry = find(tree, path)
  return entry?._tag === "File" ? entry : undefined
}

/** The path of a name in a folder of a tree, which holds valid paths only. */
export const child = (folder: string, name: string): LibraryPath =>
  LibraryPath.make(folder === "" ? name : `${folder}/${name}`, { disableChecks: true })

/** Every file with its path, folder by folder in git's order. */
export function* files(tree: Tree, folder: LibraryPath | "" = ""): Generator<readonly [LibraryPath, TreeFile]> {
  for (const [name, entry] of tree.entries) {
    const path = child(folder, name)
    if (entry._tag === "File") yield [path, entry]
    else yield* files(entry, path)
  }
}

/** Every folder of a tree, each before those in it, itself first: what is kept of a tree beside its files. */
export function* folders(tree: Tree): Generator<Tree> {
  yield tree
  for (const entry of tree.entries.values()) if (entry._tag === "Tree") yield* folders(entry)
}

/**
 * The part of a tree whose files are at paths that somebody may have: what is mounted for them. A folder that stays
 * whole stays the same folder.
 */
export const prune = (tree: Tree, keep: (path: LibraryPath) => boolean, folder: LibraryPath | "" = ""): Tree => {
  const kept: Array<readonly [string, TreeEntry]> = []
  let whole = true
  for (const [name, entry] of tree.entries) {
    const path = child(folder, name)
    const left = entry._tag === "File" ? (keep(path) ? entry : undefined) : prune(entry, keep, path)
    if (left !== entry) whole = false
    if (left !== undefined) kept.push([name, left])
  }
  return whole ? tree : Tree.of(kept)
}
