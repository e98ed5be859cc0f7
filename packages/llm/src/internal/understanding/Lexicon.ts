/**
 * The words of one source: which phrases name its rows, its fields and its values.
 */
import type { OntologyField } from "@castellan/core/ontology/Ontology"
import { grammarWords, operatorsAt } from "../language/Grammar.ts"
import type { Token } from "../language/Token.ts"
import { nounOf, phraseKey, rootKey, wordsOf } from "../language/Words.ts"
import type { FieldFacts, SourceFacts } from "./Facts.ts"
import { unitNamed } from "../language/Units.ts"

/**
 * How well words name something. `exact`: in full. `joined`: in full, but the join on the way is left to be
 * understood. `head`: by its last words (`rating` for IMDB rating). `modifier`: by its first words, which is enough
 * to ask, never to answer.
 */
export type Strength = "exact" | "joined" | "head" | "modifier"

/** Something that words of the question name. */
export type Term =
  | { readonly _tag: "Field"; readonly facts: FieldFacts; readonly strength: Strength }
  | {
      readonly _tag: "Value"
      readonly facts: FieldFacts
      readonly value: string
      readonly strength: "exact" | "partial"
    }
  | { readonly _tag: "Entity" }

/** A term at a place of the question, with what it costs to believe it. */
export interface TermMatch {
  readonly length: number
  readonly term: Term
  readonly cost: number
}

/** Values that a look-up in the data found for words of the question. */
export interface FoundValue {
  readonly source: string
  readonly field: string
  /** The words of the question, as they were looked up. */
  readonly words: string
  /** Values that the words are, whatever their case; or the only value that contains them. */
  readonly values: ReadonlyArray<string>
  /** Values that contain the words, where there are several. */
  readonly near: ReadonlyArray<string>
}

/** The words of a source. */
export interface Lexicon {
  readonly at: (tokens: ReadonlyArray<Token>, index: number) => ReadonlyArray<TermMatch>
  /** Single words, for slips of the finger. */
  readonly words: ReadonlySet<string>
}

const costs: Readonly<Record<Strength | "partial", number>> = {
  exact: 10,
  joined: 12,
  head: 14,
  partial: 14,
  modifier: 20
}

/** Roots are wider than meanings; believing one costs more than believing a stem. */
const rootCost = 3

const longest = 10

interface Entry {
  readonly term: Term
  readonly cost: number
  /** Set for values that read like grammar (`OR`, `May`): only this exact spelling means them. */
  readonly spelled?: string
}

const fieldTerm = (facts: FieldFacts, strength: Strength): Entry => ({
  term: { _tag: "Field", facts, strength },
  cost: costs[strength]
})

/** Parts of a name that may stand for all of it. */
const parts = (
  phrase: ReadonlyArray<string>
): {
  readonly heads: ReadonlyArray<ReadonlyArray<string>>
  readonly modifiers: ReadonlyArray<ReadonlyArray<string>>
} => {
  if (phrase.length < 2 || phrase.includes("per") || phrase.includes("of")) return { heads: [], modifiers: [] }
  const cuts = phrase.slice(1).map((_, index) => index + 1)
  const usable = (words: ReadonlyArray<string>) =>
    words.length > 1 ||
    ((words[0]?.length ?? 0) > 2 && !grammarWords.has(words[0] ?? "") && unitNamed(words[0] ?? "") === undefined)
  return {
    heads: cuts.map((cut) => phrase.slice(cut)).filter(usable),
    modifiers: cuts.map((cut) => phrase.slice(0, cut)).filter(usable)
  }
}

const nameLike = new Set(["name", "title", "label", "code", "id", "iata", "key", "symbol"])

