/**
 * Applies hunks to a text that is no longer the one they were made from, by the rules of `git apply --reject`: each
 * hunk goes where its lines are found, the nearest place first; one that begins or ends its text must do so here; none
 * overlaps another. What is found nowhere is rejected.
 *
 * Source: git 2.39 `apply.c` for the rules (`find_pos`, `match_fragment`), stated in our own words.
 */
import type { Hunk } from "./Hunk.ts"

/** What became of hunks. */
export interface AppliedHunks {
  /** The lines after every hunk that could be applied. */
  readonly lines: ReadonlyArray<string>
  /** The hunks that could not, in their order. */
  readonly rejected: ReadonlyArray<Hunk>
}

interface ImageLine {
  readonly text: string
  /** Whether a hunk has put it there: hunks do not overlap. */
  readonly isPatched: boolean
}

/** Whether a text without a line break at its end ends within this line. */
const isWithin = (wanted: string, line: string): boolean =>
  line === wanted || (!wanted.endsWith("\n") && line === `${wanted}\n`)

/** How many lines are put in at a time: a call takes no more arguments than its stack holds. */
const maxArguments = 10_000

class Application {
  private readonly image: Array<ImageLine>

  constructor(lines: ReadonlyArray<string>) {
    this.image = lines.map((text) => ({ text, isPatched: false }))
  }

  get lines(): ReadonlyArray<string> {
    return this.image.map(({ text }) => text)
  }

  /** Applies a hunk; false where its lines are found nowhere. */
  apply(hunk: Hunk): boolean {
    const before = hunk.lines.filter(({ kind }) => kind !== "+").map(({ text }) => text)
    const after = hunk.lines.filter(({ kind }) => kind !== "-").map(({ text }) => text)
    const begins = hunk.oldStart === 0
    const ends = hunk.lines.at(-1)?.kind !== " "
    const expected = begins ? 0 : ends ? this.image.length - before.length : hunk.newStart
    const at = this.find(before, expected, begins, ends)
    if (at === undefined) return false
    const replaced = after.map((text) => ({ text, isPatched: true }))
    const last = replaced.at(-1)
    const oldLast = this.image[at + before.length - 1]
    // A last line that stays keeps the line break that it has here.
    if (last !== undefined && oldLast !== undefined && before.at(-1) !== oldLast.text) {
      replaced[replaced.length - 1] = { text: oldLast.text, isPatched: true }
    }
    this.replace(at, before.length, replaced)
    return true
  }

  /** In place: a text of many hunks is not copied once for each of them. */
  private replace(at: number, length: number, lines: ReadonlyArray<ImageLine>): void {
    this.image.splice(at, length, ...lines.slice(0, maxArguments))
    for (let from = maxArguments; from < lines.length; from += maxArguments) {
      this.image.splice(at + from, 0, ...lines.slice(from, from + maxArguments))
    }
  }

  private find(before: ReadonlyArray<string>, expected: number, begins: boolean, ends: boolean): number | undefined {
    const last = this.image.length - before.length
    if (last < 0) return undefined
    if (begins || ends) {
      const at = begins ? 0 : last
      return (!ends || at === last) && this.isAt(before, at, ends) ? at : undefined
    }
    const start = Math.min(expected, this.image.length)
    for (let distance = 0; distance <= this.image.length; distance++) {
      const [below, above] = [start + distance, start - distance]
      if (below <= last && this.isAt(before, below, false)) return below
      if (above >= 0 && above <= last && this.isAt(before, above, false)) return above
    }
    return undefined
  }

  private isAt(before: ReadonlyArray<string>, at: number, ends: boolean): boolean {
    // The first line decides nearly always, and a search asks for it at every place.
    for (let index = 0; index < before.length; index++) {
      const text = before[index]
      const line = this.image[at + index]
      if (text === undefined || line === undefined || line.isPatched) return false
      if (line.text !== text && (ends || index < before.length - 1 || !isWithin(text, line.text))) return false
    }
    return true
  }
}

/** Applies hunks in their order. */
export const applyHunks = (lines: ReadonlyArray<string>, hunks: ReadonlyArray<Hunk>): AppliedHunks => {
  const application = new Application(lines)
  const rejected = hunks.filter((hunk) => !application.apply(hunk))
  return { lines: application.lines, rejected }
}
