/**
 * Names that somebody may have meant who wrote one that is not there. A query that is nearly right should not take a
 * second look at the whole model.
 */

/** Suggestions are few, or they are none. */
const mostSuggestions = 3

/** A name without what people and models get wrong about names: case, quotes, separators. */
const essence = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "")

/** How many letters have to be added, dropped or changed to get from one text to the other. */
const distance = (a: string, b: string): number => {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [i, letter] of Array.from(a).entries()) {
    const row = [i + 1]
    for (const [j, other] of Array.from(b).entries()) {
      const changed = (previous[j] ?? 0) + (letter === other ? 0 : 1)
      row.push(Math.min(changed, (previous[j + 1] ?? 0) + 1, (row[j] ?? 0) + 1))
    }
    previous = row
  }
  return previous[b.length] ?? 0
}

/** How far a name is from the one that was written; undefined where nobody would take the one for the other. */
const farness = (wanted: string, name: string): number | undefined => {
  const [asked, known] = [essence(wanted), essence(name)]
  if (asked === "" || asked.length > 60) return undefined
  if (asked === known) return 0
  const letters = distance(asked, known)
  if (letters <= Math.max(1, Math.floor(asked.length / 3))) return letters
  // `city` for `origin.city`, `delay` for `average_delay`.
  return asked.length >= 3 && known.includes(asked) ? 10 + known.length - asked.length : undefined
}

/** The names nearest to the one that was written, the nearest first. */
export const nearest = (wanted: string, names: ReadonlyArray<string>): ReadonlyArray<string> =>
  Array.from(new Set(names))
    .flatMap((name) => {
      const far = farness(wanted, name)
      return far === undefined ? [] : [{ name, far }]
    })
    .toSorted((a, b) => a.far - b.far)
    .slice(0, mostSuggestions)
    .map(({ name }) => name)
