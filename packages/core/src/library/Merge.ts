/**
 * Three-way merge of one text. It is clean only where everybody who might merge it would come to the same text: merged
 * from either side, and with each side's edits applied to the other. Lines that repeat can be matched in several ways,
 * and a merge that depends on the way is a conflict, never a guess.
 *
 * Source: decisions.md §8 ("Merge is three-way against the tree's head"); policy-cases M1, M2, M7 to M10, law L11.
 */
import { diff3MergeRegions } from "node-diff3"
import { hunksOf } from "./Hunk.ts"
import { applyHunks } from "./HunkApplication.ts"
import { areKept } from "./KeptLines.ts"
import { type LineChange, lineChanges } from "./LineDiff.ts"
import * as TextLines from "./TextLines.ts"

/** The three versions of a text: what both sides started from, and what each made of it. */
export interface MergeSides {
  readonly base: string
  /** The library's head. */
  readonly head: string
  /** The change. */
  readonly change: string
}

/** A stretch of a merge: settled, or with what each side has of it. */
export type MergeRegion =
  | { readonly _tag: "Settled"; readonly lines: ReadonlyArray<string> }
  | {
      readonly _tag: "Disputed"
      readonly base: ReadonlyArray<string>
      readonly head: ReadonlyArray<string>
      readonly change: ReadonlyArray<string>
    }

/** What came of a merge. */
export type Merge =
  | { readonly _tag: "Clean"; readonly text: string }
  | { readonly _tag: "Conflict"; readonly regions: ReadonlyArray<MergeRegion> }

type Numbers = ReadonlyArray<number>

interface Versions {
  readonly base: Numbers
  readonly head: Numbers
  readonly change: Numbers
}

type NumberRegion = { readonly _tag: "Settled"; readonly lines: Numbers } | ({ readonly _tag: "Disputed" } & Versions)

/** How many pairs of equal lines a piece may have: beyond it, matching them takes too long to be worth it. */
const maxPairs = 4_000_000
/** How many lines of a piece times how many on the other side: the matching's own bound. */
const maxSteps = 400_000_000

const isSame = (a: Numbers, b: Numbers): boolean => a.length === b.length && a.every((line, index) => line === b[index])

const occurrences = (lines: Numbers): ReadonlyMap<number, number> => {
  const counts = new Map<number, number>()
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1)
  return counts
}

const isAffordable = (base: Numbers, side: Numbers): boolean => {
  if (base.length * side.length > maxSteps) return false
  const counts = occurrences(base)
  let pairs = 0
  for (const line of side) pairs += counts.get(line) ?? 0
  return pairs <= maxPairs
}

/** Merges one piece; the whole of it is disputed where that would take too long. */
const mergePiece = (piece: Versions): ReadonlyArray<NumberRegion> => {
  const { base, change, head } = piece
  if (isSame(head, change) || isSame(change, base)) return [{ _tag: "Settled", lines: head }]
  if (isSame(head, base)) return [{ _tag: "Settled", lines: change }]
  if (!isAffordable(base, head) || !isAffordable(base, change)) return [{ _tag: "Disputed", ...piece }]
  return diff3MergeRegions([...head], [...base], [...change]).map((region): NumberRegion => {
    if (region.stable) return { _tag: "Settled", lines: region.bufferContent }
    if (isSame(region.aContent, region.bContent)) return { _tag: "Settled", lines: region.aContent }
    return { _tag: "Disputed", head: region.aContent, base: region.oContent, change: region.bContent }
  })
}

/** How far from any change a line must be to part the texts: far enough that no merge looks across it. */
const clearance = 8

/** Where the texts can be parted: lines that nobody touched, far from every change, of which there is one each. */
const partings = (
  versions: Versions,
  headChanges: ReadonlyArray<LineChange>,
  changeChanges: ReadonlyArray<LineChange>
): ReadonlyArray<readonly [base: number, head: number, change: number]> => {
  const counts = [versions.base, versions.head, versions.change].map(occurrences)
  const isSingle = (line: number | undefined): boolean =>
    line !== undefined && counts.every((count) => count.get(line) === 1)
  const edges = [
    ...headChanges.map((change) => ({ change, isHead: true })),
    ...changeChanges.map((change) => ({ change, isHead: false }))
  ].toSorted((a, b) => a.change.oldStart - b.change.oldStart)
  const found: Array<readonly [number, number, number]> = []
  let end = 0
  let headOffset = 0
  let changeOffset = 0
  for (const { change, isHead } of edges) {
    for (let at = end + clearance; at < change.oldStart - clearance; at++) {
      if (!isSingle(versions.base[at])) continue
      found.push([at, at + headOffset, at + changeOffset])
      break
    }
    end = Math.max(end, change.oldStart + change.oldLength)
    if (isHead) headOffset += change.newLength - change.oldLength
    else changeOffset += change.newLength - change.oldLength
  }
  return found
}

/** Merges piece by piece. */
const mergeRegions = (
  versions: Versions,
  cuts: ReadonlyArray<readonly [base: number, head: number, change: number]>
): ReadonlyArray<NumberRegion> => {
  const { base, change, head } = versions
  const regions: Array<NumberRegion> = []
  let from: readonly [number, number, number] = [0, 0, 0]
  for (const to of [...cuts, [base.length, head.length, change.length] as const]) {
    const piece = {
      base: base.slice(from[0], to[0]),
      head: head.slice(from[1], to[1]),
      change: change.slice(from[2], to[2])
    }
    for (const region of mergePiece(piece)) regions.push(region)
    from = to
  }
  return regions
}

/** The lines of regions that are all settled; nothing where one is disputed. */
const settled = (regions: ReadonlyArray<NumberRegion>): Numbers | undefined => {
  const lines: Array<number> = []
  for (const region of regions) {
    if (region._tag === "Disputed") return undefined
    for (const line of region.lines) lines.push(line)
  }
  return lines
}

