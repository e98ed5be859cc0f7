/**
 * Steps of time that the data cover only in part: a count of the first days of July is no count of July.
 */
import type { Value } from "@castellan/core/connector/ResultTable"
import { type Grain, ordinal, shift } from "../language/Calendar.ts"
import type { Group, Summary } from "../plan/Plan.ts"

/** A step of which the data cover less than this part is not compared with whole ones. */
const wholePart = 0.8

/**
 * Whether the data begin or end inside a step, so that its count or sum is of a part of it only. Data of one moment a
 * step (the first of each month) fill the step by it.
 */
export const isPartialStep = (plan: Summary, group: Group | undefined, key: Value | undefined): boolean => {
  const [measure] = plan.measures
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
