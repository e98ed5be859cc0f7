/**
 * Parts of charts in Vega-Lite: axes for groups, their order, and what is left out of a picture.
 */
import { monthNames, partsOf } from "../language/Calendar.ts"
import { type GroupColumn, groupLabel, upperFirst } from "../plan/Column.ts"
import type { Summary } from "../plan/Plan.ts"
import { groupValue } from "./Format.ts"
import { isPartialStep } from "./PartialSteps.ts"
import { columnAt } from "./Series.ts"
import type { QueryResult } from "@castellan/core/analyst/Tool"

/** Keeps the rows that have a value; `valid` would ask for a number, and drop every text. */
export const isKnown = (field: string) => ({ filter: `datum[${JSON.stringify(field)}] != null` })

/** A chart to make. */
export interface Chart {
  readonly name: string
  readonly specification: Readonly<Record<string, unknown>>
}

/** Bars that can be read in one picture. */
export const maxBars = 20

/** Lines that can be told apart in one picture. */
export const maxSeries = 8

export const schema = { $schema: "https://vega.github.io/schema/vega-lite/v6.json" }

export const heading = (label: string, unit: string | undefined): string =>
  unit === undefined || label.toLowerCase().includes(unit.toLowerCase())
    ? upperFirst(label)
    : `${upperFirst(label)} (${unit})`

const weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]

/** The values of a column in the order in which they stand in the result. */
export const valuesOf = (result: QueryResult, name: string): ReadonlyArray<string> => {
  const at = columnAt(result, name)
  return [
    ...new Set(
      result.rows
        .map((row) => row[at] ?? null)
        .filter((value) => value !== null)
        .map(String)
    )
  ]
}

export const isCalendar = (result: QueryResult, name: string): ReadonlyArray<string> | undefined => {
  const values = valuesOf(result, name)
  if (values.length < 2) return undefined
  const order = [weekdays, [...monthNames]].find((round) => values.every((value) => round.includes(value)))
  return order
}

/** An axis for the group of a chart. */
export const axis = (column: GroupColumn, result: QueryResult): Record<string, unknown> => {
  const { group } = column
  const text = heading(
    groupLabel(group),
    group._tag === "Field" || group._tag === "Bins" ? group.facts.unit : undefined
  )
  if (group._tag === "Grain") {
    return group.facts.time === "year"
      ? {
          field: column.name,
          type: "quantitative",
          title: text,
          scale: { zero: false },
          axis: { format: "d", tickMinStep: 1 }
        }
      : { field: column.name, type: "temporal", title: text }
  }
  if (group._tag === "Part" && (group.part === "hour" || group.part === "quarter"))
    return { field: column.name, type: "ordinal", title: text }
  if (group._tag === "Field" && group.facts.field.type === "number")
    return { field: column.name, type: "ordinal", title: text }
  const round = group._tag === "Periods" ? group.periods.map((period) => period.label) : isCalendar(result, column.name)
  return { field: column.name, type: "nominal", title: text, ...(round === undefined ? {} : { sort: [...round] }) }
}

/** Drops the first and the last step where they are not whole: a line would fall at its end for no reason. */
export const partialSteps = (
  plan: Summary,
  main: QueryResult,
  column: GroupColumn
): { readonly names: ReadonlyArray<string>; readonly filters: ReadonlyArray<Record<string, unknown>> } => {
  const at = columnAt(main, column.name)
  const ends = [main.rows[0], main.rows.length > 1 ? main.rows.at(-1) : undefined]
  const names: Array<string> = []
  const filters: Array<Record<string, unknown>> = []
  ends.forEach((row, index) => {
    const key = row?.[at] ?? null
    const parts = typeof key === "string" && isPartialStep(plan, column.group, key) ? partsOf(key) : undefined
    if (parts === undefined || main.row_count < 4) return
    const moment = { year: parts.year, month: parts.month, date: parts.day }
    filters.push({ filter: { field: column.name, [index === 0 ? "gt" : "lt"]: moment } })
    names.push(groupValue(key, column.group))
  })
  return { names, filters }
}

export const timeUnits = {
  year: "year",
  quarter: "yearquarter",
  month: "yearmonth",
  week: "yearmonthdate",
  day: "yearmonthdate",
  hour: "yearmonthdatehours"
} as const

export const timeFormats = {
  year: "%Y",
  quarter: "Q%q %Y",
  month: "%b %Y",
  week: "%-d %b %Y",
  day: "%-d %b %Y",
  hour: "%-d %b %Y, %H:00"
} as const

/** A line may start anywhere; only when everything is far from zero does it. */
export const startsAtZero = (main: QueryResult, name: string): boolean => {
  const at = columnAt(main, name)
  const values = main.rows.flatMap((row) => {
    const value = row[at]
    return value === null || value === undefined ? [] : [Number(value)]
  })
  if (values.length === 0) return true
  const low = Math.min(...values)
  const high = Math.max(...values)
  return !(low > 0 && (high - low) / high < 0.5)
}

export const sameUnit = (plan: Summary): boolean => new Set(plan.measures.map((measure) => measure.unit)).size === 1
