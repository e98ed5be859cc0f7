/**
 * What the library is measured with: a text in three versions, and a tree of many files in two, the same for both
 * sides of the comparison and in every run.
 */
import { blobId } from "@castellan/core/library/Blob"
import { parse } from "@castellan/core/library/LibraryPath"
import type { MergeSides } from "@castellan/core/library/Merge"
import { empty, file, type Tree } from "@castellan/core/library/Tree"
import { apply, put, type TreeEdit } from "@castellan/core/library/TreeEdit"
import { Result } from "effect"

/** A text in three versions: each side edits a line in every two hundred, never the same one. */
export const textOf = (lineCount: number): MergeSides => {
  const base = Array.from({ length: lineCount }, (_, line) =>
    line % 5 === 4 ? "\n" : `Line ${line} of a document that two people edit at once\n`
  )
  const edited = (offset: number, by: string): string =>
    base.map((line, index) => (index % 200 === offset ? `${by} wrote line ${index}\n` : line)).join("")
  return { base: base.join(""), head: edited(50, "Head"), change: edited(151, "Change") }
}

/** What the file of a number holds in its first version, or when it is edited. */
export const contentsOf = (index: number, isEdited: boolean): string => `File ${index}${isEdited ? ", edited" : ""}\n`

/** Where the file of a number is: a hundred in a folder, a hundred folders in one. */
export const pathOf = (index: number): string =>
  `area-${Math.floor(index / 10_000)}/topic-${Math.floor(index / 100) % 100}/note-${index % 100}.md`

const utf8 = new TextEncoder()

/** The edit that puts a file there. */
export const editOf = (index: number, isEdited: boolean): TreeEdit =>
  put(Result.getOrThrow(parse(pathOf(index))), file(blobId(utf8.encode(contentsOf(index, isEdited)))))

/** A tree of so many files. */
export const treeOf = (fileCount: number): Tree =>
  Result.getOrThrow(
    apply(
      empty,
      Array.from({ length: fileCount }, (_, index) => editOf(index, false))
    )
  )

/** The numbers of the files that are edited, spread over all of them. */
export const editedOf = (fileCount: number, count: number): ReadonlyArray<number> =>
  Array.from({ length: count }, (_, index) => Math.floor((index * fileCount) / count))
