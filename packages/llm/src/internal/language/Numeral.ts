/**
 * Numbers as questions write them: digits, words, multiples, money and percentages.
 */
import { multiples, type Token } from "./Token.ts"

/** A number at a place of the question. */
export interface Numeral {
  readonly length: number
  readonly value: number
  /** Written with a currency sign. */
  readonly currency?: "USD" | "EUR" | "GBP"
  readonly percent: boolean
}

const words: ReadonlyMap<string, number> = new Map(
  Object.entries({
    zero: 0,
    two: 2,
    three: 3,
    four: 4,
    five: 5,
    six: 6,
    seven: 7,
    eight: 8,
    nine: 9,
    ten: 10,
    eleven: 11,
    twelve: 12,
    fifteen: 15,
    twenty: 20,
    thirty: 30,
    forty: 40,
    fifty: 50,
    sixty: 60,
    seventy: 70,
    eighty: 80,
    ninety: 90,
    hundred: 100,
    thousand: 1000,
    dozen: 12
  })
)

const signs: Readonly<Record<string, "USD" | "EUR" | "GBP">> = { $: "USD", "€": "EUR", "£": "GBP" }

/** The number that starts at a token, if one does. */
export const readNumeral = (tokens: ReadonlyArray<Token>, index: number): Numeral | undefined => {
  const token = tokens[index]
  if (token === undefined) return undefined
  let length = 1
  let value: number
  const currency = signs[token.text[0] ?? ""]
  if (token.kind === "number") {
    value = Number(token.text.replace(/[$€£,]/g, ""))
  } else {
    const word = words.get(token.word)
    if (token.kind !== "word" || word === undefined) return undefined
    value = word
  }
  const before = tokens[index - 1]
  const negative = token.kind === "number" && before?.text === "-" && tokens[index - 2]?.end !== before.start
  if (negative) value = -value
  for (;;) {
    const next = tokens[index + length]
    const multiple =
      next === undefined ? undefined : (multiples.get(next.word) ?? (next.word === "hundred" ? 100 : undefined))
    if (multiple === undefined) break
    value *= multiple
    length += 1
  }
  const percent = tokens[index + length]?.text === "%" || /^(?:percent|pct)$/.test(tokens[index + length]?.word ?? "")
  if (percent) length += 1
  return Number.isFinite(value)
    ? { length, value, ...(currency === undefined ? {} : { currency }), percent }
    : undefined
}
