/**
 * Answers over categories: who is first, who is last, how far apart, how much of the whole.
 */
import type { QueryResult } from "@castellan/core/analyst/Tool"
import { groupLabel, summaryColumns, upperFirst } from "../plan/Column.ts"
import type { Summary } from "../plan/Plan.ts"
import { listed } from "../plan/Reading.ts"
import { lowerFirst, plural } from "../understanding/Measuring.ts"
import { escaped, plainNumber, withUnit } from "./Format.ts"
import { apart, atTime, label, named, nothing, percentOf, superlative, value } from "./Phrases.ts"
import { isPartialStep } from "./PartialSteps.ts"
import { extreme, isWhole, type Point, points, telling } from "./Series.ts"

type Told = Point & { readonly value: number }

/** What categories show. */
export const categories = (plan: Summary, all: ReadonlyArray<Point>, main: QueryResult): ReadonlyArray<string> => {
  const known = telling(all)
  const [first] = known
  if (first === undefined) return [nothing(plan)]
  if (plan.listing) return [listing(plan, all, main)]
  if (plan.ranking !== undefined) return ranking(plan, known, plan.ranking.descending)
  if (known.length === 1) return [`The ${label(plan)} for ${named(plan, first)} is **${value(plan, first)}**.`]
  if (!isWhole(main)) {
    return [
      `There are ${plainNumber(main.row_count)} groups; the table has them all, and the first is ${named(plan, first)} with **${value(plan, first)}**.`
    ]
  }
  return known.length === 2 ? [pair(plan, known)] : [ends(plan, known, all)]
}

/** The values themselves: "list all genres". */
const listing = (plan: Summary, all: ReadonlyArray<Point>, main: QueryResult): string => {
  const [group] = plan.groups
  const known = all.filter((point) => !point.none)
  const count = isWhole(main) ? known.length : main.row_count
  const what = escaped(plural(group === undefined ? "group" : lowerFirst(groupLabel(group))))
  const ones = known.every((point) => point.value === 1)
  const shown = known
    .slice(0, 20)
    .map((point) => (ones ? named(plan, point) : `${named(plan, point)} (${value(plan, point)})`))
  const more = count > shown.length ? `, and ${plainNumber(count - shown.length)} more in the table` : ""
  const one = escaped(group === undefined ? "group" : lowerFirst(groupLabel(group)))
  return `There ${count === 1 ? "is" : "are"} **${plainNumber(count)}** ${count === 1 ? one : what}${ones ? "" : `, with their ${label(plan)}`}: ${listed(shown, more === "" ? "and" : ",").replaceAll(" , ", ", ")}${more}.`
}

const ranking = (plan: Summary, known: ReadonlyArray<Told>, descending: boolean): ReadonlyArray<string> => {
  const first = extreme(known, descending)
  if (first === undefined) return [nothing(plan)]
  const ties = known.filter((point) => point.value === first.value && point !== first)
  const others = ties.slice(0, 3).map((point) => named(plan, point))
  const more = ties.length > 3 ? ` and ${ties.length - 3} more` : ""
  const tie = ties.length === 0 ? "" : ` The same holds for ${listed(others)}${more}.`
  const next = extreme(
    known.filter((point) => point !== first && !ties.includes(point)),
    descending
  )
  const follows =
    next === undefined || ties.length > 0 ? "" : ` ${upperFirst(named(plan, next))} follows with ${value(plan, next)}.`
  const [group] = plan.groups
  const isTime = plan.groups.length === 1 && group?._tag === "Grain"
  return [
    isTime
      ? `The ${superlative(plan, descending)} was **${atTime(group, first)}**: **${value(plan, first)}**.${tie}${follows}`
      : `**${named(plan, first)}** has the ${superlative(plan, descending)}: **${value(plan, first)}**.${tie}${follows}`
  ]
}

