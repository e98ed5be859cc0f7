/**
 * Words in a form that can be compared: no case, no accents, no plural. Two strengths exist. A stem folds only
 * inflections that never change what a word names (`carriers`, `carrier`); a root folds whole families (`rated`,
 * `rating`) and is only asked where stems find nothing, because families are wider than meanings.
 */

/** Lower case, without accents, ligatures or width variants. */
export const fold = (text: string): string =>
  text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replaceAll("’", "'")

const irregular: ReadonlyMap<string, string> = new Map([
  ["people", "person"],
  ["children", "child"],
  ["men", "man"],
  ["women", "woman"],
  ["feet", "foot"],
  ["mice", "mouse"],
  ["indices", "index"],
  ["criteria", "criterion"],
  ["lives", "life"]
])

/** The stem of a folded word: its singular. It is a key for comparison, not always a word. */
export const stem = (word: string): string => {
  const known = irregular.get(word)
  if (known !== undefined) return known
  if (word.length > 3 && word.endsWith("ies")) return `${word.slice(0, -3)}y`
  if (word.length > 3 && word.endsWith("ie")) return `${word.slice(0, -2)}y`
  if (word.length <= 3 || !word.endsWith("s") || /(?:ss|us|is)$/.test(word)) return word
  return /(?:sses|xes|ches|shes|zes|uses)$/.test(word) ? word.slice(0, -2) : word.slice(0, -1)
}

const endings = [
  "ations",
  "ation",
  "ings",
  "ing",
  "edly",
  "ed",
  "ers",
  "er",
  "ors",
  "or",
  "ions",
  "ion",
  "ly",
  "al",
  "e"
]

const undoubled = (word: string): string =>
  /([b-df-hj-np-tv-z])\1$/.test(word) && word.length > 3 ? word.slice(0, -1) : word

/** The root of a folded word: what is left when one ending of its family is gone, at least three letters. */
export const root = (word: string): string => {
  const base = stem(word)
  const ending = endings.find((candidate) => base.endsWith(candidate) && base.length - candidate.length >= 3)
  return undoubled(ending === undefined ? base : base.slice(0, -ending.length))
}

/** The thing that an adjective is full of: `rainy`, `sunny`, `foggy`. */
export const nounOf = (word: string): string | undefined =>
  word.length > 4 && word.endsWith("y") ? undoubled(word.slice(0, -1)) : undefined

/** The words inside an identifier, a label or a phrase: split at marks, underscores and camel humps, then folded. */
export const wordsOf = (text: string): ReadonlyArray<string> =>
  fold(text.replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2").replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2"))
    .replace(/'s\b/g, "")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")

/** A phrase as a key: the stems of its words. */
export const phraseKey = (words: ReadonlyArray<string>): string => words.map(stem).join(" ")

/** A phrase as a wide key: the roots of its words. */
export const rootKey = (words: ReadonlyArray<string>): string => words.map(root).join(" ")
