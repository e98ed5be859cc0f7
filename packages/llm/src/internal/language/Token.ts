/**
 * A question cut into tokens: words, numbers, quoted names and the few marks that carry meaning.
 */
import { fold, stem, wordsOf } from "./Words.ts"

/** A piece of the question. */
export interface Token {
  readonly kind: "word" | "number" | "date" | "quoted" | "mark"
  /** As written, without the marks around a quoted name. */
  readonly text: string
  /** Folded, without a possessive ending. */
  readonly word: string
  readonly stem: string
  /** The words in it: several in a quoted name. */
  readonly parts: ReadonlyArray<string>
  /** Something belongs to it: `stock's`. */
  readonly possessive: boolean
  /** Where it starts and ends in the question, in UTF-16 units. */
  readonly start: number
  readonly end: number
  /** Written like a name: a capital that the start of a sentence does not explain, or only capitals and digits. */
  readonly proper: boolean
}

/** More tokens than a question needs. What comes after them is not read, and the caller says so. */
export const maxTokens = 160

const pattern = new RegExp(
  [
    /(?<quoted>"[^"\n]{1,200}"|“[^”\n]{1,200}”|«[^»\n]{1,200}»|`[^`\n]{1,200}`|(?<![\p{L}\p{N}])'[^'\n]{1,200}'(?![\p{L}\p{N}]))/u,
    /(?<date>\d{4}-\d{2}(?:-\d{2})?(?![\d-])|\d{1,2}\/\d{1,2}\/\d{4}(?!\d))/u,
    /(?<number>[$€£]?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|[$€£]?\d{1,15}(?:\.\d{1,9})?(?![\d]))(?<suffix>(?:%|[\p{L}]{1,8})?)(?![\p{L}\p{N}_])/u,
    /(?<word>[\p{L}\p{N}_][\p{L}\p{M}\p{N}_]{0,80}(?:['’][\p{L}]{1,20})?)/u,
    /(?<mark>[<>]=?|!=|[,/=&–—%?;:-])/u
  ]
    .map((part) => part.source)
    .join("|"),
  "gu"
)

/** Whether a word is written like a name where it stands. */
const isProper = (text: string, startsSentence: boolean): boolean => {
  if (/^[\p{Lu}\p{N}]{2,}$/u.test(text) && /\p{Lu}/u.test(text)) return true
  return !startsSentence && /^\p{Lu}/u.test(text)
}

const token = (kind: Token["kind"], text: string, start: number, length: number, proper: boolean): Token => {
  const word = fold(text).replace(/'s?$/, "").replaceAll("'", "")
  const parts = kind === "mark" ? [] : wordsOf(kind === "quoted" ? text : word)
  return {
    kind,
    text,
    word,
    stem: stem(word),
    parts,
    possessive: /['’]s?$/.test(text),
    start,
    end: start + length,
    proper
  }
}

/** The tokens of a question, at most `maxTokens` and one more, so that a caller can see that there were too many. */
export const tokenize = (question: string): ReadonlyArray<Token> => {
  const tokens: Array<Token> = []
  let startsSentence = true
  for (const match of question.matchAll(pattern)) {
    if (tokens.length > maxTokens) break
    const groups = match.groups ?? {}
    const whole = match[0]
    const start = match.index
    if (groups["quoted"] !== undefined) {
      tokens.push(token("quoted", whole.slice(1, -1), start, whole.length, true))
    } else if (groups["date"] !== undefined) {
      tokens.push(token("date", whole, start, whole.length, false))
    } else if (groups["number"] !== undefined) {
      tokens.push(...numberTokens(groups["number"], groups["suffix"] ?? "", start))
    } else if (groups["word"] !== undefined) {
      for (const [offset, part] of wordParts(whole)) {
        tokens.push(token("word", part, start + offset, part.length, isProper(part, startsSentence)))
        startsSentence = false
      }
    } else {
      tokens.push(token("mark", whole, start, whole.length, false))
    }
    startsSentence = /[?;:]/.test(whole) && whole.length === 1
  }
  return tokens
}

/** A name with underscores is as many words as it has parts. */
const wordParts = (text: string): ReadonlyArray<readonly [number, string]> =>
  [...text.matchAll(/[^_]+/g)].map((match) => [match.index, match[0]] as const)

const ordinals = new Set(["st", "nd", "rd", "th"])

/**
 * `10k` and `60%` are a number and its unit; `1990s` and `3rd` are numbers in a form of their own; `00M` or `747s` is
 * a name that starts with digits.
 */
const numberTokens = (digits: string, suffix: string, start: number): ReadonlyArray<Token> => {
  const folded = fold(suffix)
  if (suffix === "") return [token("number", digits, start, digits.length, false)]
  const money = /^[$€£]/.test(digits) && (folded === "m" || folded === "b")
  if (money) {
    const word = folded === "m" ? "million" : "billion"
    return [
      token("number", digits, start, digits.length, false),
      { ...token("word", word, start + digits.length, suffix.length, false), text: suffix }
    ]
  }
  if (suffix === "%" || multiples.has(folded) || (folded.length >= 2 && !ordinals.has(folded))) {
    return [
      token("number", digits, start, digits.length, false),
      token(suffix === "%" ? "mark" : "word", suffix, start + digits.length, suffix.length, false)
    ]
  }
  return [token("word", digits + suffix, start, digits.length + suffix.length, /\p{Lu}/u.test(suffix))]
}

/** Words and letters that multiply the number before them. A lone `m` may be metres or minutes: only money has it. */
export const multiples: ReadonlyMap<string, number> = new Map([
  ["k", 1e3],
  ["thousand", 1e3],
  ["mn", 1e6],
  ["mio", 1e6],
  ["million", 1e6],
  ["millions", 1e6],
  ["bn", 1e9],
  ["billion", 1e9],
  ["billions", 1e9],
  ["trillion", 1e12]
])
