/**
 * What changed from one list of lines to another: Myers' shortest edit script where it is found within a bound of
 * work, and beyond that an edit script between lines that occur once in each. The bound is in steps, not in time, so
 * that the same two texts always give the same diff.
 */
import { diffArrays } from "diff"

/** Lines of the old text that give way to lines of the new one; a side without lines is a place between lines. */
export interface LineChange {
  /** The first line of the old side, counted from 0. */
  readonly oldStart: number
  readonly oldLength: number
  /** The first line of the new side, counted from 0. */
  readonly newStart: number
  readonly newLength: number
}

/** How many lines an edit script may touch before the texts are divided: the work grows with the square of it. */
const maxEdits = 2000
/** The same once the texts were divided: there can be many pieces. */
const maxEditsOfPiece = 200

type Lines = ReadonlyArray<number>

const whole = (before: Lines, after: Lines): LineChange => ({
  oldStart: 0,
  oldLength: before.length,
  newStart: 0,
  newLength: after.length
})

/** The shortest edit script, when it touches at most so many lines. */
const shortest = (before: Lines, after: Lines, bound: number): ReadonlyArray<LineChange> | undefined => {
  const parts = diffArrays([...before], [...after], { maxEditLength: bound })
  if (parts === undefined) return undefined
  const changes: Array<LineChange> = []
  let oldAt = 0
  let newAt = 0
  let oldStart = 0
  let newStart = 0
  const flush = (): void => {
    if (oldAt > oldStart || newAt > newStart) {
      changes.push({ oldStart, oldLength: oldAt - oldStart, newStart, newLength: newAt - newStart })
    }
  }
  for (const part of parts) {
    if (part.added) newAt += part.count
    else if (part.removed) oldAt += part.count
    else {
      flush()
      oldAt += part.count
      newAt += part.count
      oldStart = oldAt
      newStart = newAt
    }
  }
  flush()
  return changes
}

const occurringOnce = (lines: Lines): ReadonlyMap<number, number> => {
  const places = new Map<number, number>()
  lines.forEach((line, index) => places.set(line, places.has(line) ? -1 : index))
  return places
}

/** The longest run of pairs, in the order of the old side, that is in the order of the new side as well. */
const increasing = (pairs: ReadonlyArray<readonly [number, number]>): ReadonlyArray<readonly [number, number]> => {
  interface Link {
    readonly pair: readonly [number, number]
    readonly before: Link | undefined
  }
  const ends: Array<Link> = []
  for (const pair of pairs) {
    let low = 0
    let high = ends.length
    while (low < high) {
      const middle = (low + high) >> 1
      const end = ends[middle]
      if (end !== undefined && end.pair[1] < pair[1]) low = middle + 1
      else high = middle
    }
    ends[low] = { pair, before: ends[low - 1] }
  }
  const run: Array<readonly [number, number]> = []
  for (let link = ends.at(-1); link !== undefined; link = link.before) run.push(link.pair)
  return run.toReversed()
}

/** An edit script between lines that occur once on each side; what lies between them changes whole if it must. */
const divided = (before: Lines, after: Lines): ReadonlyArray<LineChange> => {
  const places = occurringOnce(after)
  const pairs: Array<readonly [number, number]> = []
  for (const [line, oldAt] of occurringOnce(before)) {
    const newAt = places.get(line)
    if (oldAt >= 0 && newAt !== undefined && newAt >= 0) pairs.push([oldAt, newAt])
  }
  const changes: Array<LineChange> = []
  let oldStart = 0
  let newStart = 0
  for (const [oldAt, newAt] of [...increasing(pairs), [before.length, after.length] as const]) {
    const oldPiece = before.slice(oldStart, oldAt)
    const newPiece = after.slice(newStart, newAt)
    for (const change of trimmed(oldPiece, newPiece, (a, b) => shortest(a, b, maxEditsOfPiece) ?? [whole(a, b)])) {
      changes.push({ ...change, oldStart: change.oldStart + oldStart, newStart: change.newStart + newStart })
    }
    oldStart = oldAt + 1
    newStart = newAt + 1
  }
  return changes
}

/** Leaves out what the two sides have in common at their beginning and end, which most of any two versions is. */
const trimmed = (
  before: Lines,
  after: Lines,
  compare: (before: Lines, after: Lines) => ReadonlyArray<LineChange>
): ReadonlyArray<LineChange> => {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start++
  let end = 0
  while (end < shorter - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++
  const oldRest = before.slice(start, before.length - end)
  const newRest = after.slice(start, after.length - end)
  if (oldRest.length === 0 && newRest.length === 0) return []
  const changes = oldRest.length === 0 || newRest.length === 0 ? [whole(oldRest, newRest)] : compare(oldRest, newRest)
  return changes.map((change) => ({ ...change, oldStart: change.oldStart + start, newStart: change.newStart + start }))
}

/** The changes from one list of lines to another, in order; lines are equal where their numbers are. */
export const lineChanges = (before: Lines, after: Lines): ReadonlyArray<LineChange> =>
  trimmed(before, after, (a, b) => shortest(a, b, maxEdits) ?? divided(a, b))
