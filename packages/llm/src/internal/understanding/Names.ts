/**
 * Unknown words that may be names of things in the data: a director, an airport, a film. They are looked up before
 * anything is said about them. A plain unknown word is not: a film called Big would turn "big movies" into nonsense.
 */
import { phraseKey, wordsOf } from "../language/Words.ts"
import { type FieldFacts, playsRole, type SourceFacts } from "./Facts.ts"
import { type FoundValue, isOpenText } from "./Lexicon.ts"
import { isUnknown, type Mention } from "./Mention.ts"
import type { Problem } from "./Problem.ts"

/** Words to look up in fields of a source before the question can be read. */
export interface LookUp {
  readonly _tag: "LookUp"
  readonly source: string
  readonly words: string
  readonly fields: ReadonlyArray<string>
}

/** Fields that one name is looked up in at most. */
const maxFields = 6

const isValue = (mention: Mention): boolean => mention.terms.some(({ term }) => term._tag === "Value")

const categories = (mention: Mention | undefined): ReadonlyArray<FieldFacts> =>
  (mention?.terms ?? []).flatMap(({ term }) =>
    term._tag === "Field" &&
    term.facts.field.kind === "dimension" &&
    (term.facts.field.type === "text" || term.facts.field.type === "json")
      ? [term.facts]
      : []
  )

const has = (mention: Mention | undefined, tags: ReadonlyArray<string>): boolean =>
  mention !== undefined && mention.operators.some((operator) => tags.includes(operator._tag))

const isProperWord = (mention: Mention | undefined): boolean =>
  mention !== undefined &&
  mention.tokens.length === 1 &&
  mention.tokens[0]?.proper === true &&
  mention.time === undefined &&
  mention.terms.length === 0

const isHarmless = (mention: Mention | undefined): boolean => has(mention, ["Harmless"])

const linking = /^(?:of|the|de|van|von|la|le|&|for)$/

interface Run {
  readonly from: number
  readonly to: number
}

/** The stretch of mentions around an unknown one that reads like one name. */
const runAround = (mentions: ReadonlyArray<Mention>, start: number): Run => {
  let from = start
  let to = start
  const first = mentions[start]
  if (first?.quoted === true) return { from, to }
  while (from > 0 && isProperWord(mentions[from - 1])) from -= 1
  for (;;) {
    const next = mentions[to + 1]
    if (next !== undefined && (isUnknown(next) || isProperWord(next))) {
      to += 1
      continue
    }
    let ahead = to + 1
    while (ahead - to <= 3 && mentions[ahead] !== undefined && linking.test(mentions[ahead]?.text ?? "")) ahead += 1
    const beyond = mentions[ahead]
    const proper = beyond?.tokens.every((token) => token.proper) === true
    if (
      ahead > to + 1 &&
      beyond !== undefined &&
      proper &&
      (isUnknown(beyond) || isProperWord(beyond)) &&
      first?.tokens[0]?.proper === true
    ) {
      to = ahead
      continue
    }
    return { from, to }
  }
}

const neighbour = (mentions: ReadonlyArray<Mention>, index: number, step: -1 | 1): Mention | undefined => {
  let at = index + step
  while (isHarmless(mentions[at])) at += step
  return mentions[at]
}