/** What the two sides have in common at the beginning and the end is settled, and all between is disputed. */
const disputedMiddle = ({ base, change, head }: Versions): ReadonlyArray<NumberRegion> => {
  const shortest = Math.min(base.length, head.length, change.length)
  let start = 0
  while (start < shortest && head[start] === change[start] && head[start] === base[start]) start++
  let end = 0
  while (
    end < shortest - start &&
    head.at(-1 - end) === change.at(-1 - end) &&
    head.at(-1 - end) === base.at(-1 - end)
  ) {
    end++
  }
  const middle = (lines: Numbers): Numbers => lines.slice(start, lines.length - end)
  return [
    { _tag: "Settled", lines: head.slice(0, start) },
    { _tag: "Disputed", base: middle(base), head: middle(head), change: middle(change) },
    { _tag: "Settled", lines: head.slice(head.length - end) }
  ]
}

/** How many unchanged lines around an edit must be found on the other side; fewer where edits are close. */
const crossContexts = [3, 2, 1]

/** Lines that occur once. */
const single = (lines: ReadonlyArray<string>): ReadonlySet<string> => {
  const once = new Set<string>()
  const seen = new Set<string>()
  for (const line of lines) {
    if (seen.has(line)) once.delete(line)
    else once.add(line)
    seen.add(line)
  }
  return once
}

/**
 * A text with the edits that made another one of their common base; nothing where one of them has no place there, or
 * no line that tells its place from every other.
 */
const crossed = (
  base: ReadonlyArray<string>,
  other: ReadonlyArray<string>,
  edits: ReadonlyArray<LineChange>,
  text: ReadonlyArray<string>,
  context: number
): string | undefined => {
  const hunks = hunksOf(base, other, edits, context)
  const onceInBase = single(base)
  const onceInText = single(text)
  const isPlaced = hunks.every(({ lines }) =>
    lines.some((line) => line.kind !== "+" && onceInBase.has(line.text) && onceInText.has(line.text))
  )
  if (!isPlaced) return undefined
  const { lines, rejected } = applyHunks(text, hunks)
  return rejected.length === 0 ? TextLines.join(lines) : undefined
}

/** The lines that edits are between, in the text that they are of. */
const neighbours = (edits: ReadonlyArray<LineChange>): ReadonlyArray<number> =>
  edits.flatMap(({ oldLength, oldStart }) => [oldStart - 1, oldStart + oldLength])

/** Whether a side keeps these lines of the base, however the two are matched; piece by piece. */
const keepsAll = (
  base: Numbers,
  side: Numbers,
  cuts: ReadonlyArray<readonly [base: number, side: number]>,
  asked: ReadonlyArray<number>
): boolean => {
  let from: readonly [number, number] = [0, 0]
  return [...cuts, [base.length, side.length] as const].every((to) => {
    const [baseStart, sideStart] = from
    from = to
    return areKept(
      base.slice(baseStart, to[0]),
      side.slice(sideStart, to[1]),
      asked.filter((line) => line >= baseStart && line < to[0]).map((line) => line - baseStart)
    )
  })
}

/** Merges two versions of a text that come from the same one. */
export const merge = (sides: MergeSides): Merge => {
  if (sides.head === sides.change || sides.change === sides.base) return { _tag: "Clean", text: sides.head }
  if (sides.head === sides.base) return { _tag: "Clean", text: sides.change }
  const numbers = new TextLines.LineNumbers()
  const texts = {
    base: TextLines.split(sides.base),
    head: TextLines.split(sides.head),
    change: TextLines.split(sides.change)
  }
  const versions: Versions = {
    base: numbers.of(texts.base),
    head: numbers.of(texts.head),
    change: numbers.of(texts.change)
  }
  const headChanges = lineChanges(versions.base, versions.head)
  const changeChanges = lineChanges(versions.base, versions.change)
  const cuts = partings(versions, headChanges, changeChanges)
  const conflict = (regions: ReadonlyArray<NumberRegion>): Merge => {
    const textOf = (lines: Numbers): ReadonlyArray<string> => lines.map((line) => numbers.lineOf(line))
    return {
      _tag: "Conflict",
      regions: regions.flatMap((region): ReadonlyArray<MergeRegion> => {
        if (region._tag === "Settled") {
          return region.lines.length === 0 ? [] : [{ _tag: "Settled", lines: textOf(region.lines) }]
        }
        const { base, change, head } = region
        return [{ _tag: "Disputed", base: textOf(base), head: textOf(head), change: textOf(change) }]
      })
    }
  }
  const regions = mergeRegions(versions, cuts)
  const lines = settled(regions)
  if (lines === undefined) return conflict(regions)
  const other = settled(
    mergeRegions(
      { base: versions.base, head: versions.change, change: versions.head },
      cuts.map(([base, head, change]) => [base, change, head])
    )
  )
  const text = lines.map((line) => numbers.lineOf(line)).join("")
  const isAgreed =
    other !== undefined &&
    isSame(lines, other) &&
    keepsAll(
      versions.base,
      versions.change,
      cuts.map(([base, , change]) => [base, change]),
      neighbours(headChanges)
    ) &&
    keepsAll(
      versions.base,
      versions.head,
      cuts.map(([base, head]) => [base, head]),
      neighbours(changeChanges)
    ) &&
    crossContexts.some(
      (context) =>
        crossed(texts.base, texts.change, changeChanges, texts.head, context) === text &&
        crossed(texts.base, texts.head, headChanges, texts.change, context) === text
    )
  return isAgreed ? { _tag: "Clean", text } : conflict(disputedMiddle(versions))
}
