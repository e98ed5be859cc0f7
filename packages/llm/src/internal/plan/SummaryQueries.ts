/**
 * The queries of a summary: its numbers over its groups, and what they need to be asked well.
 */
import type { FieldFacts } from "../understanding/Facts.ts"
import { summaryColumns } from "./Column.ts"
import type { Answered, Progress } from "./Findings.ts"
import { expression, filtered, group, identifier, number, reference, within } from "./Malloy.ts"
import type { Filter, Summary } from "./Plan.ts"
import { title } from "./Reading.ts"
import { type Query, having, named, output, statement, where, widthOf } from "./Statement.ts"

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

export const summary = (plan: Summary, answered: Answered): Progress => {
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
