/**
 * The chart that fits a result: lines for time, sorted bars for categories, points for two numbers, bars of ranges for
 * a distribution; none for a single figure. Plain Vega-Lite without data; the theme belongs to whoever draws it.
 */
import type { PlainFindings } from "../plan/Findings.ts"
import type { Scatter } from "../plan/Plan.ts"
import { title } from "../plan/Reading.ts"
import { type FieldFacts, nameOf } from "../understanding/Facts.ts"
import { lowerFirst } from "../understanding/Measuring.ts"
import { type Chart, heading, maxBars, schema } from "./ChartParts.ts"
import { summary } from "./SummaryChart.ts"
import type { QueryResult } from "@castellan/core/analyst/Tool"

/** The chart of what was found, where a picture tells more than the words. */
export const chart = (findings: PlainFindings): Chart | undefined => {
  switch (findings._tag) {
    case "Summary":
      return summary(findings.plan, findings.main)
    case "Scatter":
      return scatter(findings.plan, findings.binned, findings.main)
    case "Rows":
      return rows(findings)
  }
}

const scatter = (plan: Scatter, binned: boolean, main: QueryResult): Chart | undefined => {
  if (main.row_count < 3) return undefined
  const name = title(plan, 100)
  const side = (field: "x_" | "y_", facts: FieldFacts) => ({
    field,
    type: "quantitative",
    title: heading(nameOf(facts), facts.unit),
    scale: { zero: false }
  })
  return {
    name,
    specification: binned
      ? {
          ...schema,
          title: name,
          mark: { type: "line", point: true },
          encoding: {
            x: side("x_", plan.x),
            y: { ...side("y_", plan.y), title: heading(`average ${lowerFirst(nameOf(plan.y))}`, plan.y.unit) }
          }
        }
      : {
          ...schema,
          title: name,
          mark: { type: "point", opacity: 0.5 },
          encoding: { x: side("x_", plan.x), y: side("y_", plan.y) }
        }
  }
}

/** Named rows in the order of a number: bars, as for any ranking. */
const rows = (findings: PlainFindings & { readonly _tag: "Rows" }): Chart | undefined => {
  const { main, plan } = findings
  const order = plan.order
  const [label] = plan.facts.names
  if (
    order === undefined ||
    label === undefined ||
    order.facts.field.type !== "number" ||
    main.row_count < 2 ||
    main.row_count > maxBars
  )
    return undefined
  const text = main.columns[0]
  const number = main.columns[1]
  if (text === undefined || number === undefined || plan.columns[0] !== label || plan.columns[1] !== order.facts)
    return undefined
  const name = title(plan, 100)
  return {
    name,
    specification: {
      ...schema,
      title: name,
      mark: "bar",
      encoding: {
        y: {
          field: text.name,
          type: "nominal",
          title: nameOf(label),
          sort: { field: number.name, order: order.descending ? "descending" : "ascending" }
        },
        x: { field: number.name, type: "quantitative", title: heading(nameOf(order.facts), order.facts.unit) }
      }
    }
  }
}