const ends = (plan: Summary, known: ReadonlyArray<Told>, all: ReadonlyArray<Point>): string => {
  const first = extreme(known, true)
  const last = extreme(known, false)
  if (first === undefined || last === undefined) return nothing(plan)
  const [measure] = plan.measures
  const none = all.reduce((sum, point) => sum + (point.none ? (point.value ?? 0) : 0), 0)
  const sum = known.reduce((total, point) => total + point.value, none)
  const adds =
    measure?.summable === true &&
    !plan.share &&
    plan.having.length === 0 &&
    sum > 0 &&
    known.every((point) => point.value >= 0)
  const share = adds
    ? ` That is ${withUnit((100 * first.value) / sum, "%")} of the ${withUnit(sum, measure.unit)} in all.`
    : ""
  if (first.value === last.value)
    return `The ${label(plan)} is **${value(plan, first)}** for all ${plainNumber(known.length)} of them.`
  return plan.groups[0]?._tag === "Bins"
    ? `The ${superlative(plan, true)} is in the range **${named(plan, first)}**: **${value(plan, first)}**.${share}`
    : `**${named(plan, first)}** has the ${superlative(plan, true)}: **${value(plan, first)}**.${share} The lowest is ${named(plan, last)} with ${value(plan, last)}.`
}

/** Two groups side by side, and how far apart they are. */
const pair = (plan: Summary, known: ReadonlyArray<Told>): string => {
  const [left, right] = known
  if (left === undefined || right === undefined) return nothing(plan)
  const difference = Math.abs(left.value - right.value)
  const [larger, smaller] = left.value >= right.value ? [left, right] : [right, left]
  const percent = percentOf(plan, difference, smaller.value)
  const told = `The ${label(plan)} is **${value(plan, left)}** for ${named(plan, left)} and **${value(plan, right)}** for ${named(plan, right)}.`
  return difference === 0
    ? `${told} They are the same.`
    : `${told} ${upperFirst(named(plan, larger))} is higher by ${apart(plan, difference)}${percent === undefined ? "" : ` (${percent})`}.`
}

/** Two groups at once: the top, the bottom, and that the rest is in the chart and the table. */
export const combinations = (plan: Summary, all: ReadonlyArray<Point>, main: QueryResult): ReadonlyArray<string> => {
  const known = telling(all)
  const whole = known.filter(
    (point) => !plan.groups.some((group, index) => isPartialStep(plan, group, point.keys[index]))
  )
  const top = extreme(whole, true)
  const bottom = extreme(whole, false)
  if (top === undefined || bottom === undefined) return [nothing(plan)]
  if (plan.ranking !== undefined) return ranking(plan, known, plan.ranking.descending)
  const of = `combinations of ${escaped(listed(plan.groups.map((group) => lowerFirst(groupLabel(group)))))}`
  if (!isWhole(main)) return [`There are ${plainNumber(main.row_count)} ${of}; the chart and the table show them.`]
  return [
    `Over ${plainNumber(whole.length)} ${of}, the ${label(plan)} is highest for **${escaped(top.name)}** with **${value(plan, top)}** and lowest for ${escaped(bottom.name)} with ${value(plan, bottom)}.`
  ]
}

/** Whether the other fair reading of a ranking agrees. */
export const otherReading = (plan: Summary, main: QueryResult, alternative: QueryResult): ReadonlyArray<string> => {
  const columns = summaryColumns(plan)
  const { alternative: measure } = plan
  const [other] = points(alternative, columns, columns.alternative.name)
  const [first] = points(main, columns, columns.measures[0]?.name ?? "")
  if (measure === undefined || other === undefined || first === undefined || other.value === undefined) return []
  const figure = withUnit(other.value, measure.unit)
  return other.name === first.name
    ? [`It also comes first by ${escaped(measure.label)} (${figure}).`]
    : [`By ${escaped(measure.label)} it is **${named(plan, other)}** (${figure}).`]
}
