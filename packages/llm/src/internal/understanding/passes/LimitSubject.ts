/**
 * What a limit is about: the field beside it, the rows, the quality that its words name, or what its unit measures.
 */
import { concepts } from "../../language/Concepts.ts"
import { phraseKey } from "../../language/Words.ts"
import { alternativeOf } from "../Alternatives.ts"
import type { FieldFacts, SourceFacts } from "../Facts.ts"
import { candidates, isMeasure, isNumber, oneField } from "../Measuring.ts"
import type { Problem } from "../Problem.ts"
import { type Slot, type Work, doing, fieldsIn, isEntity } from "../Work.ts"
import { type Limit, fits } from "./Limit.ts"
import * as Result from "effect/Result"

/** The number fields that measure a quality. */
export const fieldsOfConcept = (facts: SourceFacts, concept: string): ReadonlyArray<FieldFacts> => {
  const words = (concepts.get(concept) ?? []).map((word) => phraseKey(word.split(" ")))
  const named = facts.fields.filter(
    (one) => isNumber(one) && one.phrases.some((phrase) => words.includes(phraseKey(phrase)))
  )
  if (named.length > 0) return named
  return facts.fields.filter(
    (one) =>
      isNumber(one) &&
      one.phrases.some((phrase) => {
        const key = ` ${phraseKey(phrase)} `
        return words.some((word) => key.endsWith(` ${word} `) || (phrase.length <= 2 && key.includes(` ${word} `)))
      })
  )
}

export const words = (work: Work, from: Slot, to: Slot): string =>
  work.slots
    .slice(from.index, to.index + 1)
    .map((slot) => slot.mention.text)
    .join(" ")

type Subject =
  | {
      readonly _tag: "Field"
      readonly facts: FieldFacts
      readonly slot: Slot | undefined
      readonly side: "left" | "right" | "none"
    }
  | { readonly _tag: "Rows"; readonly slot: Slot }

const isNumeric = (facts: FieldFacts): boolean => isNumber(facts) || (isMeasure(facts) && facts.field.type === "number")

export const subjectOf = (
  work: Work,
  limit: Limit,
  left: Slot | undefined,
  right: Slot | undefined,
  looksAhead: boolean
): Result.Result<Subject | undefined, Problem> =>
  Result.gen(function* () {
    const concept =
      limit.concept ??
      doing(right, "Concept")?.concept ??
      (left === undefined ? undefined : doing(left, "Concept")?.concept)
    const conceptSlot =
      doing(right, "Concept") !== undefined ? right : doing(left, "Concept") !== undefined ? left : undefined
    for (const [side, slot] of sides(limit, left, right, looksAhead)) {
      if (slot === undefined || slot.used) continue
      if (
        side === "right" &&
        (isEntity(slot) || doing(slot, "Records") !== undefined) &&
        limit.unit === undefined &&
        limit.concept === undefined
      ) {
        const exact = fieldsIn(slot).find((one) => one.strength === "exact" && isNumber(one.facts))
        if (exact === undefined) return { _tag: "Rows", slot } as const
      }
      if (doing(slot, "Superlative") !== undefined) continue
      if (side === "left" && isEntity(slot) && candidates(slot, isNumber).length === 0) continue
      const wanted = candidates(slot, isNumeric)
      const fitting = wanted.filter((facts) => fits(facts, limit.unit) || facts.unit === undefined)
      if (wanted.length === 0 || fitting.length === 0) continue
      const [only] = fitting
      if (only !== undefined && fitting.length === 1 && wanted.length > 1)
        return { _tag: "Field", facts: only, slot, side } as const
      const facts = yield* oneField(slot, fieldsIn(slot).some((one) => isNumber(one.facts)) ? isNumber : isNumeric)
      if (facts !== undefined) return { _tag: "Field", facts, slot, side } as const
    }
    const measuring =
      concept === undefined
        ? undefined
        : fieldsOfConcept(work.facts, concept).filter((facts) => fits(facts, limit.unit))
    const byUnit =
      limit.unit === undefined
        ? []
        : work.facts.fields.filter((facts) => isNumber(facts) && facts.path.length === 0 && fits(facts, limit.unit))
    const found = measuring ?? byUnit
    const [only] = found
    if (only === undefined) {
      if (concept === undefined) return undefined
      return yield* Result.fail<Problem>({
        _tag: "Incomplete",
        message: `I do not know which field “${words(work, limit.comparator ?? limit.slot, limit.last)}” limits.`,
        alternatives: work.facts.fields.filter(isNumber).slice(0, 6).map(alternativeOf)
      })
    }
    if (found.length > 1) {
      return yield* Result.fail<Problem>({
        _tag: "Ambiguous",
        words: words(work, limit.comparator ?? limit.slot, limit.last),
        alternatives: found.map(alternativeOf)
      })
    }
    return { _tag: "Field", facts: only, slot: conceptSlot, side: "none" } as const
  })

/** "delay over 60" looks left first; "more than 8 cylinders" has nothing on its left but what it describes. */
const sides = (
  limit: Limit,
  left: Slot | undefined,
  right: Slot | undefined,
  looksAhead: boolean
): ReadonlyArray<readonly ["left" | "right", Slot | undefined]> => {
  if (limit.concept !== undefined) return []
  const byNumber = limit.comparator === undefined || limit.comparator.index > limit.slot.index
  if (looksAhead) {
    return [
      ["right", right],
      ["left", left]
    ]
  }
  return byNumber && limit.to === undefined && right !== undefined && candidates(right, isNumber).length > 0
    ? [
        ["right", right],
        ["left", left]
      ]
    : [
        ["left", left],
        ["right", right]
      ]
}
