/**
 * The queries of a relationship: how strong it is, and its points, or their averages where there are too many.
 */
import type { Answered, Progress } from "./Findings.ts"
import { identifier, number, reference } from "./Malloy.ts"
import type { Filter, Scatter } from "./Plan.ts"
import { title } from "./Reading.ts"
import { type Query, cell, named, numeric, statement, where, widthOf } from "./Statement.ts"
import type { QueryResult } from "@castellan/core/analyst/Tool"

/** Points that can be drawn one by one. */
const maxPoints = 2000

export const scatter = (plan: Scatter, answered: Answered): Progress => {
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
