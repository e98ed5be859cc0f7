/**
 * The written answer: the figure first, then what the rows show beside it, a small table, how the question was read,
 * and what the reader must know to trust it.
 */
import type { QueryResult } from "@castellan/core/analyst/Tool"
import { momentRangeInWords } from "./Coverage.ts"
import { rowsColumns, summaryColumns, upperFirst } from "../plan/Column.ts"
import type { Measure, Plan, Rows, Scatter, Summary } from "../plan/Plan.ts"
import { type Findings, numeric } from "../plan/Query.ts"
import { groupWords, listed, reading } from "../plan/Reading.ts"
import type { Correction } from "../understanding/Mention.ts"
import { type FieldFacts, nameOf } from "../understanding/Facts.ts"
import { lowerFirst, rowsOf } from "../understanding/Measuring.ts"
import { anyValue, escaped, plainNumber, withUnit } from "./Format.ts"
import { columnAt, extreme, inCalendarOrder, isWhole, type Point, points, telling } from "./Series.ts"
import { table } from "./Table.ts"

/** Rows that a table in the text has at most; longer ones are a table of their own. */
export const tableRows = 12

/** What surrounds an answer. */
export interface Surroundings {
  readonly corrections: ReadonlyArray<Correction>
  /** What went wrong on the way, fit for the reader: a chart that could not be drawn. */
  readonly notes: ReadonlyArray<string>
}

/** The answer to a question, from what was found. */
export const answer = (findings: Findings, surroundings: Surroundings): string => {
  const body = bodyOf(findings)
  const corrections = surroundings.corrections.map(
    (one) => `I read “${escaped(one.written)}” as “${escaped(one.read)}”.`
  )
  return [
    ...body,
    [`*Read as: ${escaped(reading(findings.plan))}.*`, ...corrections, ...surroundings.notes].join(" ")
  ].join("\n\n")
}

const bodyOf = (findings: Findings): ReadonlyArray<string> => {
  switch (findings._tag) {
    case "Summary":
      return summary(findings.plan, findings.main, findings.alternative)
    case "Rows":
      return rows(findings.plan, findings.main, findings.count)
    case "Scatter":
      return scatter(findings.plan, findings.pairs, findings.correlation, findings.binned)
  }
}

/** Nothing matched: said plainly, with where there is something. */
const nothing = (plan: Plan): string => {
  const range = plan.facts.time === undefined ? undefined : momentRangeInWords(plan.facts.time)
  const filtered = plan.filters.length > 0 || (plan._tag === "Summary" && plan.having.length > 0)
  const where = range === undefined ? "" : ` The data run from ${range}.`
  return `${filtered ? `No ${rowsOf(plan.facts)} match this question.` : `There are no ${rowsOf(plan.facts)} with a value to compute this from.`}${where}`
}

const figure = (value: number | undefined, measure: Measure, result: QueryResult, column: string): string => {
  if (value !== undefined) return withUnit(value, measure.unit)
  const at = columnAt(result, column)
  const raw = result.rows[0]?.[at] ?? null
  return anyValue(raw, result.columns[at], measure.unit)
}

const summary = (plan: Summary, main: QueryResult, alternative: QueryResult | undefined): ReadonlyArray<string> => {
  const columns = summaryColumns(plan)
  const [measure] = plan.measures
  if (main.rows.length === 0 || measure === undefined) return [nothing(plan)]
  if (plan.outer !== undefined) return outer(plan, main)
  if (plan.change !== undefined) return changes(plan, main)
  if (plan.groups.length === 0) return single(plan, main)
  const [first] = columns.measures
  const all = inCalendarOrder(points(main, columns, plan.share ? columns.share.name : (first?.name ?? "")), columns)
  if (telling(all).length === 0) return [nothing(plan)]
  const [group] = plan.groups
  const shown =
    plan.groups.length > 1
      ? crossed(plan, all, main)
      : group?._tag === "Grain" && plan.ranking === undefined
        ? trend(plan, all, main)
        : groups(plan, all, main)
  const notes = [
    ...(alternative === undefined ? [] : otherReading(plan, main, alternative)),
    ...missingGroups(plan, all),
    ...cut(main)
  ]
  return [
    ...shown,
    ...(notes.length === 0 ? [] : [notes.join(" ")]),
    ...(all.length <= tableRows && all.length > 1 ? [summaryTable(plan, all, main)] : [])
  ]
}

