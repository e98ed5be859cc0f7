/**
 * Charts of several series: several numbers over one group, or one number over two.
 */
import { type GroupColumn, summaryColumns } from "../plan/Column.ts"
import type { Summary } from "../plan/Plan.ts"
import {
  type Chart,
  axis,
  heading,
  isCalendar,
  isKnown,
  maxBars,
  maxSeries,
  partialSteps,
  sameUnit,
  schema,
  startsAtZero,
  valuesOf
} from "./ChartParts.ts"
import type { QueryResult } from "@castellan/core/analyst/Tool"

/** Several numbers of one unit: a line, or a group of bars, for each. */
export const folded = (plan: Summary, main: QueryResult, name: string): Chart | undefined => {
  const columns = summaryColumns(plan)
  const [group] = columns.groups
  if (group === undefined || !sameUnit(plan) || plan.measures.length > maxSeries || main.row_count > 400)
    return undefined
  const label = columns.measures.map((column) => column.label)
  const line = group.group._tag === "Grain"
  const legend = `{${columns.measures.map((column) => `${JSON.stringify(column.name)}: ${JSON.stringify(column.label)}`).join(", ")}}[datum.measure]`
  const value = {
    field: "value",
    type: "quantitative",
    title: heading(label.join(", ").length > 40 ? "Value" : label.join(", "), plan.measures[0]?.unit)
  }
  const color = { field: "name", type: "nominal", title: null, sort: label }
  if (!line && main.row_count > maxBars) return undefined
  return {
    name,
    specification: {
      ...schema,
      title: name,
      transform: [
        isKnown(group.name),
        { fold: columns.measures.map((column) => column.name), as: ["measure", "value"] },
        { calculate: legend, as: "name" }
      ],
      ...(line
        ? { mark: "line", encoding: { x: axis(group, main), y: { ...value, scale: { zero: false } }, color } }
        : {
            mark: "bar",
            encoding: {
              y: { ...axis(group, main), sort: null },
              x: value,
              yOffset: { field: "name", sort: label },
              color
            }
          })
    }
  }
}

/** Two groups: a line for each series over time, else bars with a color for each part. */
export const crossed = (plan: Summary, main: QueryResult, name: string): Chart | undefined => {
  const columns = summaryColumns(plan)
  const [first, second] = columns.groups
  const [measure] = columns.measures
  if (first === undefined || second === undefined || measure === undefined || plan.measures.length > 1) return undefined
  const value = plan.share ? columns.share : measure
  const y = { field: value.name, type: "quantitative", title: heading(value.label, value.unit) }
  const isSteady = (column: GroupColumn): boolean =>
    column.group._tag === "Grain" ||
    column.group._tag === "Part" ||
    (column.group._tag === "Field" && column.group.facts.field.type === "number")
  const [steps, series] = isSteady(first) ? [first, second] : isSteady(second) ? [second, first] : [first, second]
  const names = valuesOf(main, series.name)
  const known = [isKnown(steps.name), isKnown(series.name)]
  const many = names.length > maxSeries
  // The largest series stay: how large they are is summed over all their steps.
  const largest = many
    ? [
        { joinaggregate: [{ op: "sum", field: value.name, as: "whole" }], groupby: [series.name] },
        { window: [{ op: "dense_rank", as: "place" }], sort: [{ field: "whole", order: "descending" }] },
        { filter: { field: "place", lte: maxSeries } }
      ]
    : []
  const round = isCalendar(main, series.name)
  const color = {
    field: series.name,
    type: "nominal",
    title: series.label,
    ...(round === undefined ? {} : { sort: [...round] })
  }
  const heading2 = many
    ? { title: { text: name, subtitle: `The largest ${maxSeries} of ${names.length}` } }
    : { title: name }
  if (steps.group._tag === "Grain") {
    const partial = partialSteps(plan, main, steps)
    return {
      name,
      specification: {
        ...schema,
        ...heading2,
        mark: "line",
        transform: [...known, ...partial.filters, ...largest],
        encoding: { x: axis(steps, main), y: { ...y, scale: { zero: startsAtZero(main, value.name) } }, color }
      }
    }
  }
  const bars = valuesOf(main, steps.name).length
  if (bars > maxBars) return undefined
  const additive = measure.measure.summable && !plan.share
  return {
    name,
    specification: {
      ...schema,
      ...heading2,
      mark: "bar",
      transform: [...known, ...largest],
      encoding: additive
        ? {
            y: {
              ...axis(steps, main),
              ...(isCalendar(main, steps.name) === undefined && !isSteady(steps) ? { sort: "-x" } : {})
            },
            x: y,
            color
          }
        : { y: axis(steps, main), x: y, yOffset: { field: series.name }, color }
    }
  }
}
