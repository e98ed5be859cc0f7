/**
 * What a holder owns, as ranges of paths: for a store that has to find what lies under any of them by an index, without
 * asking for each path. The policies and what they mean stay where they are; this is one of their answers, as data.
 *
 * A path stands in it as its key, from the root and with a slash at its end. So everything in a folder, the folder's
 * own name among it, is one range: what begins with the folder's key.
 *
 * Source: decisions.md §8; policy-cases O1, O2, O12.
 */
import { compareText } from "../library/TreeObject.ts"
import { root } from "./FolderPath.ts"
import { type Holder, owns } from "./OwnersPolicy.ts"
import type { PolicyTree } from "./PolicyTree.ts"

/** Keys from one, that one included, to another, that one not. Keys are compared by their bytes as UTF-8. */
export interface KeyRange {
  readonly from: string
  readonly before: string
}

/** The key of a path; the library itself is `/`. */
export const keyOf = (path: string): string => (path === root ? "/" : `/${path}/`)

// The sign after the slash.
const endOf = (key: string): string => `${key.slice(0, -1)}0`

/** Whether a key is in one of the ranges. */
export const includes = (ranges: ReadonlyArray<KeyRange>, key: string): boolean =>
  ranges.some(({ before, from }) => compareText(from, key) <= 0 && compareText(key, before) < 0)

/** The keys that a holder owns, in the fewest ranges, sorted. */
export const ownedRanges = (tree: PolicyTree, holder: Holder): ReadonlyArray<KeyRange> => {
  const folders = tree.folders
    .map((folder) => ({ key: keyOf(folder.path), owned: owns(folder, holder) }))
    // What is above a folder sorts before it, for its key is the beginning of the folder's.
    .toSorted((a, b) => compareText(a.key, b.key))

  const ranges: Array<KeyRange> = []
  let since: string | undefined
  /** From here on, keys are owned or are not. */
  const turn = (key: string, owned: boolean): void => {
    if (owned) since ??= key
    else if (since !== undefined) {
      if (since !== key) ranges.push({ from: since, before: key })
      since = undefined
    }
  }

  const within: Array<{ readonly end: string; readonly owned: boolean }> = []
  const leave = (until: string | undefined): void => {
    for (let last = within.at(-1); last !== undefined; last = within.at(-1)) {
      if (until !== undefined && compareText(until, last.end) < 0) return
      within.pop()
      turn(last.end, within.at(-1)?.owned ?? false)
    }
  }
  for (const { key, owned } of folders) {
    leave(key)
    turn(key, owned)
    within.push({ end: endOf(key), owned })
  }
  leave(undefined)
  return ranges
}