const single = (plan: Summary, main: QueryResult): ReadonlyArray<string> => {
  const columns = summaryColumns(plan)
  const told = columns.measures.map((column) => {
    const at = columnAt(main, column.name)
    const raw = main.rows[0]?.[at] ?? null
    return { column, raw, value: numeric(raw) }
  })
  if (told.every((one) => one.raw === null)) return [nothing(plan)]
  const [only] = told
  if (only !== undefined && told.length === 1) {
    const text = figure(only.value, only.column.measure, main, only.column.name)
    const counted = /^number of (.*)$/.exec(only.column.measure.label)?.[1]
    const none = only.value === 0 && counted !== undefined ? [nothing(plan)] : []
    return [
      counted === undefined
        ? `The ${escaped(only.column.measure.label)} is **${text}**.`
        : `The number of ${escaped(counted)} is **${text}**.`,
      ...none
    ]
  }
  return [
    told
      .map(({ column, value }) => `- ${escaped(column.label)}: **${figure(value, column.measure, main, column.name)}**`)
      .join("\n")
  ]
}

const outer = (plan: Summary, main: QueryResult): ReadonlyArray<string> => {
  const columns = summaryColumns(plan)
  const value = numeric(main.rows[0]?.[columnAt(main, columns.outer.name)])
  const count = numeric(main.rows[0]?.[columnAt(main, columns.outerGroups.name)])
  const [group] = plan.groups
  const per = group === undefined ? "group" : groupWords(group)
  if (value === undefined || count === undefined || count === 0) return [nothing(plan)]
  if (plan.outer === "count")
    return [`The number of different ${escaped(per)} values that meet this is **${plainNumber(value)}**.`]
  return [
    `The ${escaped(lowerFirst(columns.outer.label))} is **${withUnit(value, plan.measures[0]?.unit)}**.`,
    `It is taken over the ${plainNumber(count)} different values of ${escaped(per)} that occur in these data.`
  ]
}

const percentOf = (change: number): string => withUnit(change, "%")

const changes = (plan: Summary, main: QueryResult): ReadonlyArray<string> => {
  const columns = summaryColumns(plan)
  const { change } = plan
  const [measure] = plan.measures
  if (change === undefined || measure === undefined) return []
  const at = (name: string): number => columnAt(main, name)
  const told = main.rows.map((row) => ({
    name: points({ ...main, rows: [row] }, columns, columns.change.name)[0],
    before: numeric(row[at(columns.before.name)]),
    after: numeric(row[at(columns.after.name)]),
    change: numeric(row[at(columns.change.name)]),
    percent: numeric(row[at(columns.changePercent.name)])
  }))
  const sentence = (one: (typeof told)[number]): string => {
    if (one.before === undefined || one.after === undefined || one.change === undefined)
      return "there are no figures for both times"
    const verb = one.change > 0 ? "rose" : one.change < 0 ? "fell" : "stayed the same"
    const percent = one.percent === undefined ? "" : `, ${one.percent > 0 ? "+" : ""}${percentOf(one.percent)}`
    const size = one.change === 0 ? "" : ` by **${withUnit(Math.abs(one.change), measure.unit)}${percent}**:`
    return `${verb}${size} from ${withUnit(one.before, measure.unit)} in ${escaped(change.from.label)} to ${withUnit(one.after, measure.unit)} in ${escaped(change.to.label)}`
  }
  if (plan.groups.length === 0) {
    const [one] = told
    return one === undefined || one.before === undefined || one.after === undefined
      ? [
          `${upperFirst(escaped(measure.label))}: there are no figures for both ${escaped(change.from.label)} and ${escaped(change.to.label)}.`
        ]
      : [`The ${escaped(measure.label)} ${sentence(one)}.`]
  }
  const known = told.flatMap((one) =>
    one.change === undefined || one.name === undefined || one.name.none
      ? []
      : [{ ...one, value: one.change, name: one.name }]
  )
  const descending = plan.ranking?.descending ?? true
  const absolute = extreme(known, descending)
  const relative = extreme(
    known.flatMap((one) => (one.percent === undefined ? [] : [{ ...one, value: one.percent }])),
    descending
  )
  if (absolute === undefined || !isWhole(main)) return [nothing(plan)]
  const winner = change.relative ? (relative ?? absolute) : absolute
  const lines = [`**${escaped(winner.name.name)}** changed most: the ${escaped(measure.label)} ${sentence(winner)}.`]
  if (relative !== undefined && relative.name.name !== absolute.name.name) {
    const other = winner === relative ? absolute : relative
    const by = winner === relative ? "In absolute terms" : "In percent"
    lines.push(`${by} it is **${escaped(other.name.name)}**: it ${sentence(other)}.`)
  }
  const cells = told
    .slice(0, tableRows)
    .map((one) => [
      one.name?.name ?? "",
      one.before === undefined ? "–" : withUnit(one.before, measure.unit),
      one.after === undefined ? "–" : withUnit(one.after, measure.unit),
      one.change === undefined ? "–" : withUnit(one.change, measure.unit),
      one.percent === undefined ? "–" : percentOf(one.percent)
    ])
  const headings = [
    ...columns.groups.map((column) => ({ text: column.label, numeric: false })),
    ...[change.from.label, change.to.label, "Change", "In percent"].map((text) => ({ text, numeric: true }))
  ]
  return [lines.join(" "), ...(told.length <= tableRows ? [table(headings, cells)] : [])]
}

