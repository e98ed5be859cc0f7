/**
 * Names for people, made from names for machines.
 */

/** Words that are written in capitals, or out in full, wherever they appear. */
const spellings = new Map([
  ["avg", "average"],
  ["pct", "percent"],
  ["qty", "quantity"],
  ["num", "number"],
  ["desc", "description"],
  ...[
    "api",
    "co2",
    "eu",
    "eur",
    "gbp",
    "gdp",
    "html",
    "iata",
    "id",
    "imdb",
    "ip",
    "iso",
    "mpaa",
    "sku",
    "uk",
    "un"
  ].map((word) => [word, word.toUpperCase()] as const),
  ...["url", "us", "usa", "usd", "utc", "uuid", "zip"].map((word) => [word, word.toUpperCase()] as const)
])

/** The words of a name: `dep_delay`, `depDelay`, `Dep Delay` and `dep-delay` are the same two. */
export const words = (name: string): ReadonlyArray<string> =>
  name
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .split(/[^\p{L}\p{M}\p{N}%]+/u)
    .filter((word) => word.length > 0)

/** A word as it is written inside a sentence. */
const spelled = (word: string): string =>
  spellings.get(word.toLowerCase()) ?? (/^\p{Lu}{2,}$/u.test(word) ? word : word.toLowerCase())

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** A name for people: `dep_delay` becomes `Dep delay`, `customerId` becomes `Customer ID`. */
export const humanise = (name: string): string => capitalized(words(name).map(spelled).join(" ")) || name

/** A label as it stands after other words: its capital goes, unless it belongs to a word in capitals. */
export const inside = (label: string): string =>
  /^\p{Lu}(?:\p{Ll}|\s|$)/u.test(label) ? label.charAt(0).toLowerCase() + label.slice(1) : label
