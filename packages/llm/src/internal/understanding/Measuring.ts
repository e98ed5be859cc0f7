/**
 * From words to numbers: which measure of the model, or which aggregate of which field, words ask for.
 */
import * as Result from "effect/Result"
import type { Grain } from "../language/Calendar.ts"
import { lessIsBetter, moreIsBetter } from "../language/Concepts.ts"
import type { AggregateFunction } from "../language/Operator.ts"
import { phraseKey, stem, wordsOf } from "../language/Words.ts"
import type { Expression, Measure } from "../plan/Plan.ts"
import { type FieldFacts, nameOf, type SourceFacts } from "./Facts.ts"
import type { Alternative, Problem } from "./Problem.ts"
import { fieldsIn, type Slot } from "./Work.ts"
import { alternativeOf } from "./Alternatives.ts"

const functionWords: Readonly<Record<AggregateFunction, string>> = {
  average: "average",
  total: "total",
  maximum: "highest",
  minimum: "lowest",
  median: "median",
  deviation: "standard deviation of"
}

/** A label inside a sentence: a capital stays only where it is part of a name (`IMDB rating`, `US gross`). */
export const lowerFirst = (label: string): string =>
  /^\p{Lu}[\p{Ll}]/u.test(label) ? label.replace(/^\p{Lu}/u, (letter) => letter.toLowerCase()) : label

/** A declared measure as a column. */
export const declared = (facts: FieldFacts): Measure => ({
  expression: { _tag: "Declared", facts },
  label: lowerFirst(nameOf(facts)),
  unit: facts.unit,
  summable:
    facts.kind === "count" || facts.kind === "total" || (facts.kind === "unknown" && facts.nature !== "intensive")
})

/** The number of rows. */
export const rowCount = (facts: SourceFacts): Measure => {
  if (facts.rowCount !== undefined) return { ...declared(facts.rowCount), summable: true }
  return { expression: { _tag: "Rows" }, label: `number of ${rowsOf(facts)} records`, unit: undefined, summable: true }
}

/** What the rows of a source are called. */
export const rowsOf = (facts: SourceFacts): string => lowerFirst(facts.source.label)

/** Several of something that one word names. */
export const plural = (label: string): string => {
  if (/(?:[^aeiou]y)$/.test(label)) return `${label.slice(0, -1)}ies`
  if (/(?:s|x|ch|sh)$/.test(label)) return /(?:ss|x|ch|sh)$/.test(label) ? `${label}es` : label
  return /[a-z]$/.test(label) ? `${label}s` : `${label} values`
}

/** The number of different values of a field. */
export const distinctCount = (facts: FieldFacts, grain?: Grain): Measure => ({
  expression: { _tag: "Distinct", facts, ...(grain === undefined ? {} : { grain }) },
  label: `number of different ${plural(grain ?? lowerFirst(nameOf(facts)))}`,
  unit: undefined,
  summable: false
})

/** An aggregate of a field: by a declared measure where one does just that, else computed in the query. */
export const aggregated = (source: SourceFacts, name: AggregateFunction, facts: FieldFacts): Measure => {
  const match = measuresOf(source, facts).find((candidate) => candidate.kind === name)
  if (match !== undefined) return { ...declared(match), unit: match.unit ?? facts.unit }
  const label = lowerFirst(nameOf(facts))
  const said = functionWords[name]
  return {
    expression: { _tag: "Aggregate", function: name, facts },
    label: label.startsWith(`${said} `) ? label : `${said} ${label}`,
    unit: facts.unit,
    summable: name === "total"
  }
}

/** Declared measures that aggregate a field, as their names tell. */
export const measuresOf = (source: SourceFacts, facts: FieldFacts): ReadonlyArray<FieldFacts> => {
  const keys = new Set([...facts.phrases, ...facts.shortPhrases].map(phraseKey))
  return source.fields.filter(
    (candidate) =>
      candidate.field.kind === "measure" &&
      candidate.path.join(" ") === facts.path.join(" ") &&
      candidate.bases.some((base) => keys.has(phraseKey(base)))
  )
}

/** One aggregate of a field as something to ask back with. */
const aggregateAlternative = (name: AggregateFunction, facts: FieldFacts): Alternative => {
  const { label, words } = alternativeOf(facts)
  return { label: `${functionWords[name]} ${lowerFirst(label)}`, words: `${functionWords[name]} ${words}` }
}

/** The aggregate that a number stands for when the question names none. The answer says which it was. */
export const byDefault = (source: SourceFacts, facts: FieldFacts, slot: Slot): Result.Result<Measure, Problem> => {
  if (facts.extreme !== undefined && /^(?:highest|lowest|maximum|minimum|max|min)\b/i.test(slot.mention.text)) {
    return Result.succeed(aggregated(source, facts.extreme, facts))
  }
  if (facts.nature === "intensive") return Result.succeed(aggregated(source, "average", facts))
  if (facts.nature === "additive") return Result.succeed(aggregated(source, "total", facts))
  const known = measuresOf(source, facts)
  const [only] = known
  if (only !== undefined && known.length === 1) return Result.succeed(declared(only))
  return Result.fail({
    _tag: "Ambiguous",
    words: slot.mention.text,
    alternatives: (["average", "total", "maximum"] as const).map((name) => aggregateAlternative(name, facts))
  })
}