const unitOf = (plan: Summary): string | undefined => (plan.share ? "%" : plan.measures[0]?.unit)

const value = (plan: Summary, point: Point): string =>
  point.value === undefined ? "no value" : withUnit(point.value, unitOf(plan))

const label = (plan: Summary): string =>
  plan.share ? `share of the ${plan.measures[0]?.label ?? ""}` : (plan.measures[0]?.label ?? "")

/** Categories: who is first, who is last, how far apart, how much of the whole. */
const groups = (plan: Summary, all: ReadonlyArray<Point>, main: QueryResult): ReadonlyArray<string> => {
  const known = telling(all)
  const whole = isWhole(main)
  const [measure] = plan.measures
  const descending = plan.ranking?.descending ?? true
  const first = extreme(known, descending)
  const last = extreme(known, !descending)
  if (first === undefined || last === undefined) return [nothing(plan)]
  const most = descending ? "highest" : "lowest"
  if (plan.ranking !== undefined) {
    const ties = known.filter((point) => point.value === first.value && point !== first)
    const tie =
      ties.length === 0
        ? ""
        : ` So ${ties.length === 1 ? "has" : "have"} ${listed(ties.slice(0, 3).map((point) => escaped(point.name)))}${ties.length > 3 ? ` and ${ties.length - 3} more` : ""}.`
    const second = known.filter((point) => point !== first && !ties.includes(point))
    const next = extreme(second, descending)
    const follows =
      next === undefined || ties.length > 0 ? [] : [`${escaped(next.name)} follows with ${value(plan, next)}.`]
    return [
      `**${escaped(first.name)}** has the ${most} ${escaped(label(plan))}: **${value(plan, first)}**.${tie}`,
      ...(follows.length === 0 ? [] : [follows.join(" ")])
    ]
  }
  if (known.length === 1)
    return [`The ${escaped(label(plan))} for ${escaped(first.name)} is **${value(plan, first)}**.`]
  if (!whole)
    return [`The first ${known.length} of ${plainNumber(main.row_count)} groups are here; the table has the others.`]
  if (known.length === 2) return [pair(plan, known)]
  const sum = known.reduce((total, point) => total + point.value, 0)
  const share =
    measure?.summable === true && !plan.share && sum > 0 && known.every((point) => point.value >= 0)
      ? ` That is ${withUnit((100 * first.value) / (sum + noneValue(all)), "%")} of the total of ${withUnit(sum + noneValue(all), measure.unit)}.`
      : ""
  const spread =
    plan.groups[0]?._tag === "Bins" ? "" : ` The lowest is ${escaped(last.name)} with ${value(plan, last)}.`
  return [
    `**${escaped(first.name)}** has the highest ${escaped(label(plan))}: **${value(plan, first)}**.${spread}${share}`
  ]
}

const noneValue = (all: ReadonlyArray<Point>): number =>
  all.reduce((sum, point) => sum + (point.none ? (point.value ?? 0) : 0), 0)

/** Two groups side by side, and how far apart they are. */
const pair = (plan: Summary, known: ReadonlyArray<Point & { readonly value: number }>): string => {
  const [left, right] = known
  if (left === undefined || right === undefined) return ""
  const difference = Math.abs(left.value - right.value)
  const [larger, smaller] = left.value >= right.value ? [left, right] : [right, left]
  const percent =
    smaller.value > 0 && !plan.share && plan.measures[0]?.unit !== "°C" && plan.measures[0]?.unit !== "°F"
      ? ` (${withUnit((100 * difference) / smaller.value, "%")})`
      : ""
  const points =
    unitOf(plan) === "%"
      ? `${plainNumber(Number(difference.toPrecision(3)))} percentage points`
      : withUnit(difference, unitOf(plan))
  const told = `The ${escaped(label(plan))} is **${value(plan, left)}** for ${escaped(left.name)} and **${value(plan, right)}** for ${escaped(right.name)}.`
  return difference === 0
    ? `${told} They are the same.`
    : `${told} ${upperFirst(escaped(larger.name))} is higher by ${points}${percent}.`
}

