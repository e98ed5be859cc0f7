/**
 * Answers over steps of time: from where to where, the top and the bottom, and which step is not whole.
 */
import type { QueryResult } from "@castellan/core/analyst/Tool"
import { type Grain, ordinal, shift } from "../language/Calendar.ts"
import type { Summary } from "../plan/Plan.ts"
import { plainNumber } from "./Format.ts"
import { atTime, label, named, nothing, percentOf, value } from "./Phrases.ts"
import { extreme, isWhole, type Point, telling } from "./Series.ts"

/** A step of which the data cover less than this part is not compared with whole ones. */
const wholePart = 0.8

/** What steps of time show. */
export const trend = (plan: Summary, all: ReadonlyArray<Point>, main: QueryResult): ReadonlyArray<string> => {
  const every = telling(all)
  const known = every.filter((point) => !isPartial(plan, point))
  const partial = every.filter((point) => isPartial(plan, point))
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

/**
 * Whether the data begin or end inside a step, so that its count or sum is of a part of it only. Data of one moment a
 * step (the first of each month) fill the step by it.
 */
const isPartial = (plan: Summary, point: Point): boolean => {
  const [group] = plan.groups
  const [measure] = plan.measures
  const [key] = point.keys
  if (group?._tag !== "Grain" || group.facts.time !== "moment" || measure?.summable !== true || plan.share) return false
  const range = group.facts.field.timeRange
  if (range === undefined || typeof key !== "string" || group.grain === "hour" || group.grain === "day") return false
  const from = key.slice(0, 10)
  const until = shift(from, group.grain, 1)
  const first = range.first.slice(0, 10)
  const last = range.last.slice(0, 10)
  if (isRegular(range.first, range.last, group.grain)) return false
  const length = ordinal(until) - ordinal(from)
  const start = first > from ? first : from
  const end = last < until ? ordinal(last) + 1 : ordinal(until)
  return (end - ordinal(start)) / length < wholePart
}

const isRegular = (first: string, last: string, grain: Grain): boolean => {
  const ending = { year: "-01-01", quarter: "-01", month: "-01", week: "", day: "", hour: "" }[grain]
  const isStart = (moment: string): boolean => moment.slice(0, 10).endsWith(ending) && !/T(?!00:00:00)/.test(moment)
  return ending !== "" && isStart(first) && isStart(last)
}