/** What the unknown words of a question are about: look-ups to make, or why nothing can be made of them. */
export const unknownNames = (
  facts: SourceFacts,
  mentions: ReadonlyArray<Mention>,
  found: ReadonlyArray<FoundValue>
): Problem | LookUp | undefined => {
  const unknown: Array<string> = []
  for (let index = 0; index < mentions.length; index++) {
    const mention = mentions[index]
    if (mention === undefined || !(isUnknown(mention) || (mention.quoted && !isValue(mention)))) continue
    const run = runAround(mentions, index)
    const inside = mentions.slice(run.from, run.to + 1)
    const words = inside.map((one) => one.text).join(" ")
    const tokens = inside.flatMap((one) => one.tokens)
    const before = neighbour(mentions, run.from, -1)
    const after = neighbour(mentions, run.to, 1)
    const isDate = tokens.some((token) => token.kind === "date")
    // "what genre is Jurassic Park" asks for a genre; the name is of something else.
    const named = [beforePreposition(mentions, run.from), before, after].flatMap((one) =>
      one === undefined || isAskedFor(mentions, one) ? [] : categories(one)
    )
    const invited =
      mention.quoted ||
      tokens.some((token) => token.proper) ||
      named.length > 0 ||
      isValueList(mentions, run.from) ||
      has(before, ["Preposition", "Role", "Negation", "Versus"])
    if (isDate || !invited || wordsOf(words).length === 0 || words.length > 120) {
      unknown.push(words)
      index = run.to
      continue
    }
    const closed = named.filter((one) => one.field.values !== undefined)
    const [full] = closed
    const open = named.filter((one) => isOpenText(one.field))
    if (open.length === 0 && full !== undefined && closed.length === named.length) {
      return { _tag: "NoValue", words, field: full.field.label, values: full.field.values ?? [] }
    }
    const role = before?.operators.find((operator) => operator._tag === "Role")
    const everywhere = openFields(facts)
    const played = role === undefined ? [] : everywhere.filter((one) => playsRole(one, role.role))
    const asked = found.filter((one) => one.source === facts.source.name && one.words === words)
    const nothingIn = (fields: ReadonlyArray<FieldFacts>): boolean =>
      fields.every((field) => asked.some((one) => one.field === field.field.name && one.near.length === 0))
    // Beside its field first, by its role next, anywhere last.
    const wanted = [open, played].find((fields) => fields.length > 0 && !nothingIn(fields)) ?? everywhere
    const fields = wanted.slice(0, maxFields)
    const missing = fields.filter((one) => !asked.some((answer) => answer.field === one.field.name))
    if (missing.length > 0) {
      return { _tag: "LookUp", source: facts.source.name, words, fields: missing.map((one) => one.field.name) }
    }
    const key = phraseKey(wordsOf(words))
    const listed = facts.fields.flatMap((one) =>
      (one.path.length === 0 ? (one.field.values ?? []) : []).filter((value) =>
        ` ${phraseKey(wordsOf(value))} `.includes(` ${key} `)
      )
    )
    const near = [...asked.flatMap((one) => one.near), ...listed]
    if (near.length > 0) {
      return {
        _tag: "Ambiguous",
        words,
        alternatives: [...new Set(near)]
          .slice(0, 8)
          .map((value) => ({ label: value, words: `"${value.replaceAll('"', " ")}"` }))
      }
    }
    unknown.push(words)
    index = run.to
  }
  return unknown.length === 0 ? undefined : { _tag: "Unknown", words: unknown, near: [] }
}

/** Whether a mention is what a question word asks for. */
const isAskedFor = (mentions: ReadonlyArray<Mention>, mention: Mention): boolean =>
  has(neighbour(mentions, mentions.indexOf(mention), -1), ["Which"])

/** The mention before a preposition: the director in "the director of Jaws is", the symbol in "with symbol of X". */
const beforePreposition = (mentions: ReadonlyArray<Mention>, index: number): Mention | undefined => {
  let at = index - 1
  while (
    isHarmless(mentions[at]) ||
    mentions[at]?.text === "=" ||
    mentions[at]?.text === "called" ||
    mentions[at]?.text === "named"
  )
    at -= 1
  return at === index - 1 ? undefined : mentions[at]
}

/** Whether a name continues a list of values: "Drama, Comedy or Noir". */
const isValueList = (mentions: ReadonlyArray<Mention>, index: number): boolean => {
  const before = neighbour(mentions, index, -1)
  if (!has(before, ["And", "Or", "Versus"])) return false
  const at = mentions.indexOf(
    before ??
      mentions[0] ?? {
        text: "",
        tokens: [],
        terms: [],
        operators: [],
        time: undefined,
        number: undefined,
        quoted: false
      }
  )
  const first = neighbour(mentions, at, -1)
  return first !== undefined && isValue(first)
}

const openFields = (facts: SourceFacts): ReadonlyArray<FieldFacts> => {
  const open = facts.fields.filter((one) => isOpenText(one.field))
  return [...open.filter((one) => one.path.length === 0), ...open.filter((one) => one.path.length > 0)]
}
