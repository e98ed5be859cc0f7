/**
 * Conflicts as people read them: what happened to each file, and for texts what both sides have, between git's markers.
 *
 * Source: api-v2.md "Library change result" (`conflicts`); policy-cases M8, M9.
 */
import * as Option from "effect/Option"
import type { BlobContents } from "./Blob.ts"
import type { LibraryPath } from "./LibraryPath.ts"
import { merge, type MergeRegion } from "./Merge.ts"
import type { BlobId } from "./ObjectId.ts"
import * as TextBytes from "./TextBytes.ts"
import * as TextLines from "./TextLines.ts"
import { fileAt, type Tree } from "./Tree.ts"
import { MergeConflict, type TreeMerge, type TreeMergeSides } from "./TreeMerge.ts"

/** The line before what the head has. */
export const headMarker = "<<<<<<< head of the library\n"
const baseMarker = "||||||| what the change started from\n"
const partingMarker = "=======\n"
/** The line after what the change has. */
export const changeMarker = ">>>>>>> this change\n"

/** Lines that each end in a line break, so that a marker after them stands on its own line. */
const ended = (lines: ReadonlyArray<string>): ReadonlyArray<string> => lines.map(TextLines.ended)

const marked = (region: Extract<MergeRegion, { readonly _tag: "Disputed" }>): ReadonlyArray<string> => [
  headMarker,
  ...ended(region.head),
  baseMarker,
  ...ended(region.base),
  partingMarker,
  ...ended(region.change),
  changeMarker
]

/** A text with both sides of what is disputed between markers, in git's style with the base. */
export const withMarkers = (regions: ReadonlyArray<MergeRegion>): string =>
  regions
    .flatMap((region, index) => {
      if (region._tag === "Disputed") return marked(region)
      return index === regions.length - 1 ? region.lines : ended(region.lines)
    })
    .join("")

/** How many settled lines are shown beside what is disputed. */
const shownLines = 3
const skipped = "…\n"

/** The same, with no more than a few of the settled lines. */
const excerptWithMarkers = (regions: ReadonlyArray<MergeRegion>): string =>
  regions
    .flatMap((region, index) => {
      if (region._tag === "Disputed") return marked(region)
      const lines = ended(region.lines)
      const atStart = index === 0 ? [] : lines.slice(0, shownLines)
      const atEnd = index === regions.length - 1 ? [] : lines.slice(Math.max(atStart.length, lines.length - shownLines))
      const isWhole = atStart.length + atEnd.length === lines.length
      return isWhole ? lines : [...atStart, skipped, ...atEnd]
    })
    .join("")

const isText = (conflict: MergeConflict): boolean => conflict._tag === "BothModified" || conflict._tag === "BothAdded"

/** What happened, in a sentence. */
export const sentence: (conflict: MergeConflict) => string = MergeConflict.match({
  BothModified: ({ path }) => `${path}: the head of the library and this change both edited the same lines`,
  BothAdded: ({ path }) => `${path}: the head of the library and this change both added this file`,
  ModifiedButGone: ({ path }) => `${path}: this change edits a file that is no longer in the library`,
  RemovedButModified: ({ path }) => `${path}: this change deletes a file that was edited in the library`,
  Binary: ({ path }) => `${path}: the head of the library and this change both changed this file, which is not text`,
  Renamed: ({ change, head, path }) => {
    if (head !== undefined && change !== undefined) {
      return `${path}: it was moved to ${head} in the library and to ${change} by this change`
    }
    return head === undefined
      ? `${path}: this change moves it to ${change}, but it was edited or deleted in the library`
      : `${path}: this change edits or deletes it, but it was moved to ${head} in the library`
  },
  FileAndFolder: ({ path }) => `${path}: there is a file here on one side and a folder on the other`,
  NameInAnotherCase: ({ other, path }) =>
    `${path}: the library has ${other}, which differs from it in upper and lower case only`
})

/** The contents that must be loaded to show conflicts. */
export const blobsToShow = ({ base, change, head }: TreeMergeSides, { conflicts }: TreeMerge): ReadonlySet<BlobId> =>
  new Set(
    conflicts
      .filter(isText)
      .flatMap(({ path }) => [base, head, change].flatMap((tree) => fileAt(tree, path)?.blob ?? []))
  )

/** Conflicts for people; empty where there are none. The contents of `blobsToShow` must have been loaded. */
export const conflictView = (sides: TreeMergeSides, { conflicts }: TreeMerge, contents: BlobContents): string => {
  const textAt = (tree: Tree, path: LibraryPath): Option.Option<string> => {
    const found = fileAt(tree, path)
    return found === undefined ? Option.some("") : TextBytes.decode(contents.get(found.blob))
  }
  return conflicts
    .map((conflict) => {
      const heading = `${sentence(conflict)}\n`
      if (!isText(conflict)) return heading
      const texts = Option.all({
        base: textAt(sides.base, conflict.path),
        head: textAt(sides.head, conflict.path),
        change: textAt(sides.change, conflict.path)
      })
      if (Option.isNone(texts)) return heading
      const outcome = merge(texts.value)
      // Contents that agree: it is the modes that do not.
      return outcome._tag === "Clean" ? heading : `${heading}${excerptWithMarkers(outcome.regions)}`
    })
    .join("\n")
}
