/**
 * Phrases that several kinds of answers share.
 */
import type { QueryResult } from "@castellan/core/analyst/Tool"
import type { Grain } from "../language/Calendar.ts"
import { groupLabel } from "../plan/Column.ts"
import type { Group, Plan, Summary } from "../plan/Plan.ts"
import { groupWords } from "../plan/Reading.ts"
import { lowerFirst, rowsOf } from "../understanding/Measuring.ts"
import { momentRangeInWords } from "./Coverage.ts"
import { escaped, plainNumber, withUnit } from "./Format.ts"
import type { Point } from "./Series.ts"

/** The unit of the numbers that an answer is about. */
export const unitOf = (plan: Summary): string | undefined => (plan.share ? "%" : plan.measures[0]?.unit)

/** A group's number with its unit. */
export const value = (plan: Summary, point: Point): string =>
  point.value === undefined ? "no value" : withUnit(point.value, unitOf(plan))

/** What the numbers of an answer are called. */
export const label = (plan: Summary): string =>
  escaped(plan.share ? `share of the ${plan.measures[0]?.label ?? ""}` : (plan.measures[0]?.label ?? ""))

/** "the highest price", and not "the highest highest price". */
export const superlative = (plan: Summary, descending: boolean): string => {
  const name = label(plan)
  const word = descending ? "highest" : "lowest"
  return name.startsWith(`${word} `) || /^(?:longest|shortest|best|worst|most|least) /.test(name)
    ? name
    : `${word} ${name}`
}

/** A group by its name; a bare number says of what it is one. */
export const named = (plan: Summary, point: Point): string => {
  const [group] = plan.groups
  const bare = plan.groups.length === 1 && group?._tag === "Field" && /^[−-]?\d[\d.,]*$/.test(point.name)
  return escaped(bare ? `${lowerFirst(groupLabel(group))} ${point.name}` : point.name)
}

const prepositions: Readonly<Record<Grain, string>> = {
  year: "in",
  quarter: "in",
  month: "in",
  week: "in",
  day: "on",
  hour: "at"
}

/** "in March 2008", "on 5 March 2008". */
export const atTime = (group: Group | undefined, point: Point): string =>
  `${group?._tag === "Grain" ? prepositions[group.grain] : "in"} ${escaped(point.name)}`

/** Nothing matched: said plainly, with where there is something. */
export const nothing = (plan: Plan): string => {
  const range = plan.facts.time === undefined ? undefined : momentRangeInWords(plan.facts.time)
  const filtered = plan.filters.length > 0 || (plan._tag === "Summary" && plan.having.length > 0)
  const where = range === undefined ? "" : ` The data run from ${range}.`
  const said = filtered
    ? `No ${escaped(rowsOf(plan.facts))} match this question.`
    : `There are no ${escaped(rowsOf(plan.facts))} with a value to compute this from.`
  return said + where
}

/** A difference in percent, where the unit has a zero that means none. */
export const percentOf = (plan: Summary, difference: number, base: number): string | undefined => {
  const unit = unitOf(plan)
  return base > 0 && unit !== "%" && unit !== "°C" && unit !== "°F"
    ? withUnit((100 * difference) / base, "%")
    : undefined
}

/** A difference between two numbers of an answer: percentages differ by percentage points. */
export const apart = (plan: Summary, difference: number): string =>
  unitOf(plan) === "%"
    ? `${plainNumber(Number(difference.toPrecision(3)))} percentage points`
    : withUnit(difference, unitOf(plan))

/** Rows that belong to no group are said, never dropped in silence. */
export const missingGroup = (plan: Summary, all: ReadonlyArray<Point>): ReadonlyArray<string> => {
  const one = all.find((point) => point.none)
  const [group] = plan.groups
  if (one === undefined || group === undefined || plan.groups.length !== 1) return []
  return [`Where the ${escaped(groupWords(group))} is not known, it is ${value(plan, one)}.`]
}

/** What a limit cut away is said. */
export const cut = (result: QueryResult): ReadonlyArray<string> =>
  result.truncated
    ? [`The result was cut at ${plainNumber(result.row_count)} rows, so what is beyond is not in it.`]
    : []
