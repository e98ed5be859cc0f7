/**
 * As much English as names need: one thing and many of it. What does not follow the rules stays as it is, which is
 * only ever less pretty.
 */

const irregular: ReadonlyArray<readonly [one: string, many: string]> = [
  ["person", "people"],
  ["child", "children"],
  ["man", "men"],
  ["woman", "women"],
  ["foot", "feet"],
  ["datum", "data"],
  ["index", "indices"],
  ["analysis", "analyses"],
  ["movie", "movies"],
  ["status", "statuses"],
  ["bus", "buses"],
  ["gas", "gases"],
  ["lens", "lenses"]
]
const manyOf = new Map(irregular)
const oneOf = new Map(irregular.map(([one, many]) => [many, one]))

/** Words that are the same for one and for many, or have no plural. */
const unchanging = new Set(
  "series species news weather traffic equipment information money unemployment employment sales".split(" ")
)

const rules: ReadonlyArray<readonly [many: RegExp, one: string]> = [
  [/([^aeiou])ies$/, "$1y"],
  [/(ss|sh|ch|x|z)es$/, "$1"],
  [/(?<=[^sui])s$/, ""]
]

/** True for a word that nobody counts: `weather`. */
export const isUncountable = (name: string): boolean => unchanging.has(/[a-z]+$/.exec(name)?.[0] ?? "")

const lastWord = /[a-z]+$/

const inLastWord = (name: string, change: (word: string) => string): string =>
  name.replace(lastWord, (word) => (unchanging.has(word) ? word : change(word)))

/** One of many: `order_lines` becomes `order_line`. Takes lower case. */
export const singular = (name: string): string =>
  inLastWord(name, (word) => {
    const known = oneOf.get(word)
    if (known !== undefined) return known
    for (const [many, one] of rules) if (many.test(word)) return word.replace(many, one)
    return word
  })

/** Many of one: `city` becomes `cities`. Takes lower case. */
export const plural = (name: string): string =>
  inLastWord(name, (word) => {
    if (singular(word) !== word) return word
    return (
      manyOf.get(word) ??
      (/(?:s|x|z|ch|sh)$/.test(word) ? `${word}es` : /[^aeiou]y$/.test(word) ? `${word.slice(0, -1)}ies` : `${word}s`)
    )
  })
