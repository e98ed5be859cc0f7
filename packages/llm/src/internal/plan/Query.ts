/**
 * The queries of a plan, in the order in which they can be asked: some need what an earlier one found, such as how
 * wide the bars of a histogram should be.
 */
import type { QueryResult } from "@castellan/core/analyst/Tool"
import type { Value } from "@castellan/core/connector/ResultTable"
import type { FieldFacts } from "../understanding/Facts.ts"
import { type Column, rowsColumns, summaryColumns } from "./Column.ts"
import { expression, filter, filtered, group, identifier, number, reference, within } from "./Malloy.ts"
import type { Filter, Having, Plan, Rows, Scatter, Summary } from "./Plan.ts"
import { title } from "./Reading.ts"

/** A query and what it finds out. */
export interface Query {
  readonly title: string
  readonly text: string
}

/** What has been found so far; `undefined` for a query that was not asked yet. */
export type Answered = (query: Query) => QueryResult | undefined

/** Everything that an answer is written from. */
export type Findings =
  | {
      readonly _tag: "Summary"
      readonly plan: Summary
      readonly main: QueryResult
      readonly alternative: QueryResult | undefined
      readonly width: number
    }
  | { readonly _tag: "Rows"; readonly plan: Rows; readonly main: QueryResult; readonly count: number | undefined }
  | {
      readonly _tag: "Scatter"
      readonly plan: Scatter
      readonly main: QueryResult
      readonly pairs: number
      readonly correlation: number | undefined
      /** Averages of y over bins of x, where there are too many pairs to draw. */
      readonly binned: boolean
    }

/** Queries to ask next, or what they found. */
export type Progress =
  | { readonly _tag: "Ask"; readonly queries: ReadonlyArray<Query> }
  | { readonly _tag: "Found"; readonly findings: Findings }

const statement = (
  facts: { readonly source: { readonly name: string } },
  ...stages: ReadonlyArray<ReadonlyArray<string>>
): string =>
  `run: ${identifier(facts.source.name)} -> ${stages.map((lines) => `{\n  ${lines.join("\n  ")}\n}`).join(" -> ")}`

const where = (filters: ReadonlyArray<Filter>): ReadonlyArray<string> =>
  filters.length === 0 ? [] : [`where: ${filters.map(filter).join(",\n    ")}`]

const having = (conditions: ReadonlyArray<Having>): ReadonlyArray<string> =>
  conditions.length === 0
    ? []
    : [
        `having: ${conditions.map((one) => `${expression(one.measure.expression)} ${one.relation} ${number(one.value)}`).join(", ")}`
      ]

const named = (name: string, text: string): string => `${identifier(name)} is ${text}`

/** A width that people can count in, for about twenty bins over a spread. */
export const niceWidth = (spread: number): number => {
  if (!(spread > 0)) return 1
  const raw = spread / 20
  const power = 10 ** Math.floor(Math.log10(raw))
  const step = [1, 2, 2.5, 5, 10].find((one) => one * power >= raw * 0.999) ?? 10
  return Number((step * power).toPrecision(6))
}

/** A column of a query: a field as it is, or an expression under a name. */
const output = (column: Column, text: string): string =>
  column.bare ? identifier(column.name) : named(column.name, text)

const cell = (result: QueryResult, name: string, row = 0): Value => {
  const index = result.columns.findIndex((column) => column.name === name)
  return index === -1 ? null : (result.rows[row]?.[index] ?? null)
}

/** A cell as a number, whatever exact form it came in. */
export const numeric = (value: Value | undefined): number | undefined => {
  if (typeof value === "number") return value
  if (typeof value !== "string" || !/^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(value.trim())) return undefined
  return Number(value)
}

const extentQuery = (facts: FieldFacts, plan: Summary): Query => {
  const field = reference(facts)
  return {
    title: `Range of ${facts.field.label}`.slice(0, 200),
    text: statement(plan.facts, [
      ...where(plan.filters),
      `aggregate: ${named("lowest_", `min(${field})`)}, ${named("highest_", `max(${field})`)}, ${named("deviation_", `stddev(${field})`)}`
    ])
  }
}

/** The bins' width that an extent asks for: outliers do not squeeze all others into one bin. */
const widthOf = (extent: QueryResult): number => {
  const lowest = numeric(cell(extent, "lowest_"))
  const highest = numeric(cell(extent, "highest_"))
  const deviation = numeric(cell(extent, "deviation_"))
  if (lowest === undefined || highest === undefined) return 1
  const spread = highest - lowest
  const width = niceWidth(deviation === undefined || deviation === 0 ? spread : Math.min(spread, 8 * deviation))
  const whole = Number.isInteger(lowest) && Number.isInteger(highest) && spread >= 5
  return Math.max(whole ? Math.max(1, Math.round(width)) : width, niceWidth(spread) / 8)
}

