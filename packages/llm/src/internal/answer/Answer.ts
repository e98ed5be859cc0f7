/**
 * The written answer: the figure first, then what the rows show beside it, a small table, how the question was read,
 * and what the reader must know to trust it.
 */
import type { QueryResult } from "@castellan/core/analyst/Tool"
import { summaryColumns } from "../plan/Column.ts"
import type { Plan, Summary } from "../plan/Plan.ts"
import type { PlainFindings } from "../plan/Findings.ts"
import { numeric } from "../plan/Statement.ts"
import { reading } from "../plan/Reading.ts"
import type { Correction } from "../understanding/Mention.ts"
import { changes } from "./Changes.ts"
import { figureOfGroups, figures } from "./Figures.ts"
import { anyValue, escaped, groupValue, withUnit } from "./Format.ts"
import { rows } from "./Listings.ts"
import { cut, missingGroup, nothing } from "./Phrases.ts"
import { categories, combinations, otherReading } from "./Rankings.ts"
import { relation } from "./Relations.ts"
import { columnAt, inCalendarOrder, type Point, points, telling } from "./Series.ts"
import { table, tableRows } from "./Table.ts"
import { trend } from "./Trends.ts"

/** What surrounds an answer. */
export interface Surroundings {
  readonly corrections: ReadonlyArray<Correction>
  /** What went wrong on the way, fit for the reader: a chart that could not be drawn. */
  readonly notes: ReadonlyArray<string>
}

/** The answer to a question, from what was found. */
export const answer = (findings: PlainFindings, surroundings: Surroundings): string =>
  framed(findings.plan, bodyOf(findings), surroundings)

/** An answer with how its question was read, and what else is to be known. */
export const framed = (plan: Plan, body: ReadonlyArray<string>, surroundings: Surroundings): string => {
  const corrections = surroundings.corrections.map(
    (one) => `I read “${escaped(one.written)}” as “${escaped(one.read)}”.`
  )
  const read = `*Read as: ${escaped(reading(plan))}.*`
  return [...body, [read, ...corrections, ...surroundings.notes].join(" ")].join("\n\n")
}

const bodyOf = (findings: PlainFindings): ReadonlyArray<string> => {
  switch (findings._tag) {
    case "Summary":
      return summary(findings.plan, findings.main, findings.alternative)
    case "Rows":
      return rows(findings.plan, findings.main, findings.count)
    case "Scatter":
      return relation(findings.plan, findings.pairs, findings.correlation, findings.binned)
  }
}

const summary = (plan: Summary, main: QueryResult, alternative: QueryResult | undefined): ReadonlyArray<string> => {
  const columns = summaryColumns(plan)
  const [first] = columns.measures
  if (main.rows.length === 0 || first === undefined) return [nothing(plan)]
  if (plan.outer !== undefined) return figureOfGroups(plan, main)
  if (plan.change !== undefined) return changes(plan, main)
  if (plan.groups.length === 0) return figures(plan, main)
  const all = inCalendarOrder(points(main, columns, plan.share ? columns.share.name : first.name), columns)
  if (telling(all).length === 0) return [nothing(plan)]
  const notes = [
    ...(alternative === undefined ? [] : otherReading(plan, main, alternative)),
    ...missingGroup(plan, all),
    ...cut(main)
  ]
  const small = all.length > 1 && all.length <= tableRows && main.row_count <= tableRows
  return [
    ...shown(plan, all, main),
    ...(notes.length === 0 ? [] : [notes.join(" ")]),
    ...(small ? [summaryTable(plan, all, main)] : [])
  ]
}

const shown = (plan: Summary, all: ReadonlyArray<Point>, main: QueryResult): ReadonlyArray<string> => {
  const [group] = plan.groups
  if (plan.groups.length > 1) return combinations(plan, all, main)
  return group?._tag === "Grain" && plan.ranking === undefined ? trend(plan, all, main) : categories(plan, all, main)
}

const summaryTable = (plan: Summary, all: ReadonlyArray<Point>, main: QueryResult): string => {
  const columns = summaryColumns(plan)
  const measures = columns.measures.map((column) => ({
    name: column.name,
    label: column.label,
    unit: column.measure.unit
  }))
  const numbers = plan.share ? [...measures, columns.share] : measures
  const headings = [
    ...columns.groups.map((column) => ({ text: column.label, numeric: false })),
    ...numbers.map((column) => ({ text: column.label, numeric: true }))
  ]
  const cells = all.map((point) => [
    ...(columns.groups.length === 1
      ? [point.name]
      : columns.groups.map((column, index) => groupValue(point.keys[index] ?? null, column.group))),
    ...numbers.map((column) => {
      const at = columnAt(main, column.name)
      const raw = point.row[at] ?? null
      const value = numeric(raw)
      return value === undefined ? anyValue(raw, main.columns[at], column.unit) : withUnit(value, column.unit)
    })
  ])
  return table(headings, cells)
}
