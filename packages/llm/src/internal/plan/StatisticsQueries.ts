/**
 * The queries of a statistic that a program computes: what they answer is bounded, and stands for all rows. Where there
 * are too many rows to hand over, the query counts the different values, or takes the means from which the statistic
 * follows exactly; nothing is ever computed from a part of the rows.
 */
import type { FieldFacts } from "../understanding/Facts.ts"
import { lowerFirst } from "../understanding/Measuring.ts"
import type { Answered, Progress } from "./Findings.ts"
import { number, reference } from "./Malloy.ts"
import type { Filter, Statistics } from "./Plan.ts"
import { title } from "./Reading.ts"
import { cell, named, numeric, type Query, statement, where, widthOf } from "./Statement.ts"
import { summary } from "./SummaryQueries.ts"

/** Rows that are handed to a program one by one. */
export const maxRows = 5000

/** Different values that are handed to a program. */
const maxValues = 9000

/** The name of a column in a result, by its place. */
export const columnName = (index: number): string => `c${index + 1}_`

/** The name of the mean of the product of two columns. */
export const productName = (left: number, right: number): string => `m${left + 1}_${right + 1}_`

/** The queries of a statistic. */
export const statistics = (plan: Statistics, answered: Answered): Progress => {
  if (plan.series !== undefined) {
    const found = summary(plan.series, answered)
    if (found._tag === "Ask" || found.findings._tag !== "Summary") return found
    const { main } = found.findings
    return {
      _tag: "Found",
      findings: { _tag: "Statistics", plan, main, form: "series", bins: undefined, count: main.row_count }
    }
  }
  return plan.kind === "distribution" || plan.kind === "outliers" ? counts(plan, answered) : together(plan, answered)
}

const filtersOf = (plan: Statistics): ReadonlyArray<Filter> => [
  ...plan.filters,
  ...plan.columns.map((facts): Filter => ({ _tag: "Known", facts, known: true }))
]

/** The different values of one number, each with the number of its rows. */
const counts = (plan: Statistics, answered: Answered): Progress => {
  const [facts] = plan.columns
  const main: Query = {
    title: title(plan),
    text: statement(plan.facts, [
      ...where(filtersOf(plan)),
      ...(facts === undefined ? [] : [`group_by: ${named("value_", reference(facts))}`]),
      `aggregate: ${named("rows_", "count()")}`,
      "order_by: `value_` asc",
      `limit: ${maxValues}`
    ])
  }
  const census: Query = {
    title: `How many different values: ${lowerFirst(title(plan, 100))}`,
    text: statement(plan.facts, [
      ...where(filtersOf(plan)),
      `aggregate: ${named("rows_", "count()")}${facts === undefined ? "" : `, ${named("values_", `count(${reference(facts)})`)}`}`
    ])
  }
  const taken = answered(census)
  if (taken === undefined) return { _tag: "Ask", queries: [census] }
  const count = numeric(cell(taken, "rows_")) ?? 0
  if ((numeric(cell(taken, "values_")) ?? 0) > maxValues) return tooMany(plan, taken)
  const found = answered(main)
  if (found === undefined) return { _tag: "Ask", queries: [main] }
  return { _tag: "Found", findings: { _tag: "Statistics", plan, main: found, form: "counts", bins: undefined, count } }
}

/** What is found where there is more than can be handed over: nothing that a figure could come from. */
const tooMany = (plan: Statistics, taken: Parameters<typeof cell>[0]): Progress => ({
  _tag: "Found",
  findings: {
    _tag: "Statistics",
    plan,
    main: { ...taken, truncated: true },
    form: "counts",
    bins: undefined,
    count: numeric(cell(taken, "rows_")) ?? 0
  }
})

const moments = (columns: ReadonlyArray<FieldFacts>): ReadonlyArray<string> =>
  columns.flatMap((left, i) => [
    named(columnName(i), `avg(1.0 * ${reference(left)})`),
    ...columns.flatMap((right, j) =>
      j < i ? [] : [named(productName(i, j), `avg(1.0 * ${reference(left)} * ${reference(right)})`)]
    )
  ])

/** Several numbers of the same rows: the rows, or the means from which all follows. */
const together = (plan: Statistics, answered: Answered): Progress => {
  const filters = filtersOf(plan)
  const last = plan.columns.at(-1)
  const whole: Query = {
    title: `Means behind the ${lowerFirst(title(plan, 100))}`,
    text: statement(plan.facts, [
      ...where(filters),
      `aggregate: ${[
        named("rows_", "count()"),
        ...moments(plan.columns),
        ...(last === undefined
          ? []
          : [
              named("lowest_", `min(${reference(last)})`),
              named("highest_", `max(${reference(last)})`),
              named("deviation_", `stddev(${reference(last)})`)
            ])
      ].join(", ")}`
    ])
  }
  const taken = answered(whole)
  if (taken === undefined) return { _tag: "Ask", queries: [whole] }
  const count = numeric(cell(taken, "rows_")) ?? 0
  if (count <= maxRows) {
    const rows: Query = {
      title: title(plan),
      text: statement(plan.facts, [
        ...where(filters),
        `select: ${plan.columns.map((facts, index) => named(columnName(index), reference(facts))).join(", ")}`,
        `limit: ${maxRows}`
      ])
    }
    const found = answered(rows)
    if (found === undefined) return { _tag: "Ask", queries: [rows] }
    return { _tag: "Found", findings: { _tag: "Statistics", plan, main: found, form: "rows", bins: undefined, count } }
  }
  const of = (bins: ReturnType<Answered>): Progress => ({
    _tag: "Found",
    findings: { _tag: "Statistics", plan, main: taken, form: "moments", bins, count }
  })
  const [y, x] = plan.columns
  if (plan.kind !== "regression" || x === undefined || y === undefined) return of(undefined)
  const width = number(widthOf(taken))
  const bins: Query = {
    title: title(plan),
    text: statement(plan.facts, [
      ...where(filters),
      `group_by: ${named("x_", `floor(${reference(x)} / ${width}) * ${width} + ${width} / 2`)}`,
      `aggregate: ${named("y_", `avg(${reference(y)})`)}, ${named("rows_", "count()")}`,
      "order_by: `x_` asc"
    ])
  }
  const found = answered(bins)
  return found === undefined ? { _tag: "Ask", queries: [bins] } : of(found)
}