const mainQuery = (plan: Summary, width: number): Query => {
  const columns = summaryColumns(plan)
  const groups = columns.groups.map((column) => output(column, group(column.group, width)))
  const bins = plan.groups.flatMap((one) =>
    one._tag === "Bins" ? [named(columns.to.name, `${group(one, width)} + ${number(width)}`)] : []
  )
  const known: ReadonlyArray<Filter> = plan.groups.flatMap((one) =>
    one._tag === "Bins" ? [{ _tag: "Known", facts: one.facts, known: true }] : []
  )
  const query = (...stages: ReadonlyArray<ReadonlyArray<string>>): Query => ({
    title: title(plan),
    text: statement(plan.facts, ...stages)
  })
  const [first] = columns.measures
  const median = plan.measures.find(
    (measure) => measure.expression._tag === "Aggregate" && measure.expression.function === "median"
  )
  if (median?.expression._tag === "Aggregate" && first !== undefined)
    return query(...medianStages(plan, median.expression.facts, first.name, width))
  const by = [...groups, ...bins]
  const opening = [...where([...plan.filters, ...known]), ...(by.length === 0 ? [] : [`group_by: ${by.join(", ")}`])]
  if (plan.change !== undefined && first !== undefined) return query(changeStage(plan, opening))
  const measures = columns.measures.map((column) => output(column, expression(column.measure.expression)))
  if (plan.share && first !== undefined) {
    const one = expression(first.measure.expression)
    measures.push(named(columns.share.name, `100 * ${one} / nullif(all(${one}), 0)`))
  }
  const stage = [...opening, `aggregate: ${measures.join(", ")}`, ...having(plan.having)]
  if (plan.outer !== undefined && first !== undefined) {
    const outer = {
      average: "avg",
      total: "sum",
      maximum: "max",
      minimum: "min",
      deviation: "stddev",
      median: "avg",
      count: "count"
    }[plan.outer]
    return query(stage, [
      `aggregate: ${named(columns.outer.name, plan.outer === "count" ? "count()" : `${outer}(${identifier(first.name)})`)}, ${named(columns.outerGroups.name, "count()")}`
    ])
  }
  return query([...stage, ...orderOf(plan)])
}

const changeStage = (plan: Summary, opening: ReadonlyArray<string>): ReadonlyArray<string> => {
  const columns = summaryColumns(plan)
  const [first] = plan.measures
  const { change } = plan
  if (change === undefined || first === undefined) return opening
  const at = (period: typeof change.from) =>
    filtered(first.expression, [{ _tag: "Within", facts: change.facts, periods: [period], negated: false }])
  const either = `(${within(change.facts, change.from)} or ${within(change.facts, change.to)})`
  const difference = `${at(change.to)} - ${at(change.from)}`
  const order =
    plan.groups.length === 0
      ? []
      : [
          `order_by: ${identifier((change.relative ? columns.changePercent : columns.change).name)} ${(plan.ranking?.descending ?? true) ? "desc" : "asc"}`
        ]
  const filters = opening.find((line) => line.startsWith("where: "))
  const others = opening.filter((line) => line !== filters)
  return [
    filters === undefined ? `where: ${either}` : `${filters},\n    ${either}`,
    ...others,
    `aggregate: ${[
      named(columns.before.name, at(change.from)),
      named(columns.after.name, at(change.to)),
      named(columns.change.name, difference),
      named(columns.changePercent.name, `100 * (${difference}) / nullif(${at(change.from)}, 0)`)
    ].join(", ")}`,
    ...order
  ]
}

/**
 * A median in the model's own terms, which have none: values with their running count, then the one or two in the
 * middle.
 */
