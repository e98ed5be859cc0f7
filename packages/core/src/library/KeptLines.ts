/**
 * Which lines of a text stay in another one, however the two are matched. Of several matchings that keep as many lines,
 * each has as good a right as the others; what only one of them keeps may as well be said to have gone and come again.
 *
 * Source: policy-cases M7.
 */

type Lines = ReadonlyArray<number>

/** Lines of what two texts begin and end with alike that are looked at beside what is between. */
const around = 64
/** Lines of one text times those of the other, beyond which it takes too long to be worth it. */
const maxSteps = 16_000_000

const commonStart = (a: Lines, b: Lines): number => {
  const shortest = Math.min(a.length, b.length)
  let length = 0
  while (length < shortest && a[length] === b[length]) length++
  return length
}

/** The lengths of the longest matchings of all beginnings of `b`, with one line more of `a` than before. */
const grown = (before: Lines, line: number | undefined, b: Lines): Lines => {
  const lengths = [0]
  let last = 0
  for (let at = 0; at < b.length; at++) {
    last = b[at] === line ? (before[at] ?? 0) + 1 : Math.max(last, before[at + 1] ?? 0)
    lengths.push(last)
  }
  return lengths
}

/** Whether every longest matching of two texts keeps these lines of the first; not where that would take too long. */
export const areKept = (text: Lines, other: Lines, asked: ReadonlyArray<number>): boolean => {
  const start = Math.max(0, commonStart(text, other) - around)
  const rest = { text: text.slice(start).toReversed(), other: other.slice(start).toReversed() }
  const end = Math.max(0, commonStart(rest.text, rest.other) - around)
  const a = text.slice(start, text.length - end)
  const b = other.slice(start, other.length - end)
  const wanted = new Set(asked.map((line) => line - start).filter((line) => line >= 0 && line < a.length))
  if (wanted.size === 0) return true
  if (a.length * b.length > maxSteps) return false

  // By the line, what can be matched after it: read from the end, so in the reverse order.
  const after = new Map<number, Lines>()
  const reversed = b.toReversed()
  let lengths: Lines = Array.from({ length: b.length + 1 }, () => 0)
  for (let line = a.length - 1; line >= 0; line--) {
    if (wanted.has(line)) after.set(line, lengths)
    lengths = grown(lengths, a[line], reversed)
  }
  const longest = lengths.at(-1) ?? 0
  let before: Lines = Array.from({ length: b.length + 1 }, () => 0)
  for (let line = 0; line < a.length; line++) {
    const behind = after.get(line)
    if (behind?.some((length, index) => length + (before[b.length - index] ?? 0) === longest) === true) return false
    before = grown(before, a[line], b)
  }
  return true
}
