/**
 * What changed from one tree to another, file by file. Folders with the same id are the same, and are not entered, so
 * the work follows what changed, not how large the trees are.
 *
 * Source: decisions.md §8; policy-cases O5 (a rename touches both paths), O7 (so does a mode).
 */
import { put, remove, type TreeEdit } from "./TreeEdit.ts"
import type { LibraryPath } from "./LibraryPath.ts"
import { blobId } from "./Blob.ts"
import type { BlobId } from "./ObjectId.ts"
import { child, files, isSameFile, type Tree, type TreeFile } from "./Tree.ts"
import { compareText } from "./TreeObject.ts"

/** What happened to the file at one path. */
export type FileChange =
  | { readonly _tag: "Added"; readonly path: LibraryPath; readonly after: TreeFile }
  | { readonly _tag: "Removed"; readonly path: LibraryPath; readonly before: TreeFile }
  | { readonly _tag: "Modified"; readonly path: LibraryPath; readonly before: TreeFile; readonly after: TreeFile }

/** A file that went from one path and came to another with the very same contents. */
export interface Renamed {
  readonly _tag: "Renamed"
  readonly from: LibraryPath
  /** Where it is now. */
  readonly path: LibraryPath
  readonly before: TreeFile
  readonly after: TreeFile
}

/** What happened to a file, renames told apart. */
export type TreeChange = FileChange | Renamed

const collect = (
  before: Tree | undefined,
  after: Tree | undefined,
  folder: LibraryPath | "",
  into: Array<FileChange>
) => {
  if (before?.id === after?.id) return
  if (before === undefined || after === undefined) {
    if (before !== undefined)
      for (const [path, file] of files(before, folder)) into.push({ _tag: "Removed", path, before: file })
    if (after !== undefined)
      for (const [path, file] of files(after, folder)) into.push({ _tag: "Added", path, after: file })
    return
  }
  const visit = (name: string): void => {
    const old = before.entries.get(name)
    const now = after.entries.get(name)
    if (old === now) return
    const oldFile = old?._tag === "File" ? old : undefined
    const newFile = now?._tag === "File" ? now : undefined
    if (!isSameFile(oldFile, newFile)) {
      const path = child(folder, name)
      if (oldFile === undefined) {
        if (newFile !== undefined) into.push({ _tag: "Added", path, after: newFile })
      } else if (newFile === undefined) into.push({ _tag: "Removed", path, before: oldFile })
      else into.push({ _tag: "Modified", path, before: oldFile, after: newFile })
    }
    const oldFolder = old?._tag === "Tree" ? old : undefined
    const newFolder = now?._tag === "Tree" ? now : undefined
    if (oldFolder?.id !== newFolder?.id) collect(oldFolder, newFolder, child(folder, name), into)
  }
  for (const name of before.entries.keys()) visit(name)
  for (const name of after.entries.keys()) if (!before.entries.has(name)) visit(name)
}

/** What changed from one tree to another, in the order of the paths. */
export const changes = (before: Tree, after: Tree): ReadonlyArray<FileChange> => {
  const found: Array<FileChange> = []
  collect(before, after, "", found)
  return found.toSorted((a, b) => compareText(a.path, b.path))
}

const emptyBlob: BlobId = blobId(new Uint8Array())

const nameOf = (path: LibraryPath): string => path.slice(path.lastIndexOf("/") + 1)

/**
 * The same changes, with a file that went and a file that came told as one rename where they hold the very same
 * contents. Of several, those of the same name go together first. Empty files are all the same, which says nothing.
 */
export const withRenames = (all: ReadonlyArray<FileChange>): ReadonlyArray<TreeChange> => {
  type Of<Tag extends FileChange["_tag"]> = Extract<FileChange, { readonly _tag: Tag }>
  const removed = new Map<BlobId, Set<Of<"Removed">>>()
  for (const change of all) {
    if (change._tag !== "Removed" || change.before.blob === emptyBlob) continue
    const group = removed.get(change.before.blob)
    if (group === undefined) removed.set(change.before.blob, new Set([change]))
    else group.add(change)
  }
  const origins = new Map<FileChange, Of<"Removed">>()
  const renamed = new Set<FileChange>()
  const pair = (isFit: (from: LibraryPath, to: LibraryPath) => boolean): void => {
    for (const change of all) {
      if (change._tag !== "Added" || origins.has(change)) continue
      const group = removed.get(change.after.blob)
      if (group === undefined) continue
      for (const origin of group) {
        if (!isFit(origin.path, change.path)) continue
        group.delete(origin)
        origins.set(change, origin)
        renamed.add(origin)
        break
      }
    }
  }
  pair((from, to) => nameOf(from) === nameOf(to))
  pair(() => true)
  return all.flatMap((change): ReadonlyArray<TreeChange> => {
    if (renamed.has(change)) return []
    const origin = origins.get(change)
    if (origin === undefined || change._tag !== "Added") return [change]
    const { after, path } = change
    return [{ _tag: "Renamed", from: origin.path, path, before: origin.before, after }]
  })
}

/** Every path that changes touch: both ends of a rename, for both need authority (O5). */
export const touchedPaths = (all: ReadonlyArray<TreeChange>): ReadonlyArray<LibraryPath> =>
  all.flatMap((change) => (change._tag === "Renamed" ? [change.from, change.path] : [change.path]))

/** The edits that make changes again, on the same tree or on another one. */
export const editsOf = (all: ReadonlyArray<TreeChange>): ReadonlyArray<TreeEdit> =>
  all.flatMap((change): ReadonlyArray<TreeEdit> => {
    switch (change._tag) {
      case "Removed":
        return [remove(change.path)]
      case "Renamed":
        return [remove(change.from), put(change.path, change.after)]
      default:
        return [put(change.path, change.after)]
    }
  })

/** The contents that must be loaded to look into changes. */
export const blobsOf = (all: ReadonlyArray<TreeChange>): ReadonlySet<BlobId> => {
  const ids = new Set<BlobId>()
  for (const change of all) {
    if (change._tag !== "Added") ids.add(change.before.blob)
    if (change._tag !== "Removed") ids.add(change.after.blob)
  }
  return ids
}