const medianStages = (
  plan: Summary,
  facts: FieldFacts,
  name: string,
  width: number
): ReadonlyArray<ReadonlyArray<string>> => {
  const columns = summaryColumns(plan)
  const [by] = columns.groups
  const grouped = by === undefined ? [] : [output(by, group(by.group, width))]
  const known: Filter = { _tag: "Known", facts, known: true }
  const total = by === undefined ? "all(count())" : `all(count(), ${identifier(by.name)})`
  const partition = by === undefined ? "" : `partition_by: ${identifier(by.name)} `
  return [
    [
      ...where([...plan.filters, known]),
      `group_by: ${[...grouped, named("value_", reference(facts))].join(", ")}`,
      `aggregate: ${named("count_", "count()")}, ${named("total_", total)}`,
      `calculate: ${named("running_", `sum_cumulative(${identifier("count_")}) { ${partition}order_by: ${identifier("value_")} asc }`)}`
    ],
    [
      "where: `running_` >= floor((`total_` + 1) / 2) and `running_` - `count_` < ceil((`total_` + 1) / 2)",
      ...(by === undefined ? [] : [`group_by: ${identifier(by.name)}`]),
      `aggregate: ${named(name, "avg(`value_`)")}`,
      ...orderOf(plan)
    ]
  ]
}

/** Time and numbers run from small to large, everything else from most to least. */
const orderOf = (plan: Summary): ReadonlyArray<string> => {
  const columns = summaryColumns(plan)
  const [first] = columns.measures
  const [by, second] = columns.groups
  if (by === undefined || first === undefined) return []
  const direction = plan.ranking === undefined || plan.ranking.descending ? "desc" : "asc"
  if (plan.ranking !== undefined) {
    return [
      `order_by: ${[`${identifier(first.name)} ${direction}`, ...columns.groups.map((column) => `${identifier(column.name)} asc`)].join(", ")}`,
      `limit: ${plan.ranking.limit}`
    ]
  }
  if (plan.sort !== undefined) {
    const end = plan.sort.descending ? "desc" : "asc"
    return [
      `order_by: ${[`${identifier(first.name)} ${end}`, ...columns.groups.map((column) => `${identifier(column.name)} asc`)].join(", ")}`
    ]
  }
  const steady = (column: typeof by): boolean =>
    column.group._tag === "Grain" ||
    column.group._tag === "Bins" ||
    (column.group._tag === "Part" && column.group.part !== "weekday" && column.group.part !== "month") ||
    (column.group._tag === "Field" && column.group.facts.field.type === "number")
  const measured = `${identifier(first.name)} desc`
  if (steady(by)) {
    const rest = second === undefined ? [] : [steady(second) ? `${identifier(second.name)} asc` : measured]
    return [`order_by: ${[`${identifier(by.name)} asc`, ...rest].join(", ")}`]
  }
  if (second !== undefined && steady(second)) return [`order_by: ${identifier(second.name)} asc, ${measured}`]
  return [`order_by: ${[measured, ...columns.groups.map((column) => `${identifier(column.name)} asc`)].join(", ")}`]
}

const alternativeQuery = (plan: Summary): Query | undefined => {
  const { alternative, ranking } = plan
  if (alternative === undefined || ranking === undefined) return undefined
  const columns = summaryColumns(plan)
  return {
    title: `Also by ${alternative.label}`.slice(0, 200),
    text: statement(plan.facts, [
      ...where(plan.filters),
      `group_by: ${columns.groups.map((column) => output(column, group(column.group, 1))).join(", ")}`,
      `aggregate: ${output(columns.alternative, expression(alternative.expression))}`,
      ...having(plan.having),
      `order_by: ${[`${identifier(columns.alternative.name)} ${ranking.descending ? "desc" : "asc"}`, ...columns.groups.map((column) => `${identifier(column.name)} asc`)].join(", ")}`,
      "limit: 1"
    ])
  }
}

const summary = (plan: Summary, answered: Answered): Progress => {
  const binned = plan.groups.find((one) => one._tag === "Bins")
  const extent = binned === undefined ? undefined : extentQuery(binned.facts, plan)
  const range = extent === undefined ? undefined : answered(extent)
  if (extent !== undefined && range === undefined) return { _tag: "Ask", queries: [extent] }
  const width = range === undefined ? 1 : widthOf(range)
  const main = mainQuery(plan, width)
  const other = alternativeQuery(plan)
  const found = answered(main)
  const also = other === undefined ? undefined : answered(other)
  const missing = [
    ...(found === undefined ? [main] : []),
    ...(other !== undefined && also === undefined ? [other] : [])
  ]
  if (found === undefined || missing.length > 0) return { _tag: "Ask", queries: missing }
  return { _tag: "Found", findings: { _tag: "Summary", plan, main: found, alternative: also, width } }
}

