/**
 * A tree as rows: one for each of its folders, as git writes it, with the ids of the folders in it, so that a database
 * finds everything below a folder without looking into what git wrote.
 */
import type { TreeId } from "@castellan/core/library/ObjectId"
import { BlobId } from "@castellan/core/library/ObjectId"
import { file, Tree, type TreeEntry } from "@castellan/core/library/Tree"
import * as TreeObject from "@castellan/core/library/TreeObject"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

/** A folder as a row keeps it. */
export interface FolderRow {
  readonly id: string
  /** git's object, with its header. */
  readonly object: Uint8Array
}

/** The folders in a folder, each once. */
export const foldersIn = (tree: Tree): ReadonlyArray<Tree> => {
  const folders = new Map<TreeId, Tree>()
  for (const entry of tree.entries.values()) if (entry._tag === "Tree") folders.set(entry.id, entry)
  return [...folders.values()]
}

/** A folder as git writes it. */
export const objectOf = (tree: Tree): Uint8Array => TreeObject.encode(tree.rows()).bytes

/** The rows of a folder's object, after the header that ends in a NUL. */
const rowsOf = (object: Uint8Array) => TreeObject.decode(object.subarray(object.indexOf(0) + 1))

/**
 * The tree of rows that hold its folders. Everything is hashed again on the way: a folder that is not what its id says
 * is a defect, and so is one that is missing.
 */
export const assemble = (root: TreeId, rows: ReadonlyArray<FolderRow>): Effect.Effect<Tree> => {
  const objects = new Map(rows.map(({ id, object }) => [id, object]))
  const built = new Map<string, Tree>()
  const build = (id: string): Result.Result<Tree, Error> => {
    const known = built.get(id)
    if (known !== undefined) return Result.succeed(known)
    const object = objects.get(id)
    if (object === undefined) return Result.fail(new Error(`the folder ${id} of a library is missing`))
    // Taken out, so that a folder within itself, which only a broken row can be, is one that is missing.
    objects.delete(id)
    const decoded = rowsOf(object)
    if (Result.isFailure(decoded)) return Result.fail(new Error(`the folder ${id} of a library cannot be read`))
    const entries: Array<readonly [string, TreeEntry]> = []
    for (const row of decoded.success) {
      if (row.mode !== TreeObject.folderMode) {
        entries.push([row.name, file(BlobId.make(row.id, { disableChecks: true }), row.mode)])
        continue
      }
      const folder = build(row.id)
      if (Result.isFailure(folder)) return folder
      entries.push([row.name, folder.success])
    }
    const tree = Tree.of(entries)
    if (tree.id !== id) return Result.fail(new Error(`the folder ${id} of a library is not what its id says`))
    built.set(id, tree)
    return Result.succeed(tree)
  }
  return Effect.orDie(Effect.suspend(() => Effect.fromResult(build(root))))
}
