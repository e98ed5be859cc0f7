/**
 * A question as a row of mentions: each stretch of words with everything that it may mean. The row is the cheapest
 * way to account for every word (a shortest path), so long names win over their parts and known words over unknown.
 */
import { correction } from "../language/Spelling.ts"
import { correctableWords, operatorsAt } from "../language/Grammar.ts"
import type { Numeral } from "../language/Numeral.ts"
import { readNumeral } from "../language/Numeral.ts"
import type { Operator } from "../language/Operator.ts"
import type { TimeReading } from "../language/Time.ts"
import { readTime } from "../language/Time.ts"
import type { Token } from "../language/Token.ts"
import { stem } from "../language/Words.ts"
import type { Lexicon, TermMatch } from "./Lexicon.ts"

/** A stretch of the question with what it may mean; with none of it, the stretch is not understood. */
export interface Mention {
  readonly text: string
  readonly tokens: ReadonlyArray<Token>
  /** Terms of the source, best first. */
  readonly terms: ReadonlyArray<TermMatch>
  readonly operators: ReadonlyArray<Operator>
  readonly time: TimeReading | undefined
  readonly number: Numeral | undefined
  readonly quoted: boolean
}

/** A word that was read as another one. */
export interface Correction {
  readonly written: string
  readonly read: string
}

/** The mentions of a question and the slips that were put right on the way. */
export interface Mentions {
  readonly mentions: ReadonlyArray<Mention>
  readonly corrections: ReadonlyArray<Correction>
}

const operatorCost = (operator: Operator): number => {
  switch (operator._tag) {
    case "Harmless":
      return 6
    case "Preposition":
    case "And":
    case "List":
    case "Which":
    case "Role":
      return 8
    case "Pronoun":
    case "Continue":
    case "Records":
    case "Unit":
      return 9.5
    default:
      return 9
  }
}

interface Edge {
  readonly length: number
  cost: number
  readonly terms: Array<TermMatch>
  readonly operators: Array<Operator>
  time: TimeReading | undefined
  number: Numeral | undefined
  quoted: boolean
}

const unknownCost = 80

/** The cost up to which a term is meant although the grammar knows the same words. */
const sureCost = 12

/** How much dearer a second meaning of the same words may be and still be kept. */
const keep = 5

/** What the grammar makes of the words at a token, whatever the data are about. */
interface Spoken {
  readonly operators: ReturnType<typeof operatorsAt>
  readonly times: ReadonlyArray<TimeReading>
  readonly number: Numeral | undefined
}

/** A question before it is held against a source. */
export interface Question {
  readonly tokens: ReadonlyArray<Token>
  readonly spoken: ReadonlyArray<Spoken>
}

/** Reads what the grammar knows of a question: once, for all sources. */
export const question = (tokens: ReadonlyArray<Token>): Question => {
  const words = tokens.map((token) => token.word)
  return {
    tokens,
    spoken: tokens.map((_, index) => ({
      operators: operatorsAt(words, index),
      times: readTime(tokens, index),
      number: readNumeral(tokens, index)
    }))
  }
}

const edgesAt = ({ spoken, tokens }: Question, index: number, lexicon: Lexicon): Array<Edge> => {
  const edges = new Map<number, Edge>()
  const edge = (length: number, cost: number): Edge => {
    const known = edges.get(length)
    if (known !== undefined) {
      known.cost = Math.min(known.cost, cost)
      return known
    }
    const made: Edge = { length, cost, terms: [], operators: [], time: undefined, number: undefined, quoted: false }
    edges.set(length, made)
    return made
  }
  for (const match of lexicon.at(tokens, index)) edge(match.length, match.cost).terms.push(match)
  const said = spoken[index]
  for (const { length, operator } of said?.operators ?? [])
    edge(length, operatorCost(operator)).operators.push(operator)
  for (const reading of said?.times ?? []) {
    const at = edge(reading.length, reading.bare ? 11 : 9)
    at.time ??= reading
  }
  const number = said?.number
  if (number !== undefined) edge(number.length, 10).number = number
  if (tokens[index]?.kind === "quoted") edge(1, 9).quoted = true
  for (const one of edges.values()) {
    // "higher" compares; that its root also begins some field's name is an accident.
    if (one.operators.some((operator) => !["Harmless", "Beyond", "Concept"].includes(operator._tag))) {
      const sure = one.terms.filter((match) => match.cost <= sureCost || match.term._tag === "Value")
      one.terms.splice(0, one.terms.length, ...sure)
    }
    const cheapest = Math.min(...one.terms.map((match) => match.cost))
    const kept = one.terms.filter((match) => match.cost <= cheapest + keep)
    one.terms.splice(0, one.terms.length, ...kept.toSorted((left, right) => left.cost - right.cost))
  }
  return [...edges.values()]
}

