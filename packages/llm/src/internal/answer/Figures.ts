/**
 * Answers that are single figures.
 */
import type { QueryResult } from "@castellan/core/analyst/Tool"
import { summaryColumns } from "../plan/Column.ts"
import type { Measure, Summary } from "../plan/Plan.ts"
import { numeric } from "../plan/Statement.ts"
import { filterWords, groupWords, listed } from "../plan/Reading.ts"
import { lowerFirst, rowsOf } from "../understanding/Measuring.ts"
import { anyValue, escaped, plainNumber, withUnit } from "./Format.ts"
import { nothing } from "./Phrases.ts"
import { columnAt } from "./Series.ts"

const figure = (measure: Measure, result: QueryResult, column: string): string => {
  const at = columnAt(result, column)
  const raw = result.rows[0]?.[at] ?? null
  const value = numeric(raw)
  return value === undefined ? anyValue(raw, result.columns[at], measure.unit) : withUnit(value, measure.unit)
}

/** Numbers over all rows that match. */
export const figures = (plan: Summary, main: QueryResult): ReadonlyArray<string> => {
  const columns = summaryColumns(plan)
  const told = columns.measures.map((column) => ({ column, raw: main.rows[0]?.[columnAt(main, column.name)] ?? null }))
  if (told.every((one) => one.raw === null)) return [nothing(plan)]
  const [only] = told
  if (only === undefined || told.length > 1) {
    return [
      told
        .map(({ column }) => `- ${escaped(column.label)}: **${figure(column.measure, main, column.name)}**`)
        .join("\n")
    ]
  }
  const { measure, name } = only.column
  const text = figure(measure, main, name)
  if (measure.expression._tag === "Portion") {
    return [
      `**${text}** of ${escaped(portionWhole(plan, measure))} meet this: ${escaped(listed(measure.expression.filters.map(filterWords)))}.`
    ]
  }
  const said = `The ${escaped(measure.label)} is **${text}**.`
  return numeric(only.raw) === 0 && measure.summable ? [said, nothing(plan)] : [said]
}

const portionWhole = (plan: Summary, measure: Measure): string =>
  measure.label.startsWith("share of the ") ? measure.label.slice("share of ".length) : rowsOf(plan.facts)

/** A figure over the figures of groups: the average number of flights per day. */
export const figureOfGroups = (plan: Summary, main: QueryResult): ReadonlyArray<string> => {
  const columns = summaryColumns(plan)
  const value = numeric(main.rows[0]?.[columnAt(main, columns.outer.name)])
  const count = numeric(main.rows[0]?.[columnAt(main, columns.outerGroups.name)])
  const [group] = plan.groups
  const per = escaped(group === undefined ? "group" : groupWords(group))
  if (value === undefined || count === undefined || count === 0) return [nothing(plan)]
  if (plan.outer === "count") return [`The ${escaped(lowerFirst(columns.outer.label))} is **${plainNumber(value)}**.`]
  return [
    `The ${escaped(lowerFirst(columns.outer.label))} is **${withUnit(value, plan.measures[0]?.unit)}**.`,
    `It is taken over the ${plainNumber(count)} different values of ${per} that occur in these data.`
  ]
}
