/**
 * The queries of a listing: its rows, and how many there are in all.
 */
import { rowsColumns } from "./Column.ts"
import type { Answered, Progress } from "./Findings.ts"
import { identifier, reference } from "./Malloy.ts"
import type { Filter, Rows } from "./Plan.ts"
import { title } from "./Reading.ts"
import { type Query, cell, named, numeric, output, statement, where } from "./Statement.ts"

export const rows = (plan: Rows, answered: Answered): Progress => {
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
