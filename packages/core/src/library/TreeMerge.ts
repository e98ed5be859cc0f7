/**
 * Three-way merge of whole trees: what only one side changed is taken, texts that both changed are merged line by line,
 * and everything that would need a guess is a conflict, with both sides in it. Nothing is dropped in silence.
 *
 * Source: decisions.md §8 ("Merge is three-way against the tree's head"); policy-cases M1 to M6.
 */
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { BlobContents, blobId } from "./Blob.ts"
import { ancestors, LibraryPath } from "./LibraryPath.ts"
import { merge } from "./Merge.ts"
import type { BlobId } from "./ObjectId.ts"
import * as TextBytes from "./TextBytes.ts"
import { file, fileAt, isSameFile, type Tree, type TreeFile } from "./Tree.ts"
import { changes, type FileChange, type Renamed, withRenames } from "./TreeChange.ts"
import { apply, put, remove, type TreeClash, type TreeEdit } from "./TreeEdit.ts"
import { compareText } from "./TreeObject.ts"

/** Something that the library's head and a change did to the same file, and that cannot both be had. */
export const MergeConflict = Schema.TaggedUnion({
  /** Both edited the text, in the same place. */
  BothModified: { path: LibraryPath },
  /** Both made a file here, with different contents or modes. */
  BothAdded: { path: LibraryPath },
  /** The change edited a file that the head no longer has. */
  ModifiedButGone: { path: LibraryPath },
  /** The change deletes a file that the head has edited. */
  RemovedButModified: { path: LibraryPath },
  /** Both changed a file that is no text. It is never looked into. */
  Binary: { path: LibraryPath },
  /** One side moved a file that the other one moved elsewhere, edited or deleted. `path` is where it was. */
  Renamed: {
    path: LibraryPath,
    /** Where the head has it; absent where the head did not move it. */
    head: Schema.optionalKey(LibraryPath),
    /** Where the change has it; absent where the change did not move it. */
    change: Schema.optionalKey(LibraryPath)
  },
  /** One side has a file where the other one has a folder. `path` is the change's file. */
  FileAndFolder: { path: LibraryPath },
  /** The change's file has a name that differs from one of the head's in upper and lower case only. */
  NameInAnotherCase: { path: LibraryPath, other: LibraryPath }
})
export type MergeConflict = typeof MergeConflict.Type

/** The trees of a merge. */
export interface TreeMergeSides {
  /** What the change started from. */
  readonly base: Tree
  /** The library's head. */
  readonly head: Tree
  /** The change. */
  readonly change: Tree
}

/** What came of a merge of trees. */
export interface TreeMerge {
  /** The head with everything of the change that could be merged; where there are conflicts, it keeps the head's. */
  readonly tree: Tree
  /** Contents that neither side had, because both had a part in them. They must be kept before the tree is. */
  readonly merged: BlobContents
  /** In the order of the paths; none where the merge is clean. */
  readonly conflicts: ReadonlyArray<MergeConflict>
}

/** One file as the three trees have it. */
interface FileSides {
  readonly path: LibraryPath
  readonly base: TreeFile | undefined
  readonly head: TreeFile | undefined
  readonly change: TreeFile | undefined
}

const byPath = (all: ReadonlyArray<FileChange>): ReadonlyMap<LibraryPath, FileChange> =>
  new Map(all.map((change) => [change.path, change]))

const after = (change: FileChange): TreeFile | undefined => (change._tag === "Removed" ? undefined : change.after)

/** The files that both sides changed, and not to the same. */
const disputed = ({ base, change, head }: TreeMergeSides): ReadonlyArray<FileSides> => {
  const ofHead = byPath(changes(base, head))
  return changes(base, change).flatMap((theirs) => {
    const ours = ofHead.get(theirs.path)
    if (ours === undefined || isSameFile(after(ours), after(theirs))) return []
    const { path } = theirs
    return [{ path, base: fileAt(base, path), head: after(ours), change: after(theirs) }]
  })
}

/** The contents that must be loaded for a merge: those of files that both sides changed. */
export const blobsToMerge = (sides: TreeMergeSides): ReadonlySet<BlobId> =>
  new Set(disputed(sides).flatMap((one) => [one.base, one.head, one.change].flatMap((side) => side?.blob ?? [])))

class Merging {
  readonly conflicts = new Map<LibraryPath, MergeConflict>()
  readonly merged: Array<readonly [BlobId, Uint8Array]> = []
  private readonly contents: BlobContents

  constructor(contents: BlobContents) {
    this.contents = contents
  }

  conflict(conflict: MergeConflict): void {
    if (!this.conflicts.has(conflict.path)) this.conflicts.set(conflict.path, conflict)
  }

  /** What becomes of a file that both sides changed; nothing where they conflict. */
  file(sides: FileSides): TreeFile | undefined {
    const { base, change, head, path } = sides
    const { BothAdded, BothModified, Binary, ModifiedButGone, RemovedButModified } = MergeConflict.cases
    if (change === undefined) this.conflict(RemovedButModified.make({ path }))
    else if (head === undefined) this.conflict(ModifiedButGone.make({ path }))
    else if (base === undefined) this.conflict(this.isText(sides) ? BothAdded.make({ path }) : Binary.make({ path }))
    else {
      // There are two modes: whichever side changed it has the other one.
      const mode = change.mode === base.mode ? head.mode : change.mode
      if (head.blob === change.blob || change.blob === base.blob) return file(head.blob, mode)
      if (head.blob === base.blob) return file(change.blob, mode)
      const texts = Option.all({ base: this.text(base), head: this.text(head), change: this.text(change) })
      if (Option.isNone(texts)) this.conflict(Binary.make({ path }))
      else {
        const outcome = merge(texts.value)
        if (outcome._tag === "Clean") return file(this.keep(outcome.text), mode)
        this.conflict(BothModified.make({ path }))
      }
    }
    return undefined
  }