/** The lexicon of a source, with values found by looking them up. */
export const lexicon = (facts: SourceFacts, found: ReadonlyArray<FoundValue>): Lexicon => {
  const byKey = new Map<string, Array<Entry>>()
  const byRoot = new Map<string, Array<Entry>>()
  const words = new Set<string>()
  let span = 1

  const add = (phrase: ReadonlyArray<string>, entry: Entry): void => {
    if (phrase.length === 0 || phrase.length > longest || (entry.term._tag === "Field" && isGlueWord(phrase))) return
    span = Math.max(span, phrase.length)
    push(byKey, phraseKey(phrase), entry)
    if (entry.spelled === undefined) {
      push(byRoot, rootKey(phrase), entry)
      for (const word of phrase) words.add(word)
    }
  }

  for (const entity of facts.entities) add(entity, { term: { _tag: "Entity" }, cost: costs.exact })
  for (const one of facts.fields) {
    for (const phrase of one.phrases)
      if (one.field.kind === "dimension" || !ranksThings(phrase, facts)) add(phrase, fieldTerm(one, "exact"))
    for (const phrase of one.shortPhrases) add(phrase, fieldTerm(one, "joined"))
    const named = one.path.length > 0 ? one.shortPhrases : one.phrases
    const cutFrom = one.field.kind === "measure" ? one.bases : named
    if (one.field.kind === "measure") {
      for (const base of one.bases) if (!ranksThings(base, facts)) add(base, fieldTerm(one, "head"))
      // The words of a declared measure say what is aggregated; halves of them say too little.
    } else if (one.extreme === undefined) {
      for (const phrase of cutFrom) {
        const { heads, modifiers } = parts(phrase)
        for (const head of heads) add(head, fieldTerm(one, "head"))
        for (const modifier of modifiers) add(modifier, fieldTerm(one, "modifier"))
      }
    } else {
      for (const phrase of cutFrom) for (const rest of withoutExtreme(phrase)) add(rest, fieldTerm(one, "head"))
    }
    // A join by its own name means what names the joined rows: "by origin airport" is by its name or code.
    const own = wordsOf(one.field.name.split(".").at(-1) ?? "")
    if (one.path.length > 0 && own.length === 1 && nameLike.has(own[0] ?? "")) {
      add(one.path, fieldTerm(one, "head"))
      if (one.path.length > 1) add(one.path.slice(-1), fieldTerm(one, "head"))
    }
    if (one.field.kind === "dimension" && one.field.type === "text") {
      for (const value of one.field.values ?? []) addValue(add, one, value)
    }
  }
  for (const one of found) {
    const field = facts.fields.find((candidate) => candidate.field.name === one.field)
    if (one.source !== facts.source.name || field === undefined) continue
    for (const value of one.values) {
      add(wordsOf(one.words), { term: { _tag: "Value", facts: field, value, strength: "exact" }, cost: costs.exact })
    }
  }

  const at = (tokens: ReadonlyArray<Token>, index: number): ReadonlyArray<TermMatch> => {
    const matches: Array<TermMatch> = []
    const phrase: Array<string> = []
    for (let end = index; end < tokens.length && phrase.length < span; end++) {
      const token = tokens[end]
      if (token === undefined) break
      if (token.kind === "mark") {
        if (end === index || !/^[-–/&,]$/.test(token.text)) break
        continue
      }
      phrase.push(...token.parts)
      const length = end - index + 1
      const exact = byKey.get(phraseKey(phrase)) ?? []
      for (const entry of exact) {
        if (entry.spelled === undefined || entry.spelled === written(tokens, index, end)) {
          matches.push({ length, term: entry.term, cost: entry.cost })
        }
      }
      if (exact.length === 0 && phrase.some((word) => word.length > 3)) {
        const noun = phrase.length === 1 ? nounOf(phrase[0] ?? "") : undefined
        const wider = [...(byRoot.get(rootKey(phrase)) ?? []), ...(noun === undefined ? [] : (byKey.get(noun) ?? []))]
        for (const entry of wider) {
          if (entry.spelled === undefined) matches.push({ length, term: entry.term, cost: entry.cost + rootCost })
        }
      }
      if (token.kind === "quoted" || token.possessive) break
    }
    return matches
  }
  return { at, words }
}

/** "hottest day", "longest flight": the grammar reads them as a question for the day or the flight, not its number. */
const ranksThings = (phrase: ReadonlyArray<string>, facts: SourceFacts): boolean => {
  const [last = ""] = phrase.slice(-1)
  // "deaths per year" asks for each year's deaths, whatever a model's synonym makes of it.
  const per =
    phrase.length > 2 &&
    /^(?:per|each|every|a|by)$/.test(phrase.at(-2) ?? "") &&
    operatorsAt([last], 0).some(({ operator }) => operator._tag === "Grain")
  if (per) return true
  const superlative = operatorsAt(phrase, 0).some(
    ({ length, operator }) => operator._tag === "Superlative" && length === phrase.length - 1
  )
  const grain = operatorsAt([last], 0).some(({ operator }) => operator._tag === "Grain")
  return superlative && (grain || facts.entities.some((entity) => phraseKey(entity) === phraseKey([last])))
}

/** A lone word that only holds others together (`from`, `where`) names nothing, whatever a model says. */
const isGlueWord = (phrase: ReadonlyArray<string>): boolean =>
  phrase.length === 1 &&
  operatorsAt(phrase, 0).some(({ operator }) =>
    ["Preposition", "Role", "And", "Or", "Harmless", "Which", "List"].includes(operator._tag)
  )

const push = (map: Map<string, Array<Entry>>, key: string, entry: Entry): void => {
  const list = map.get(key)
  if (list === undefined) map.set(key, [entry])
  else if (!list.some((known) => sameTerm(known.term, entry.term) && known.cost <= entry.cost)) list.push(entry)
}

const sameTerm = (left: Term, right: Term): boolean => {
  if (left._tag === "Entity" || right._tag === "Entity") return left._tag === right._tag
  if (left._tag !== right._tag || left.facts !== right.facts) return false
  return left._tag === "Value" && right._tag === "Value" ? left.value === right.value : true
}

const extremeWord = /^(?:maximum|max|highest|high|minimum|min|lowest|low)$/

const withoutExtreme = (phrase: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> => {
  const rest = phrase.filter((word) => !extremeWord.test(word))
  return rest.length > 0 && rest.length < phrase.length ? [rest] : []
}

const addValue = (
  add: (phrase: ReadonlyArray<string>, entry: Entry) => void,
  facts: FieldFacts,
  value: string
): void => {
  const phrase = wordsOf(value)
  const [first = ""] = phrase
  const negates = operatorsAt(phrase, 0).some(({ operator }) => operator._tag === "Negation")
  const readsLikeGrammar =
    negates ||
    (phrase.length === 1 && (grammarWords.has(first) || unitNamed(first) !== undefined || /^\d+$/.test(first)))
  add(phrase, {
    term: { _tag: "Value", facts, value, strength: "exact" },
    cost: costs.exact,
    ...(readsLikeGrammar ? { spelled: value } : {})
  })
  const partial: Entry = { term: { _tag: "Value", facts, value, strength: "partial" }, cost: costs.partial }
  const halves = value.split(/[/,(]| - /).map(wordsOf)
  if (halves.length > 1) {
    for (const half of halves) if (half.length > 1 || !grammarWords.has(half[0] ?? "")) add(half, partial)
  }
}

const written = (tokens: ReadonlyArray<Token>, from: number, to: number): string =>
  tokens
    .slice(from, to + 1)
    .map((one) => one.text)
    .join(" ")

/** Whether a field is text of many values, of which the ontology lists none. */
export const isOpenText = (field: OntologyField): boolean =>
  field.kind === "dimension" && (field.type === "text" || field.type === "json") && field.values === undefined
