/**
 * Reject files: the hunks of a change that could not be merged, in the format of `git apply --reject`, in a file beside
 * the one they were meant for. Where git writes none, because a file is to be made that is there, edited that is gone,
 * or deleted that is another one by now, ours say it in hunks all the same.
 *
 * A conflicted file keeps the head's version, so its reject file holds every hunk of the change: none was applied, and
 * none is lost.
 *
 * Source: decisions.md §8 ("Conflicted text gets `.rej` files"); policy-cases M11 to M13.
 */
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { BlobContents, blobId } from "./Blob.ts"
import { format, type Hunk, hunksOf } from "./Hunk.ts"
import { applyHunks } from "./HunkApplication.ts"
import { ancestors, LibraryPath, parse } from "./LibraryPath.ts"
import { lineChanges } from "./LineDiff.ts"
import type { MergeSides } from "./Merge.ts"
import type { BlobId } from "./ObjectId.ts"
import * as TextBytes from "./TextBytes.ts"
import * as TextLines from "./TextLines.ts"
import { file, fileAt, type Tree, type TreeFile } from "./Tree.ts"
import { apply, put, type TreeClash } from "./TreeEdit.ts"
import type { TreeMerge, TreeMergeSides } from "./TreeMerge.ts"

/** How the names of reject files end. */
export const rejectSuffix = ".rej"

/** What a reject file holds. */
export const rejectFile = (path: string, hunks: ReadonlyArray<Hunk>): string =>
  `diff a/${path} b/${path}\t(rejected hunks)\n${hunks.map(format).join("")}`

/** The hunks that make one text another one. */
export const hunksBetween = (before: string, after: string): ReadonlyArray<Hunk> => {
  const numbers = new TextLines.LineNumbers()
  const oldLines = TextLines.split(before)
  const newLines = TextLines.split(after)
  return hunksOf(oldLines, newLines, lineChanges(numbers.of(oldLines), numbers.of(newLines)))
}

/** What `git apply --reject` makes of a text. */
export interface RejectedEdit {
  /** The head's text with the hunks that could be applied. */
  readonly text: string
  /** The reject file; none where every hunk was applied. */
  readonly reject: Option.Option<string>
}

/** Applies a change of a text to the head's version, hunk by hunk, as `git apply --reject` does. */
export const applyRejecting = (path: string, { base, change, head }: MergeSides): RejectedEdit => {
  const { lines, rejected } = applyHunks(TextLines.split(head), hunksBetween(base, change))
  return {
    text: TextLines.join(lines),
    reject: rejected.length === 0 ? Option.none() : Option.some(rejectFile(path, rejected))
  }
}

/** A reject file and the file that it is about. */
export interface Reject {
  /** The file that keeps the head's version, or is not there. */
  readonly about: LibraryPath
  /** The reject file. */
  readonly path: LibraryPath
}

/** A merge with conflicts, made ready for whoever has to resolve them. */
export interface Rejected {
  /** The merged tree with the reject files. */
  readonly tree: Tree
  /** The contents of the reject files. They must be kept before the tree is. */
  readonly added: BlobContents
  readonly rejects: ReadonlyArray<Reject>
}

/** The contents that must be loaded to write reject files. */
export const blobsToReject = ({ base, change }: TreeMergeSides, { conflicts }: TreeMerge): ReadonlySet<BlobId> =>
  new Set(
    conflicts.flatMap(({ path }) => [fileAt(base, path), fileAt(change, path)].flatMap((side) => side?.blob ?? []))
  )

/** The names that a reject file could have, the best one first. */
function* candidates(about: LibraryPath): Generator<LibraryPath> {
  const [folder = ""] = ancestors(about)
  const places = [about, folder === "" ? "conflict" : `${folder}/conflict`, "conflict"]
  for (const place of places) {
    for (let number = 0; number < 1000; number++) {
      const path = parse(`${place}${number === 0 ? "" : `.${number}`}${rejectSuffix}`)
      if (Result.isFailure(path)) break
      yield path.success
    }
  }
}

/** Where a reject file would be, were it not for a clash; nothing where another name must do. */
const besides = (about: LibraryPath, clash: TreeClash): LibraryPath | undefined => {
  // The head has a file where the change has a folder: the reject file goes beside that file.
  if (clash._tag === "FileInTheWay") return clash.file
  // The head spells the folder in another case: it goes into that one.
  if (clash._tag === "NameInAnotherCase" && about.startsWith(`${clash.path}/`)) {
    return LibraryPath.make(`${clash.other}${about.slice(clash.path.length)}`, { disableChecks: true })
  }
  return undefined
}

/** Puts a reject file beside a file under a name that nothing has. */
const putBeside = (tree: Tree, about: LibraryPath, reject: TreeFile): readonly [Tree, LibraryPath] => {
  for (const path of candidates(about)) {
    if (fileAt(tree, path) !== undefined) continue
    const applied = apply(tree, [put(path, reject)])
    if (Result.isSuccess(applied)) return [applied.success, path]
    const elsewhere = besides(about, applied.failure.clashes[0])
    if (elsewhere !== undefined && elsewhere !== about) return putBeside(tree, elsewhere, reject)
  }
  throw new Error(`there is no name for a reject file beside ${about}`)
}

/** Writes a reject file for every conflict about a text; the contents of `blobsToReject` must have been loaded. */
export const withRejects = (sides: TreeMergeSides, merge: TreeMerge, contents: BlobContents): Rejected => {
  const textAt = (tree: Tree, path: LibraryPath): Option.Option<string> => {
    const found = fileAt(tree, path)
    return found === undefined ? Option.some("") : TextBytes.decode(contents.get(found.blob))
  }
  const added: Array<readonly [BlobId, Uint8Array]> = []
  const rejects: Array<Reject> = []
  let tree = merge.tree
  for (const { path: about } of merge.conflicts) {
    const texts = Option.all({ base: textAt(sides.base, about), change: textAt(sides.change, about) })
    const hunks = Option.isSome(texts) ? hunksBetween(texts.value.base, texts.value.change) : []
    if (hunks.length === 0) continue
    const bytes = TextBytes.encode(rejectFile(about, hunks))
    const id = blobId(bytes)
    const [next, path] = putBeside(tree, about, file(id))
    tree = next
    added.push([id, bytes])
    rejects.push({ about, path })
  }
  return { tree, added: BlobContents.of(added), rejects }
}
