/**
 * Answers about how two numbers go together.
 */
import type { Scatter } from "../plan/Plan.ts"
import { type FieldFacts, nameOf } from "../understanding/Facts.ts"
import { lowerFirst } from "../understanding/Measuring.ts"
import { escaped, plainNumber } from "./Format.ts"
import { nothing } from "./Phrases.ts"

/** How strong a correlation is, in words. */
export const strengthOf = (correlation: number): string => {
  const size = Math.abs(correlation)
  if (size < 0.1) return "practically no"
  if (size < 0.3) return "a weak"
  if (size < 0.6) return "a moderate"
  return size < 0.85 ? "a strong" : "a very strong"
}

/** How strong a linear relationship is, which way it goes, and what it does not say. */
export const relation = (
  plan: Scatter,
  pairs: number,
  correlation: number | undefined,
  binned: boolean
): ReadonlyArray<string> => {
  const name = (facts: FieldFacts): string => escaped(lowerFirst(nameOf(facts)))
  if (pairs === 0) return [nothing(plan)]
  if (correlation === undefined) {
    return [`There is no relationship to compute: one of ${name(plan.x)} and ${name(plan.y)} never changes.`]
  }
  const none = Math.abs(correlation) < 0.1
  const sign = none ? "" : correlation > 0 ? " positive" : " negative"
  const meaning = none
    ? ""
    : ` Where ${name(plan.x)} is higher, ${name(plan.y)} tends to be ${correlation > 0 ? "higher" : "lower"}.`
  const drawn = binned ? `The chart shows the average ${name(plan.y)} for ranges of ${name(plan.x)}. ` : ""
  return [
    `There is ${strengthOf(correlation)}${sign} linear relationship between ${name(plan.x)} and ${name(plan.y)}: the correlation is **${correlation.toFixed(2).replace("-", "−")}** over ${plainNumber(pairs)} records that have both.${meaning}`,
    `${drawn}A correlation does not say that one causes the other.`
  ]
}