/** Reads an unknown word as the one known word that is a slip away. */
const corrected = (token: Token, lexicon: Lexicon): Token | undefined => {
  if (token.kind !== "word") return undefined
  // What the data are about is more likely meant than a word of the grammar that is as near.
  const word = [lexicon.words, correctableWords]
    .map((known) => correction(token.word, known) ?? plural(token.word, known))
    .find((found) => found !== undefined)
  return word === undefined ? undefined : { ...token, word, stem: stem(word), parts: [word] }
}

/** A slip in a plural is a slip in its singular. */
const plural = (word: string, known: ReadonlySet<string>): string | undefined =>
  word.endsWith("s") ? correction(word.slice(0, -1), known) : undefined

/** The cheapest row of mentions that accounts for every token. */
export const mentions = (
  asked: Question,
  lexicon: Lexicon,
  /** Mentions that led nowhere: the same words are not to be read as one again. */
  without: ReadonlyArray<Mention> = []
): Mentions => {
  const isLeft = (from: number, length: number): boolean =>
    without.some(
      (mention) => mention.tokens.length === length && mention.tokens[0]?.start === asked.tokens[from]?.start
    )
  const corrections: Array<Correction> = []
  const found = asked.tokens.map((_, index) => edgesAt(asked, index, lexicon))
  const covered = new Set<number>()
  found.forEach((edges, index) => {
    for (const edge of edges) for (let offset = 0; offset < edge.length; offset++) covered.add(index + offset)
  })
  const read = asked.tokens.map((token, index) => {
    if (covered.has(index)) return token
    const better = corrected(token, lexicon)
    if (better === undefined) return token
    corrections.push({ written: token.text, read: better.word })
    return better
  })
  const mended = corrections.length === 0 ? undefined : question(read)
  const edgesOf = (index: number): ReadonlyArray<Edge> =>
    mended === undefined ? (found[index] ?? []) : edgesAt(mended, index, lexicon)

  const best: Array<{ cost: number; edge: Edge | undefined; from: number }> = [{ cost: 0, edge: undefined, from: -1 }]
  const relax = (to: number, cost: number, from: number, edge: Edge | undefined): void => {
    const known = best[to]
    if (known === undefined || cost < known.cost) best[to] = { cost, edge, from }
  }
  for (let index = 0; index < read.length; index++) {
    const here = best[index]?.cost ?? Number.POSITIVE_INFINITY
    relax(index + 1, here + unknownCost, index, undefined)
    for (const edge of edgesOf(index)) {
      if (!isLeft(index, edge.length)) relax(index + edge.length, here + edge.cost, index, edge)
    }
  }
  const row: Array<Mention> = []
  for (let at = read.length; at > 0;) {
    const step = best[at]
    if (step === undefined) break
    const covering = read.slice(step.from, at)
    row.unshift({
      text: covering.map((token) => token.text).join(" "),
      tokens: covering,
      terms: step.edge?.terms ?? [],
      operators: step.edge?.operators ?? [],
      time: step.edge?.time,
      number: step.edge?.number,
      quoted: step.edge?.quoted ?? false
    })
    at = step.from
  }
  return { mentions: row, corrections }
}

/** Whether nothing is known about the words of a mention. */
export const isUnknown = (mention: Mention): boolean =>
  mention.terms.length === 0 &&
  mention.operators.length === 0 &&
  mention.time === undefined &&
  mention.number === undefined &&
  !mention.quoted