/** Steps of time: from where to where, the top and the bottom. */
const trend = (plan: Summary, all: ReadonlyArray<Point>, main: QueryResult): ReadonlyArray<string> => {
  const known = telling(all)
  const [first] = known
  const last = known.at(-1)
  const top = extreme(known, true)
  const bottom = extreme(known, false)
  if (first === undefined || last === undefined || top === undefined || bottom === undefined) return [nothing(plan)]
  if (known.length === 1)
    return [`The ${escaped(label(plan))} for ${escaped(first.name)} is **${value(plan, first)}**.`]
  if (!isWhole(main)) {
    return [
      `The chart and the table show the ${escaped(label(plan))} at ${plainNumber(main.row_count)} times, from ${escaped(first.name)} on. It starts at **${value(plan, first)}**.`
    ]
  }
  const change = last.value - first.value
  const percent =
    first.value > 0 && plan.measures[0]?.unit !== "°C" && unitOf(plan) !== "%"
      ? ` (${change > 0 ? "+" : "−"}${withUnit(Math.abs((100 * change) / first.value), "%")})`
      : ""
  const verb = change > 0 ? "rose" : change < 0 ? "fell" : "ended where it began"
  const course =
    change === 0
      ? `The ${escaped(label(plan))} ended where it began, at **${value(plan, first)}** (${escaped(first.name)} and ${escaped(last.name)}).`
      : `The ${escaped(label(plan))} ${verb} from **${value(plan, first)}** (${escaped(first.name)}) to **${value(plan, last)}** (${escaped(last.name)})${percent}.`
  return [
    `${course} It was highest in ${escaped(top.name)} with ${value(plan, top)} and lowest in ${escaped(bottom.name)} with ${value(plan, bottom)}.`
  ]
}

/** Two groups at once: the top, the bottom, and that the rest is in the chart and the table. */
const crossed = (plan: Summary, all: ReadonlyArray<Point>, main: QueryResult): ReadonlyArray<string> => {
  const known = telling(all)
  const top = extreme(known, true)
  const bottom = extreme(known, false)
  if (top === undefined || bottom === undefined) return [nothing(plan)]
  if (!isWhole(main))
    return [
      `There are ${plainNumber(main.row_count)} combinations of ${listed(plan.groups.map(groupWords))}; the chart and the table show them.`
    ]
  return [
    `Over ${plainNumber(known.length)} combinations of ${listed(plan.groups.map(groupWords))}, the ${escaped(label(plan))} is highest for **${escaped(top.name)}** with **${value(plan, top)}** and lowest for ${escaped(bottom.name)} with ${value(plan, bottom)}.`
  ]
}

/** Whether the other fair reading of a ranking agrees. */
const otherReading = (plan: Summary, main: QueryResult, alternative: QueryResult): ReadonlyArray<string> => {
  const columns = summaryColumns(plan)
  const { alternative: measure } = plan
  const [other] = points(alternative, columns, columns.alternative.name)
  const [first] = points(main, columns, columns.measures[0]?.name ?? "")
  if (measure === undefined || other === undefined || first === undefined || other.value === undefined) return []
  const figureText = withUnit(other.value, measure.unit)
  return other.name === first.name
    ? [`It also comes first by ${escaped(measure.label)} (${figureText}).`]
    : [`By ${escaped(measure.label)} it is **${escaped(other.name)}** (${figureText}).`]
}

const missingGroups = (plan: Summary, all: ReadonlyArray<Point>): ReadonlyArray<string> => {
  const missing = all.filter((point) => point.none)
  const [one] = missing
  if (one === undefined || plan.groups.length !== 1) return []
  const name = plan.groups[0] === undefined ? "group" : groupWords(plan.groups[0])
  return [`Rows without a known ${escaped(name)} come to ${value(plan, one)}.`]
}

const cut = (main: QueryResult): ReadonlyArray<string> =>
  main.truncated ? [`The result was cut at ${plainNumber(main.row_count)} rows, so what is beyond is not in it.`] : []