  private isText({ change, head }: FileSides): boolean {
    return [head, change].every((side) => side === undefined || Option.isSome(this.text(side)))
  }

  private text({ blob }: TreeFile): Option.Option<string> {
    return TextBytes.decode(this.contents.get(blob))
  }

  private keep(text: string): BlobId {
    const bytes = TextBytes.encode(text)
    const id = blobId(bytes)
    this.merged.push([id, bytes])
    return id
  }
}

const renamesOf = (all: ReadonlyArray<FileChange>): ReadonlyMap<LibraryPath, Renamed> =>
  new Map(withRenames(all).flatMap((change) => (change._tag === "Renamed" ? [[change.from, change] as const] : [])))

/** Moves that the other side did not leave alone. They are told first: they say more than what follows from them. */
const renameConflicts = (
  ofHead: ReadonlyArray<FileChange>,
  ofChange: ReadonlyArray<FileChange>
): ReadonlyArray<Extract<MergeConflict, { readonly _tag: "Renamed" }>> => {
  const headRenames = renamesOf(ofHead)
  const changeRenames = renamesOf(ofChange)
  const headChanges = byPath(ofHead)
  const changeChanges = byPath(ofChange)
  return [...new Set([...headRenames.keys(), ...changeRenames.keys()])].flatMap((path) => {
    const head = headRenames.get(path)?.path
    const change = changeRenames.get(path)?.path
    const isMovedTwice = head !== undefined && change !== undefined && head !== change
    const isMovedAndEdited =
      (head === undefined && headChanges.get(path)?._tag === "Modified") ||
      (change === undefined && changeChanges.get(path)?._tag === "Modified")
    const isMovedAndRemoved =
      (head === undefined && headChanges.get(path)?._tag === "Removed") ||
      (change === undefined && changeChanges.get(path)?._tag === "Removed")
    if (!isMovedTwice && !isMovedAndEdited && !isMovedAndRemoved) return []
    return [
      MergeConflict.cases.Renamed.make({
        path,
        ...(head === undefined ? {} : { head }),
        ...(change === undefined ? {} : { change })
      })
    ]
  })
}

const conflictOf = (clash: TreeClash): MergeConflict | undefined => {
  switch (clash._tag) {
    case "NameInAnotherCase":
      return MergeConflict.cases.NameInAnotherCase.make({ path: clash.path, other: clash.other })
    case "FileInTheWay":
    case "FolderInTheWay":
      return MergeConflict.cases.FileAndFolder.make({ path: clash.path })
    case "NoSuchFile":
      // Both sides removed it, or the head has a folder there: either way it is gone.
      return undefined
  }
}

/** Merges a change into the library's head; the contents of `blobsToMerge` must have been loaded. */
export const mergeTrees = (sides: TreeMergeSides, contents: BlobContents): TreeMerge => {
  const { base, change, head } = sides
  if (change.id === head.id || change.id === base.id) return { tree: head, merged: BlobContents.empty, conflicts: [] }
  if (head.id === base.id) return { tree: change, merged: BlobContents.empty, conflicts: [] }
  const ofHead = changes(base, head)
  const ofChange = changes(base, change)
  const touchedByHead = byPath(ofHead)
  const merging = new Merging(contents)
  for (const conflict of renameConflicts(ofHead, ofChange)) merging.conflict(conflict)
  const both = new Map(disputed(sides).map((one) => [one.path, one]))
  let edits = ofChange.flatMap((theirs): ReadonlyArray<TreeEdit> => {
    const { path } = theirs
    const dispute = both.get(path)
    if (dispute !== undefined) {
      const outcome = merging.file(dispute)
      return outcome === undefined ? [] : [put(path, outcome)]
    }
    // Both did the same, or only the change did something.
    if (touchedByHead.has(path)) return []
    return theirs._tag === "Removed" ? [remove(path)] : [put(path, theirs.after)]
  })
  for (;;) {
    const applied = apply(head, edits)
    if (Result.isSuccess(applied)) {
      return {
        tree: applied.success,
        merged: BlobContents.of(merging.merged),
        conflicts: [...merging.conflicts.values()].toSorted((a, b) => compareText(a.path, b.path))
      }
    }
    // The edits that clash are left out, which is at least one each time; the head keeps what it has there.
    const clashing = new Set<string>(applied.failure.clashes.map(({ path }) => path))
    for (const clash of applied.failure.clashes) {
      const conflict = conflictOf(clash)
      if (conflict !== undefined) merging.conflict(conflict)
    }
    const left = edits.filter(
      ({ path }) => !clashing.has(path) && !ancestors(path).some((folder) => clashing.has(folder))
    )
    if (left.length === edits.length)
      throw new Error(`edits of a merge clash without an edit: ${applied.failure.message}`)
    edits = left
  }
}