const strengths = ["exact", "joined", "head", "modifier"] as const

/** The fields that a mention names best: all of the greatest strength at which any is wanted. */
export const candidates = (slot: Slot, wanted: (facts: FieldFacts) => boolean): ReadonlyArray<FieldFacts> => {
  const fields = fieldsIn(slot).filter(({ facts }) => wanted(facts))
  for (const strength of strengths) {
    const found = fields.filter((one) => one.strength === strength)
    const cheapest = Math.min(...found.map((one) => one.cost))
    const best = found.filter((one) => one.cost === cheapest)
    if (best.length > 0) return [...new Set(best.map((one) => one.facts))]
  }
  return []
}

/** Whether a mention names a field by its first words only, which is too little to answer. */
export const isWeak = (slot: Slot): boolean => {
  const fields = fieldsIn(slot)
  return fields.length > 0 && fields.every((one) => one.strength === "modifier")
}

const isDimension = (facts: FieldFacts): boolean => facts.field.kind === "dimension"
/** A number of each row. */
export const isNumber = (facts: FieldFacts): boolean =>
  isDimension(facts) && facts.field.type === "number" && facts.time === undefined
/** Something that rows can be put together by. */
export const isCategory = (facts: FieldFacts): boolean =>
  isDimension(facts) && (facts.field.type === "text" || facts.field.type === "boolean" || facts.field.type === "json")
/** A declared aggregate. */
export const isMeasure = (facts: FieldFacts): boolean => facts.field.kind === "measure"

/** The one field of a kind that a mention names; a problem where there are several, nothing where there is none. */
export const oneField = (
  slot: Slot,
  wanted: (facts: FieldFacts) => boolean
): Result.Result<FieldFacts | undefined, Problem> => {
  const found = candidates(slot, wanted)
  const [first] = found
  if (first === undefined) return Result.succeed(undefined)
  return found.length === 1 && !isWeak(slot)
    ? Result.succeed(first)
    : Result.fail({ _tag: "Ambiguous", words: slot.mention.text, alternatives: found.map(alternativeOf) })
}

/** What a mention measures, given how it is to be aggregated; nothing where it is not a number. */
export const measured = (
  source: SourceFacts,
  slot: Slot,
  name: AggregateFunction | undefined
): Result.Result<Measure | undefined, Problem> => {
  const exactMeasures = fieldsIn(slot).filter((one) => one.strength === "exact" && isMeasure(one.facts))
  const [exact] = exactMeasures
  const dimension = fieldsIn(slot).find(
    (one) => one.strength !== "head" && one.strength !== "modifier" && isNumber(one.facts)
  )
  if (name === undefined) {
    if (
      exact !== undefined &&
      exactMeasures.length === 1 &&
      (dimension === undefined || dimension.cost >= exact.cost)
    ) {
      return Result.succeed(declared(exact.facts))
    }
    return Result.flatMap(oneField(slot, isNumber), (facts) => {
      if (facts !== undefined) return byDefault(source, facts, slot)
      return Result.map(oneField(slot, isMeasure), (measure) => (measure === undefined ? undefined : declared(measure)))
    })
  }
  const alike = exactMeasures.find((one) => one.facts.kind === name || (name === "total" && one.facts.kind === "count"))
  if (alike !== undefined && dimension === undefined) return Result.succeed(declared(alike.facts))
  const numbers = candidates(slot, isNumber)
  const byName = numbers.filter((facts) => facts.extreme === name)
  if (numbers.length > 1 && byName.length === 1 && byName[0] !== undefined) {
    return Result.succeed(aggregated(source, name, byName[0]))
  }
  return Result.flatMap(oneField(slot, isNumber), (facts) => {
    if (facts !== undefined) return Result.succeed(aggregated(source, name, facts))
    const heads = candidates(
      slot,
      (one) => isMeasure(one) && (one.kind === name || (name === "total" && one.kind === "count"))
    )
    const [head] = heads
    if (head !== undefined && heads.length === 1) return Result.succeed(declared(head))
    const [other] = exactMeasures
    if (other !== undefined && name === "total" && other.facts.kind === "unknown")
      return Result.succeed(declared(other.facts))
    return Result.succeed(undefined)
  })
}

/** A number of each row as an expression of its own kind, for ratios. */
export const summed = (source: SourceFacts, facts: FieldFacts): Expression =>
  aggregated(source, "total", facts).expression

/** Whether more of a number is better, as far as its name tells. */
export const moreIsBetterFor = (name: string): boolean | undefined => {
  const stems = wordsOf(name).map(stem)
  if (stems.some((word) => lessIsBetter.has(word))) return false
  if (stems.some((word) => moreIsBetter.has(word))) return true
  return undefined
}
