/**
 * Answers over steps of time: from where to where, the top and the bottom, and which step is not whole.
 */
import type { QueryResult } from "@castellan/core/analyst/Tool"
import type { Summary } from "../plan/Plan.ts"
import { plainNumber } from "./Format.ts"
import { isPartialStep } from "./PartialSteps.ts"
import { atTime, label, named, nothing, percentOf, value } from "./Phrases.ts"
import { extreme, isWhole, type Point, telling } from "./Series.ts"

/** What steps of time show. */
export const trend = (plan: Summary, all: ReadonlyArray<Point>, main: QueryResult): ReadonlyArray<string> => {
  const every = telling(all)
  const known = every.filter((point) => !isPartialStep(plan, plan.groups[0], point.keys[0]))
  const partial = every.filter((point) => isPartialStep(plan, plan.groups[0], point.keys[0]))
  const [first] = known
  const last = known.at(-1)
  const top = extreme(known, true)
  const bottom = extreme(known, false)
  const [group] = plan.groups
  if (first === undefined || last === undefined || top === undefined || bottom === undefined) {
    const [only] = every
    return [
      only === undefined ? nothing(plan) : `The ${label(plan)} ${atTime(group, only)} is **${value(plan, only)}**.`
    ]
  }
  const left =
    partial.length === 0
      ? []
      : [
          `The data cover only a part of ${partial.map((point) => `${named(plan, point)} (${value(plan, point)})`).join(" and ")}, so that is left out of the comparison.`
        ]
  if (known.length === 1) return [`The ${label(plan)} ${atTime(group, first)} is **${value(plan, first)}**.`, ...left]
  if (!isWhole(main)) {
    return [
      `The chart and the table show the ${label(plan)} at ${plainNumber(main.row_count)} times. The first is **${value(plan, first)}** ${atTime(group, first)}.`
    ]
  }
  const change = last.value - first.value
  const percent = percentOf(plan, Math.abs(change), first.value)
  const course =
    change === 0
      ? `The ${label(plan)} ended where it began: **${value(plan, first)}** ${atTime(group, first)} and ${atTime(group, last)}.`
      : `The ${label(plan)} ${change > 0 ? "rose" : "fell"} from **${value(plan, first)}** ${atTime(group, first)} to **${value(plan, last)}** ${atTime(group, last)}${percent === undefined ? "" : ` (${change > 0 ? "+" : "−"}${percent})`}.`
  const range =
    top.value === bottom.value
      ? ""
      : ` It was highest ${atTime(group, top)} with ${value(plan, top)} and lowest ${atTime(group, bottom)} with ${value(plan, bottom)}.`
  return [`${course}${range}`, ...left]
}
