/**
 * What the passes over numbers share: which mentions name one, and which one a quality means.
 */
import { phraseKey } from "../../language/Words.ts"
import type { Measure } from "../../plan/Plan.ts"
import { alternativeOf } from "../Alternatives.ts"
import { type FieldFacts, nameOf } from "../Facts.ts"
import { candidates, isMeasure, isNumber } from "../Measuring.ts"
import type { Problem } from "../Problem.ts"
import { type Slot, type Work, fieldsIn, isEntity } from "../Work.ts"
import { fieldsOfConcept } from "./LimitSubject.ts"
import * as Result from "effect/Result"

/** Adds a measure once. */
export const addMeasure = (work: Work, measure: Measure): void => {
  if (!work.measures.some((known) => known.label === measure.label)) work.measures.push(measure)
}

export const isNumeric = (slot: Slot | undefined): boolean =>
  slot !== undefined && !slot.used && candidates(slot, (facts) => isNumber(facts) || isMeasure(facts)).length > 0

/** "flight distance", "movie budget": the rows' own name in front of their number only says whose it is. */
export const isModifier = (work: Work, slot: Slot): boolean => {
  const next = work.next(slot)
  return isEntity(slot) && next !== undefined && !next.used && candidates(next, isNumber).length > 0
}

/** A word of the grammar that the model declares as a number's own name. */
export const isNumericName = (slot: Slot): boolean =>
  fieldsIn(slot).some((one) => one.strength === "exact" && (isNumber(one.facts) || isMeasure(one.facts)))

/** The first or last moment of a time field. */
export const timeMeasure = (facts: FieldFacts, last: boolean): Measure => ({
  expression: { _tag: "Aggregate", function: last ? "maximum" : "minimum", facts },
  label: `${last ? "last" : "first"} ${nameOf(facts).toLowerCase()}`,
  unit: undefined,
  summable: false
})

export const numbersOf = (work: Work) =>
  work.facts.fields
    .filter((facts) => isNumber(facts) && facts.path.length === 0)
    .slice(0, 8)
    .map(alternativeOf)

/** The one number field that measures a quality. */
export const conceptField = (
  work: Work,
  slot: Slot,
  concept: string,
  least: boolean
): Result.Result<FieldFacts, Problem> => {
  const named = candidates(slot, isNumber)
  const own = fieldsOfConcept(work.facts, concept).filter((facts) => facts.path.length === 0)
  const extreme = own.filter((facts) => facts.extreme === (least ? "minimum" : "maximum"))
  const found = named.length > 0 ? named : own.length > 1 && extreme.length > 0 ? extreme : own
  const [only] = found
  return only !== undefined && found.length === 1
    ? Result.succeed(only)
    : Result.fail(
        found.length > 1
          ? { _tag: "Ambiguous", words: slot.mention.text, alternatives: found.map(alternativeOf) }
          : {
              _tag: "Incomplete",
              message: `I do not know which number “${slot.mention.text}” is about.`,
              alternatives: numbersOf(work)
            }
      )
}

/** The number field behind a declared measure: the price behind the highest price. */
export const baseOf = (work: Work, measure: FieldFacts): FieldFacts | undefined => {
  const bases = new Set(measure.bases.map(phraseKey))
  return work.facts.fields.find(
    (facts) =>
      isNumber(facts) &&
      facts.path.join(" ") === measure.path.join(" ") &&
      facts.phrases.some((phrase) => bases.has(phraseKey(phrase)))
  )
}
