/**
 * Edits of a tree, all at once: files that come or are replaced, and files that go. Only the folders on their way are
 * made anew. What a tree cannot hold is refused, every clash of the edits with its reason.
 *
 * Source: decisions.md §8 ("case-fold duplicates … are refused"); issue "Library mechanics".
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { foldCase } from "./CaseFold.ts"
import { LibraryPath } from "./LibraryPath.ts"
import { child, Tree, type TreeEntry, type TreeFile } from "./Tree.ts"

/** One edit of a tree. */
export type TreeEdit =
  | { readonly _tag: "Put"; readonly path: LibraryPath; readonly file: TreeFile }
  | { readonly _tag: "Remove"; readonly path: LibraryPath }

/** A file comes to a path, or takes the place of the one that is there. */
export const put = (path: LibraryPath, file: TreeFile): TreeEdit => ({ _tag: "Put", path, file })

/** The file at a path goes. */
export const remove = (path: LibraryPath): TreeEdit => ({ _tag: "Remove", path })

/** An edit that a tree cannot take. */
export const TreeClash = Schema.TaggedUnion({
  /** There is no file to remove. */
  NoSuchFile: { path: LibraryPath },
  /** A file would have to be a folder as well, to hold `path`. */
  FileInTheWay: { path: LibraryPath, file: LibraryPath },
  /** The path is a folder that holds files. */
  FolderInTheWay: { path: LibraryPath },
  /** Another name in the folder differs from this one in upper and lower case only. */
  NameInAnotherCase: { path: LibraryPath, other: LibraryPath }
})
export type TreeClash = typeof TreeClash.Type

const sentence = TreeClash.match({
  NoSuchFile: ({ path }) => `there is no file ${path}`,
  FileInTheWay: ({ file, path }) => `${path} cannot be there, because ${file} is a file`,
  FolderInTheWay: ({ path }) => `${path} cannot be a file, because it is a folder`,
  NameInAnotherCase: ({ other, path }) => `${path} differs from ${other} in upper and lower case only`
})

/** Edits that a tree cannot take. */
export class TreeRefusal extends Schema.TaggedError<TreeRefusal>()("TreeRefusal", {
  clashes: Schema.NonEmptyArray(TreeClash)
}) {
  override get message(): string {
    return this.clashes.map(sentence).join("; ")
  }
}

/** The edits below one folder, by name. */
interface Edits {
  edit: TreeEdit | undefined
  readonly below: Map<string, Edits>
}

const byFolder = (edits: Iterable<TreeEdit>): Edits => {
  const root: Edits = { edit: undefined, below: new Map() }
  for (const edit of edits) {
    let node = root
    for (const name of edit.path.split("/")) {
      let next = node.below.get(name)
      if (next === undefined) {
        next = { edit: undefined, below: new Map() }
        node.below.set(name, next)
      }
      node = next
    }
    node.edit = edit
  }
  return root
}

function* everyEdit(edits: Edits): Generator<TreeEdit> {
  if (edits.edit !== undefined) yield edits.edit
  for (const below of edits.below.values()) yield* everyEdit(below)
}

class Editing {
  readonly clashes: Array<TreeClash> = []

  /** A folder after its edits. */
  folder(before: Tree | undefined, path: LibraryPath | "", edits: Edits): Tree {
    const entries = new Map(before?.entries)
    const added: Array<string> = []
    for (const [name, below] of edits.below) {
      const old = entries.get(name)
      const left = this.entry(old, child(path, name), below)
      if (left === undefined || (left._tag === "Tree" && left.fileCount === 0)) entries.delete(name)
      else entries.set(name, left)
      if (old === undefined && entries.has(name)) added.push(name)
    }
    this.checkCase(entries, added, path)
    return Tree.of(entries)
  }

  private entry(old: TreeEntry | undefined, path: LibraryPath, { below, edit }: Edits): TreeEntry | undefined {
    const oldFile = old?._tag === "File" ? old : undefined
    if (edit?._tag === "Remove" && oldFile === undefined) {
      this.clashes.push(TreeClash.cases.NoSuchFile.make({ path }))
    }
    if (oldFile !== undefined && edit?._tag !== "Remove" && below.size > 0) {
      for (const blocked of everyEdit({ edit: undefined, below })) {
        this.clashes.push(
          blocked._tag === "Put"
            ? TreeClash.cases.FileInTheWay.make({ path: blocked.path, file: path })
            : TreeClash.cases.NoSuchFile.make({ path: blocked.path })
        )
      }
      return edit?._tag === "Put" ? edit.file : oldFile
    }
    const oldFolder = old?._tag === "Tree" ? old : undefined
    const folder = below.size > 0 ? this.folder(oldFolder, path, { edit: undefined, below }) : oldFolder
    if (edit?._tag !== "Put") return folder
    if (folder === undefined || folder.fileCount === 0) return edit.file
    this.clashes.push(TreeClash.cases.FolderInTheWay.make({ path }))
    return folder
  }

  private checkCase(
    entries: ReadonlyMap<string, TreeEntry>,
    added: ReadonlyArray<string>,
    folder: LibraryPath | ""
  ): void {
    if (added.length === 0) return
    const isNew = new Set(added)
    const seen = new Map<string, string>()
    // Names that were there go first: the clash is the new one's.
    for (const name of [...[...entries.keys()].filter((old) => !isNew.has(old)), ...added]) {
      const folded = foldCase(name)
      const other = seen.get(folded)
      if (other === undefined) seen.set(folded, name)
      else
        this.clashes.push(
          TreeClash.cases.NameInAnotherCase.make({ path: child(folder, name), other: child(folder, other) })
        )
    }
  }
}

/**
 * A tree after edits. They are one step, in no order, so that names can be swapped and a file can become a folder; of
 * several edits of one path the last one counts.
 */
export const apply = (tree: Tree, edits: Iterable<TreeEdit>): Result.Result<Tree, TreeRefusal> => {
  const editing = new Editing()
  const root = byFolder(edits)
  if (root.below.size === 0) return Result.succeed(tree)
  const after = editing.folder(tree, "", root)
  const [first, ...others] = editing.clashes
  return first === undefined ? Result.succeed(after) : Result.fail(new TreeRefusal({ clashes: [first, ...others] }))
}
