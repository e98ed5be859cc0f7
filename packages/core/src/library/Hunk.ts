/**
 * Hunks of a unified diff: changed lines with the lines around them, in git's format.
 *
 * Source: git's "unified diff format"; `git apply`, which reads it.
 */
import type { LineChange } from "./LineDiff.ts"

/** How many unchanged lines stand around changed ones. */
export const contextLines = 3

/** A line of a hunk: it stays, goes or comes. It keeps its line break. */
export interface HunkLine {
  readonly kind: " " | "-" | "+"
  readonly text: string
}

/** A stretch of changed lines, with the lines around them. */
export interface Hunk {
  /** The first line on the old side, counted from 0. */
  readonly oldStart: number
  readonly oldLength: number
  /** The first line on the new side, counted from 0. */
  readonly newStart: number
  readonly newLength: number
  readonly lines: ReadonlyArray<HunkLine>
}

type Lines = ReadonlyArray<string>

const hunkOf = (before: Lines, after: Lines, changes: ReadonlyArray<LineChange>, context: number): Hunk | undefined => {
  const first = changes[0]
  const last = changes.at(-1)
  if (first === undefined || last === undefined) return undefined
  const leading = Math.min(context, first.oldStart)
  const oldStart = first.oldStart - leading
  const newStart = first.newStart - leading
  const oldEnd = Math.min(before.length, last.oldStart + last.oldLength + context)
  const lines: Array<HunkLine> = []
  const add = (kind: HunkLine["kind"], texts: Lines): void => {
    for (const text of texts) lines.push({ kind, text })
  }
  let at = oldStart
  for (const change of changes) {
    add(" ", before.slice(at, change.oldStart))
    add("-", before.slice(change.oldStart, change.oldStart + change.oldLength))
    add("+", after.slice(change.newStart, change.newStart + change.newLength))
    at = change.oldStart + change.oldLength
  }
  add(" ", before.slice(at, oldEnd))
  const newEnd = last.newStart + last.newLength + (oldEnd - last.oldStart - last.oldLength)
  return { oldStart, oldLength: oldEnd - oldStart, newStart, newLength: newEnd - newStart, lines }
}

/** The hunks of changes; changes whose surroundings touch are one hunk. */
export const hunksOf = (
  before: Lines,
  after: Lines,
  changes: ReadonlyArray<LineChange>,
  context: number = contextLines
): ReadonlyArray<Hunk> => {
  const hunks: Array<Hunk> = []
  let group: Array<LineChange> = []
  const flush = (): void => {
    const hunk = hunkOf(before, after, group, context)
    if (hunk !== undefined) hunks.push(hunk)
    group = []
  }
  for (const change of changes) {
    const last = group.at(-1)
    if (last !== undefined && change.oldStart - (last.oldStart + last.oldLength) > 2 * context) flush()
    group.push(change)
  }
  flush()
  return hunks
}

const range = (start: number, length: number): string =>
  // Lines are counted from 1; a place between lines is told by the line before it.
  length === 1 ? `${start + 1}` : `${length === 0 ? start : start + 1},${length}`

/** A hunk as git writes it, its header first. */
export const format = (hunk: Hunk): string => {
  const parts = [`@@ -${range(hunk.oldStart, hunk.oldLength)} +${range(hunk.newStart, hunk.newLength)} @@\n`]
  for (const { kind, text } of hunk.lines) {
    parts.push(text.endsWith("\n") ? `${kind}${text}` : `${kind}${text}\n\\ No newline at end of file\n`)
  }
  return parts.join("")
}
