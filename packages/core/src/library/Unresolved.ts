/**
 * What is left of conflicts in a change that is filed again: reject files, and texts with our own markers or rejected
 * hunks in them. A text that merely shows such lines, and did so before, is nothing to object to.
 *
 * Source: policy-cases M9, M12, M13.
 */
import * as Option from "effect/Option"
import type { BlobContents } from "./Blob.ts"
import { changeMarker, headMarker } from "./ConflictView.ts"
import type { LibraryPath } from "./LibraryPath.ts"
import { rejectSuffix } from "./Rejects.ts"
import * as TextBytes from "./TextBytes.ts"
import type { TreeFile } from "./Tree.ts"
import type { TreeChange } from "./TreeChange.ts"

/** Something that is left of a conflict. */
export interface Unresolved {
  readonly path: LibraryPath
  /** A reject file; rejected hunks in a file of another name; or both sides of a conflict between our markers. */
  readonly kind: "RejectFile" | "RejectedHunks" | "ConflictMarkers"
}

const rejectOpening = "diff a/"
const rejectEnding = "\t(rejected hunks)"

/** Whether a line is the first of a reject file. Looked for by its end, so that no line, however long, is slow to read. */
const hasRejectedHunks = (text: string): boolean => {
  for (let at = text.indexOf(rejectEnding); at >= 0; at = text.indexOf(rejectEnding, at + 1)) {
    const next = text[at + rejectEnding.length]
    if (next !== undefined && next !== "\n" && next !== "\r") continue
    const line = text.slice(text.lastIndexOf("\n", at) + 1, at)
    if (line.startsWith(rejectOpening) && line.includes(" b/", rejectOpening.length + 1)) return true
  }
  return false
}

const hasMarkers = (text: string): boolean => {
  const lines = `\n${text}`
  const start = lines.indexOf(`\n${headMarker}`)
  return start >= 0 && `${lines}\n`.includes(`\n${changeMarker}`, start)
}

/** What is left of conflicts in staged changes, by path; the contents of both their sides must have been loaded. */
export const unresolved = (changes: ReadonlyArray<TreeChange>, contents: BlobContents): ReadonlyArray<Unresolved> => {
  const textOf = (file: TreeFile): string => Option.getOrElse(TextBytes.decode(contents.get(file.blob)), () => "")
  return changes.flatMap((change): ReadonlyArray<Unresolved> => {
    if (change._tag === "Removed") return []
    const { path } = change
    const isNew = change._tag !== "Modified"
    if (isNew && path.toLowerCase().endsWith(rejectSuffix)) return [{ path, kind: "RejectFile" }]
    const text = textOf(change.after)
    const before = change._tag === "Added" ? "" : textOf(change.before)
    if (hasRejectedHunks(text) && !hasRejectedHunks(before)) return [{ path, kind: "RejectedHunks" }]
    return hasMarkers(text) && !hasMarkers(before) ? [{ path, kind: "ConflictMarkers" }] : []
  })
}