const summaryTable = (plan: Summary, all: ReadonlyArray<Point>, main: QueryResult): string => {
  const columns = summaryColumns(plan)
  const numbers = [
    ...columns.measures.map((column) => ({ ...column, unit: column.measure.unit })),
    ...(plan.share ? [columns.share] : [])
  ]
  const headings = [
    ...(columns.groups.some((column) => column.group._tag === "Bins")
      ? [{ text: columns.groups.map((column) => column.label).join(", "), numeric: false }]
      : columns.groups.map((column) => ({ text: column.label, numeric: false }))),
    ...numbers.map((column) => ({ text: column.label, numeric: true }))
  ]
  const cells = all.map((point) => [
    ...(columns.groups.length === 1
      ? [point.name]
      : point.name.split(", ").length === columns.groups.length
        ? point.name.split(", ")
        : point.keys.map(String)),
    ...numbers.map((column) => {
      const at = columnAt(main, column.name)
      const raw = point.row[at] ?? null
      const number = numeric(raw)
      return number === undefined ? anyValue(raw, main.columns[at], column.unit) : withUnit(number, column.unit)
    })
  ])
  return table(headings, cells)
}

const rows = (plan: Rows, main: QueryResult, count: number | undefined): ReadonlyArray<string> => {
  const columns = rowsColumns(plan)
  const [first] = main.rows
  if (first === undefined) return [nothing(plan)]
  const cell = (row: QueryResult["rows"][number], index: number): string => {
    const column = columns[index]
    const at = column === undefined ? -1 : columnAt(main, column.name)
    return anyValue(row[at] ?? null, main.columns[at], column?.unit)
  }
  const names = rowsOf(plan.facts)
  const matching =
    count === undefined || count <= main.rows.length
      ? `All ${plainNumber(main.rows.length)} that match are listed.`
      : `${plainNumber(count)} ${names} match; these are the first ${plainNumber(main.rows.length)}.`
  const shown = main.rows.slice(0, tableRows)
  const listing = table(
    columns.map((column) => ({ text: column.label, numeric: column.facts.field.type === "number" })),
    shown.map((row) => columns.map((_, index) => cell(row, index)))
  )
  if (plan.order === undefined)
    return [
      count === 1 ? `One of the ${names} matches:` : `**${plainNumber(count ?? main.row_count)}** ${names} match.`,
      listing,
      ...(main.row_count > shown.length || (count ?? 0) > main.row_count ? [matching] : [])
    ]
  const at = columns.findIndex((column) => column.facts === plan.order?.facts)
  const title = columns[0]?.facts === plan.order.facts ? undefined : cell(first, 0)
  const end =
    plan.order.facts.time === undefined
      ? plan.order.descending
        ? "highest"
        : "lowest"
      : plan.order.descending
        ? "latest"
        : "earliest"
  const head =
    title === undefined || plan.facts.names.length === 0
      ? `The ${end} ${escaped(lowerFirst(nameOf(plan.order.facts)))} of any of the ${names} is **${cell(first, at)}**.`
      : `**${escaped(title)}** has the ${end} ${escaped(lowerFirst(nameOf(plan.order.facts)))}: **${cell(first, at)}**.`
  return [head, ...(main.rows.length > 1 ? [listing] : [])]
}

const strengthOf = (correlation: number): string => {
  const size = Math.abs(correlation)
  if (size < 0.1) return "practically no"
  if (size < 0.3) return "a weak"
  if (size < 0.6) return "a moderate"
  return size < 0.85 ? "a strong" : "a very strong"
}

const scatter = (
  plan: Scatter,
  pairs: number,
  correlation: number | undefined,
  binned: boolean
): ReadonlyArray<string> => {
  const name = (facts: FieldFacts): string => escaped(lowerFirst(nameOf(facts)))
  if (pairs === 0) return [nothing(plan)]
  if (correlation === undefined)
    return [`There is no relationship to compute: one of ${name(plan.x)} and ${name(plan.y)} never changes.`]
  const sign = Math.abs(correlation) < 0.1 ? "" : correlation > 0 ? " positive" : " negative"
  const meaning =
    Math.abs(correlation) < 0.1
      ? ""
      : correlation > 0
        ? ` ${upperFirst(rowsOf(plan.facts))} with more of the one tend to have more of the other.`
        : ` ${upperFirst(rowsOf(plan.facts))} with more of the one tend to have less of the other.`
  return [
    `There is ${strengthOf(correlation)}${sign} linear relationship between ${name(plan.x)} and ${name(plan.y)}: the correlation is **${correlation.toFixed(2).replace("-", "−")}** over ${plainNumber(pairs)} ${rowsOf(plan.facts)} that have both.${meaning}`,
    `${binned ? `The chart shows the average ${name(plan.y)} for ranges of ${name(plan.x)}. ` : ""}A correlation does not say that one causes the other.`
  ]
}
