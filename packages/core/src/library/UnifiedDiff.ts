/**
 * Changes as git shows them: figures for each file, and one text that `git apply` accepts.
 *
 * Source: api-v2.md "Library change result" (`diffs`, `raw_diff`); git's `diff-format`.
 */
import * as Option from "effect/Option"
import type { BlobContents } from "./Blob.ts"
import type { Diff } from "./Diff.ts"
import { format, hunksOf } from "./Hunk.ts"
import { lineChanges } from "./LineDiff.ts"
import { quoted, quotedHeader } from "./QuotedPath.ts"
import type { TreeFile } from "./Tree.ts"
import type { TreeChange } from "./TreeChange.ts"
import * as TextBytes from "./TextBytes.ts"
import * as TextLines from "./TextLines.ts"

/** Changes in figures and as a text. */
export interface UnifiedDiff {
  readonly diffs: ReadonlyArray<Diff>
  /** In git's format. Contents that are no text are said to differ, and no more. */
  readonly raw: string
}

interface FileDiff {
  readonly diff: Diff
  readonly raw: string
}

/** The id that git gives to a side that is not there. */
const absent = "0".repeat(40)

const pathsOf = (change: TreeChange): { readonly old: string; readonly now: string } => ({
  old: change._tag === "Renamed" ? change.from : change.path,
  now: change.path
})

const sidesOf = (
  change: TreeChange
): { readonly before: TreeFile | undefined; readonly after: TreeFile | undefined } => ({
  before: change._tag === "Added" ? undefined : change.before,
  after: change._tag === "Removed" ? undefined : change.after
})

/** What stands between the first line of a file's diff and its hunks. */
const headersOf = (change: TreeChange): ReadonlyArray<string> => {
  const { after, before } = sidesOf(change)
  const ids = `index ${before?.blob ?? absent}..${after?.blob ?? absent}`
  if (before === undefined) return [`new file mode ${after?.mode}`, ids]
  if (after === undefined) return [`deleted file mode ${before.mode}`, ids]
  const modes = before.mode === after.mode ? [] : [`old mode ${before.mode}`, `new mode ${after.mode}`]
  if (change._tag === "Renamed") {
    return [...modes, "similarity index 100%", `rename from ${quoted(change.from)}`, `rename to ${quoted(change.path)}`]
  }
  if (before.blob === after.blob) return modes
  return [...modes, before.mode === after.mode ? `${ids} ${before.mode}` : ids]
}

const fileDiff = (change: TreeChange, contents: BlobContents): FileDiff => {
  const { now, old } = pathsOf(change)
  const { after, before } = sidesOf(change)
  const textOf = (file: TreeFile | undefined): Option.Option<string> =>
    file === undefined ? Option.some("") : TextBytes.decode(contents.get(file.blob))
  const isChanged = before?.blob !== after?.blob
  const oldText = isChanged ? textOf(before) : Option.some("")
  const newText = isChanged ? textOf(after) : Option.some("")
  const isBinary = Option.isNone(oldText) || Option.isNone(newText)
  const oldName = before === undefined ? "/dev/null" : quoted(`a/${old}`)
  const newName = after === undefined ? "/dev/null" : quoted(`b/${now}`)
  const parts = [`diff --git ${quoted(`a/${old}`)} ${quoted(`b/${now}`)}`, ...headersOf(change)].map(
    (line) => `${line}\n`
  )
  let additions = 0
  let deletions = 0
  if (isBinary) parts.push(`Binary files ${oldName} and ${newName} differ\n`)
  else {
    const oldLines = TextLines.split(oldText.value)
    const newLines = TextLines.split(newText.value)
    const numbers = new TextLines.LineNumbers()
    const changed = lineChanges(numbers.of(oldLines), numbers.of(newLines))
    for (const { newLength, oldLength } of changed) {
      additions += newLength
      deletions += oldLength
    }
    // An empty file that comes or goes has no lines to show.
    if (changed.length > 0) {
      parts.push(
        `--- ${before === undefined ? oldName : quotedHeader(`a/${old}`)}\n`,
        `+++ ${after === undefined ? newName : quotedHeader(`b/${now}`)}\n`,
        hunksOf(oldLines, newLines, changed).map(format).join("")
      )
    }
  }
  const diff: Diff = {
    name: now,
    oldPath: before === undefined ? "" : old,
    newPath: after === undefined ? "" : now,
    additions,
    deletions,
    isNew: before === undefined,
    isDelete: after === undefined,
    isRename: change._tag === "Renamed",
    isBinary
  }
  return { diff, raw: parts.join("") }
}

/** Changes in figures and as a text; the contents of both sides of each must have been loaded. */
export const unifiedDiff = (changes: ReadonlyArray<TreeChange>, contents: BlobContents): UnifiedDiff => {
  const all = changes.map((change) => fileDiff(change, contents))
  return { diffs: all.map(({ diff }) => diff), raw: all.map(({ raw }) => raw).join("") }
}
