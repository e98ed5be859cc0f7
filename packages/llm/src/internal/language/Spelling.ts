/**
 * Slips of the finger: how far two words are apart, and the one known word that an unknown one must be.
 */

/**
 * The number of single-letter insertions, deletions, replacements and swaps of neighbours between two words
 * (optimal string alignment), or `limit + 1` as soon as it exceeds `limit`.
 */
export const distance = (left: string, right: string, limit: number): number => {
  if (Math.abs(left.length - right.length) > limit) return limit + 1
  let beforePrevious: ReadonlyArray<number> = []
  let previous: ReadonlyArray<number> = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let row = 1; row <= left.length; row++) {
    const current: Array<number> = [row]
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1]
      let best = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1)
      )
      if (row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]) {
        best = Math.min(best, (beforePrevious[column - 2] ?? 0) + 1)
      }
      current.push(best)
    }
    if (Math.min(...current) > limit) return limit + 1
    beforePrevious = previous
    previous = current
  }
  return previous[right.length] ?? limit + 1
}

/** How many slips a word of this length may have. Short words have too many neighbours to allow any. */
const tolerance = (word: string): number => (word.length >= 9 ? 2 : word.length >= 5 ? 1 : 0)

/**
 * The known word that an unknown one stands for, if exactly one is nearest. The first letter must be right: people
 * rarely miss it, and real words that differ there (`fares`, `hares`) are not slips.
 */
export const correction = (word: string, known: Iterable<string>): string | undefined => {
  const limit = tolerance(word)
  if (limit === 0 || !/^\p{L}+$/u.test(word)) return undefined
  let best = limit + 1
  let nearest: string | undefined
  for (const candidate of known) {
    if (candidate === word) return undefined
    if (candidate[0] !== word[0] || candidate.length < 4) continue
    const apart = distance(word, candidate, Math.min(best, limit))
    if (apart > limit || apart > best) continue
    if (apart === best && candidate !== nearest) nearest = undefined
    else nearest = candidate
    best = apart
  }
  return nearest
}
