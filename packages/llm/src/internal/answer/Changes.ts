/**
 * Answers about what changed from one time to another.
 */
import type { QueryResult } from "@castellan/core/analyst/Tool"
import { summaryColumns, upperFirst } from "../plan/Column.ts"
import type { Summary } from "../plan/Plan.ts"
import { numeric } from "../plan/Statement.ts"
import { escaped, withUnit } from "./Format.ts"
import { nothing } from "./Phrases.ts"
import { columnAt, extreme, isWhole, points } from "./Series.ts"
import { table, tableRows } from "./Table.ts"

/** What changed: over all rows, or for each group. */
export const changes = (plan: Summary, main: QueryResult): ReadonlyArray<string> => {
  const columns = summaryColumns(plan)
  const { change } = plan
  const [measure] = plan.measures
  if (change === undefined || measure === undefined) return []
  const at = (name: string): number => columnAt(main, name)
  const told = main.rows.map((row) => ({
    point: points({ ...main, rows: [row] }, columns, columns.change.name)[0],
    before: numeric(row[at(columns.before.name)]),
    after: numeric(row[at(columns.after.name)]),
    change: numeric(row[at(columns.change.name)]),
    percent: numeric(row[at(columns.changePercent.name)])
  }))
  type Told = (typeof told)[number]
  const sentence = (one: Told): string => {
    if (one.before === undefined || one.after === undefined || one.change === undefined)
      return "has no figures for both times"
    const ends = `from ${withUnit(one.before, measure.unit)} in ${escaped(change.from.label)} to ${withUnit(one.after, measure.unit)} in ${escaped(change.to.label)}`
    if (one.change === 0) return `stayed the same: ${ends}`
    const percent =
      one.percent === undefined || measure.unit === "°C"
        ? ""
        : `, ${one.percent > 0 ? "+" : ""}${withUnit(one.percent, "%")}`
    return `${one.change > 0 ? "rose" : "fell"} by **${withUnit(Math.abs(one.change), measure.unit)}${percent}**: ${ends}`
  }
  if (plan.groups.length === 0) {
    const [one] = told
    return one === undefined || one.before === undefined || one.after === undefined
      ? [
          `${upperFirst(escaped(measure.label))}: there are no figures for both ${escaped(change.from.label)} and ${escaped(change.to.label)}.`
        ]
      : [`The ${escaped(measure.label)} ${sentence(one)}.`]
  }
  if (!isWhole(main)) return [`The table shows how the ${escaped(measure.label)} changed for each group.`]
  const known = told.flatMap((one) =>
    one.change === undefined || one.point === undefined || one.point.none
      ? []
      : [{ ...one, value: one.change, point: one.point }]
  )
  const descending = plan.ranking?.descending ?? true
  const absolute = extreme(known, descending)
  const relative = extreme(
    known.flatMap((one) => (one.percent === undefined ? [] : [{ ...one, value: one.percent }])),
    descending
  )
  if (absolute === undefined) return [nothing(plan)]
  const winner = change.relative ? (relative ?? absolute) : absolute
  const [verb, way] = descending ? ["rose", "most"] : ["fell", "most"]
  const sure = descending ? winner.value > 0 : winner.value < 0
  const lead = sure
    ? `**${escaped(winner.point.name)}** ${verb} ${way}`
    : `None ${verb}; nearest is **${escaped(winner.point.name)}**`
  const lines = [`${lead}: the ${escaped(measure.label)} ${sentence(winner)}.`]
  if (relative !== undefined && relative.point.name !== absolute.point.name) {
    const other = winner === relative ? absolute : relative
    lines.push(
      `${winner === relative ? "In absolute terms" : "In percent"} it is **${escaped(other.point.name)}**, which ${sentence(other)}.`
    )
  }
  const cell = (value: number | undefined, unit: string | undefined): string =>
    value === undefined ? "–" : withUnit(value, unit)
  const cells = told.map((one) => [
    one.point?.name ?? "",
    cell(one.before, measure.unit),
    cell(one.after, measure.unit),
    cell(one.change, measure.unit),
    cell(one.percent, "%")
  ])
  const headings = [
    { text: columns.groups.map((column) => column.label).join(", "), numeric: false },
    ...[change.from.label, change.to.label, "Change", "In percent"].map((text) => ({ text, numeric: true }))
  ]
  return [lines.join(" "), ...(told.length <= tableRows ? [table(headings, cells)] : [])]
}