const rows = (plan: Rows, answered: Answered): Progress => {
  const columns = rowsColumns(plan)
  const [first] = columns
  const order = plan.order
  const ordered = columns.find((column) => column.facts === order?.facts)
  const known: ReadonlyArray<Filter> = order === undefined ? [] : [{ _tag: "Known", facts: order.facts, known: true }]
  const sorting = [
    ...(ordered === undefined || order === undefined
      ? []
      : [`${identifier(ordered.name)} ${order.descending ? "desc" : "asc"}`]),
    ...(first === undefined || first === ordered ? [] : [`${identifier(first.name)} asc`])
  ]
  const main: Query = {
    title: title(plan),
    text: statement(plan.facts, [
      ...where([...plan.filters, ...known]),
      `select: ${columns.map((column) => output(column, reference(column.facts))).join(", ")}`,
      ...(sorting.length === 0 ? [] : [`order_by: ${sorting.join(", ")}`]),
      `limit: ${plan.limit}`
    ])
  }
  const counting: Query = {
    title: `How many ${plan.facts.source.label.toLowerCase()} there are`.slice(0, 200),
    text: statement(plan.facts, [...where([...plan.filters, ...known]), `aggregate: ${named("rows_", "count()")}`])
  }
  const found = answered(main)
  const count = answered(counting)
  const missing = [...(found === undefined ? [main] : []), ...(count === undefined ? [counting] : [])]
  if (found === undefined || count === undefined) return { _tag: "Ask", queries: missing }
  return { _tag: "Found", findings: { _tag: "Rows", plan, main: found, count: numeric(cell(count, "rows_")) } }
}

/** Points that can be drawn one by one. */
const maxPoints = 2000

const scatter = (plan: Scatter, answered: Answered): Progress => {
  const x = reference(plan.x)
  const y = reference(plan.y)
  const filters: ReadonlyArray<Filter> = [
    ...plan.filters,
    { _tag: "Known", facts: plan.x, known: true },
    { _tag: "Known", facts: plan.y, known: true }
  ]
  const fit: Query = {
    title: `How ${plan.x.field.label} and ${plan.y.field.label} go together`.slice(0, 200),
    text: statement(plan.facts, [
      ...where(filters),
      `aggregate: ${[
        named("pairs_", "count()"),
        named("lowest_", `min(${x})`),
        named("highest_", `max(${x})`),
        named("mean_x_", `avg(${x})`),
        named("mean_y_", `avg(${y})`),
        named("deviation_", `stddev(${x})`),
        named("mean_xx_", `avg(1.0 * ${x} * ${x})`),
        named("mean_yy_", `avg(1.0 * ${y} * ${y})`),
        named("mean_xy_", `avg(1.0 * ${x} * ${y})`)
      ].join(", ")}`
    ])
  }
  const fitted = answered(fit)
  if (fitted === undefined) return { _tag: "Ask", queries: [fit] }
  const pairs = numeric(cell(fitted, "pairs_")) ?? 0
  const binned = pairs > maxPoints
  const width = widthOf(fitted)
  const main: Query = {
    title: title(plan),
    text: binned
      ? statement(plan.facts, [
          ...where(filters),
          `group_by: ${named("x_", `floor(${x} / ${number(width)}) * ${number(width)}`)}`,
          `aggregate: ${named("y_", `avg(${y})`)}, ${named("pairs_", "count()")}`,
          `order_by: ${identifier("x_")} asc`
        ])
      : statement(plan.facts, [
          ...where(filters),
          `select: ${named("x_", x)}, ${named("y_", y)}`,
          `limit: ${maxPoints}`
        ])
  }
  const found = answered(main)
  if (found === undefined) return { _tag: "Ask", queries: [main] }
  return {
    _tag: "Found",
    findings: { _tag: "Scatter", plan, main: found, pairs, correlation: correlationOf(fitted), binned }
  }
}

/** Pearson's correlation from the five means. */
const correlationOf = (fitted: QueryResult): number | undefined => {
  const mean = (name: string): number | undefined => numeric(cell(fitted, name))
  const [x, y, xx, yy, xy] = ["mean_x_", "mean_y_", "mean_xx_", "mean_yy_", "mean_xy_"].map(mean)
  if (x === undefined || y === undefined || xx === undefined || yy === undefined || xy === undefined) return undefined
  const spread = Math.sqrt((xx - x * x) * (yy - y * y))
  return spread > 0 ? Math.max(-1, Math.min(1, (xy - x * y) / spread)) : undefined
}

/** What to ask next for a plan, or what was found. */
export const progress = (plan: Plan, answered: Answered): Progress => {
  switch (plan._tag) {
    case "Summary":
      return summary(plan, answered)
    case "Rows":
      return rows(plan, answered)
    case "Scatter":
      return scatter(plan, answered)
  }
}
