/**
 * The chart that fits a result: lines for time, sorted bars for categories, points for two numbers, bars of ranges for
 * a distribution; none for a single figure. Plain Vega-Lite without data; the theme belongs to whoever draws it.
 */
import type { QueryResult } from "@castellan/core/analyst/Tool"
import { monthNames, partsOf } from "../language/Calendar.ts"
import { type GroupColumn, groupLabel, summaryColumns, upperFirst } from "../plan/Column.ts"
import type { Scatter, Summary } from "../plan/Plan.ts"
import type { Findings } from "../plan/Query.ts"
import { title } from "../plan/Reading.ts"
import { type FieldFacts, nameOf } from "../understanding/Facts.ts"
import { lowerFirst } from "../understanding/Measuring.ts"
import { groupValue } from "./Format.ts"
import { isPartialStep } from "./PartialSteps.ts"
import { columnAt } from "./Series.ts"

/** Keeps the rows that have a value; `valid` would ask for a number, and drop every text. */
const isKnown = (field: string) => ({ filter: `datum[${JSON.stringify(field)}] != null` })

/** A chart to make. */
export interface Chart {
  readonly name: string
  readonly specification: Readonly<Record<string, unknown>>
}

/** Bars that can be read in one picture. */
const maxBars = 20

/** Lines that can be told apart in one picture. */
const maxSeries = 8

const schema = { $schema: "https://vega.github.io/schema/vega-lite/v6.json" }

const heading = (label: string, unit: string | undefined): string =>
  unit === undefined || label.toLowerCase().includes(unit.toLowerCase())
    ? upperFirst(label)
    : `${upperFirst(label)} (${unit})`

/** The chart of what was found, where a picture tells more than the words. */
export const chart = (findings: Findings): Chart | undefined => {
  switch (findings._tag) {
    case "Summary":
      return summary(findings.plan, findings.main)
    case "Scatter":
      return scatter(findings.plan, findings.binned, findings.main)
    case "Rows":
      return rows(findings)
  }
}

const weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]

/** The values of a column in the order in which they stand in the result. */
const valuesOf = (result: QueryResult, name: string): ReadonlyArray<string> => {
  const at = columnAt(result, name)
  return [
    ...new Set(
      result.rows
        .map((row) => row[at] ?? null)
        .filter((value) => value !== null)
        .map(String)
    )
  ]
}

const isCalendar = (result: QueryResult, name: string): ReadonlyArray<string> | undefined => {
  const values = valuesOf(result, name)
  if (values.length < 2) return undefined
  const order = [weekdays, [...monthNames]].find((round) => values.every((value) => round.includes(value)))
  return order
}

/** An axis for the group of a chart. */
const axis = (column: GroupColumn, result: QueryResult): Record<string, unknown> => {
  const { group } = column
  const text = heading(
    groupLabel(group),
    group._tag === "Field" || group._tag === "Bins" ? group.facts.unit : undefined
  )
  if (group._tag === "Grain") {
    return group.facts.time === "year"
      ? {
          field: column.name,
          type: "quantitative",
          title: text,
          scale: { zero: false },
          axis: { format: "d", tickMinStep: 1 }
        }
      : { field: column.name, type: "temporal", title: text }
  }
  if (group._tag === "Part" && (group.part === "hour" || group.part === "quarter"))
    return { field: column.name, type: "ordinal", title: text }
  if (group._tag === "Field" && group.facts.field.type === "number")
    return { field: column.name, type: "ordinal", title: text }
  const round = group._tag === "Periods" ? group.periods.map((period) => period.label) : isCalendar(result, column.name)
  return { field: column.name, type: "nominal", title: text, ...(round === undefined ? {} : { sort: [...round] }) }
}

const summary = (plan: Summary, main: QueryResult): Chart | undefined => {
  const columns = summaryColumns(plan)
  const [measure] = columns.measures
  const [group, second] = columns.groups
  if (group === undefined || measure === undefined || plan.outer !== undefined || main.row_count < 2) return undefined
  const name = title(plan, 100)
  const value = plan.share
    ? columns.share
    : plan.change === undefined
      ? measure
      : plan.change.relative
        ? columns.changePercent
        : columns.change
  const y = { field: value.name, type: "quantitative", title: heading(value.label, value.unit) }
  const base = { ...schema, title: name }
  const known = isKnown(group.name)
  if (second !== undefined) return crossed(plan, main, name)
  if (group.group._tag === "Bins") {
    const at = plan.measures.length
    return at > 1
      ? undefined
      : {
          name,
          specification: {
            ...base,
            mark: "bar",
            encoding: {
              x: {
                field: group.name,
                type: "quantitative",
                bin: { binned: true },
                title: heading(group.label, group.unit)
              },
              x2: { field: columns.to.name },
              y
            }
          }
        }
  }
  if (group.group._tag === "Grain" && plan.ranking === undefined) {
    const marks = main.row_count <= 40 ? { mark: { type: "line", point: true } } : { mark: "line" }
    const partial = partialSteps(plan, main, group)
    return plan.measures.length > 1
      ? folded(plan, main, name)
      : {
          name,
          specification: {
            ...base,
            ...(partial.names.length === 0
              ? {}
              : {
                  title: {
                    text: name,
                    subtitle: `Without ${partial.names.join(" and ")}, of which the data cover only a part`
                  }
                }),
            ...marks,
            transform: [known, ...partial.filters],
            encoding: { x: axis(group, main), y: { ...y, scale: { zero: startsAtZero(main, value.name) } } }
          }
        }
  }
  if (plan.measures.length > 1 && plan.ranking === undefined && sameUnit(plan)) return folded(plan, main, name)
  const ordered = axis(group, main)
  const round = ordered["sort"] !== undefined || ordered["type"] !== "nominal"
  if (round && main.row_count <= 40 && group.group._tag !== "Grain") {
    return {
      name,
      specification: {
        ...base,
        mark: "bar",
        transform: [known],
        // Days and months are known by their first three letters; other names are not.
        encoding: {
          x: {
            ...ordered,
            axis: {
              labelAngle: 0,
              ...(isCalendar(main, group.name) === undefined ? {} : { labelExpr: "slice(datum.label, 0, 3)" })
            }
          },
          y
        }
      }
    }
  }
  const named =
    group.group._tag === "Grain"
      ? {
          ...ordered,
          type: "ordinal",
          timeUnit: timeUnits[group.group.grain],
          axis: { format: timeFormats[group.group.grain] }
        }
      : ordered
  const order = plan.ranking?.descending === false ? "ascending" : "descending"
  const shortened = main.row_count > maxBars
  return {
    name,
    specification: {
      ...base,
      ...(shortened ? { title: { text: name, subtitle: `The first ${maxBars} of ${main.row_count}` } } : {}),
      mark: "bar",
      transform: [
        known,
        ...(shortened
          ? [
              { window: [{ op: "row_number", as: "place" }], sort: [{ field: value.name, order }] },
              { filter: { field: "place", lte: maxBars } }
            ]
          : [])
      ],
      encoding: { y: { ...named, sort: { field: value.name, order } }, x: y }
    }
  }
}

/** Drops the first and the last step where they are not whole: a line would fall at its end for no reason. */
const partialSteps = (
  plan: Summary,
  main: QueryResult,
  column: GroupColumn
): { readonly names: ReadonlyArray<string>; readonly filters: ReadonlyArray<Record<string, unknown>> } => {
  const at = columnAt(main, column.name)
  const ends = [main.rows[0], main.rows.length > 1 ? main.rows.at(-1) : undefined]
  const names: Array<string> = []
  const filters: Array<Record<string, unknown>> = []
  ends.forEach((row, index) => {
    const key = row?.[at] ?? null
    const parts = typeof key === "string" && isPartialStep(plan, column.group, key) ? partsOf(key) : undefined
    if (parts === undefined || main.row_count < 4) return
    const moment = { year: parts.year, month: parts.month, date: parts.day }
    filters.push({ filter: { field: column.name, [index === 0 ? "gt" : "lt"]: moment } })
    names.push(groupValue(key, column.group))
  })
  return { names, filters }
}

const timeUnits = {
  year: "year",
  quarter: "yearquarter",
  month: "yearmonth",
  week: "yearmonthdate",
  day: "yearmonthdate",
  hour: "yearmonthdatehours"
} as const

const timeFormats = {
  year: "%Y",
  quarter: "Q%q %Y",
  month: "%b %Y",
  week: "%-d %b %Y",
  day: "%-d %b %Y",
  hour: "%-d %b %Y, %H:00"
} as const

/** A line may start anywhere; only when everything is far from zero does it. */
const startsAtZero = (main: QueryResult, name: string): boolean => {
  const at = columnAt(main, name)
  const values = main.rows.flatMap((row) => {
    const value = row[at]
    return value === null || value === undefined ? [] : [Number(value)]
  })
  if (values.length === 0) return true
  const low = Math.min(...values)
  const high = Math.max(...values)
  return !(low > 0 && (high - low) / high < 0.5)
}

const sameUnit = (plan: Summary): boolean => new Set(plan.measures.map((measure) => measure.unit)).size === 1

/** Several numbers of one unit: a line, or a group of bars, for each. */
const folded = (plan: Summary, main: QueryResult, name: string): Chart | undefined => {
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
const crossed = (plan: Summary, main: QueryResult, name: string): Chart | undefined => {
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
const rows = (findings: Findings & { readonly _tag: "Rows" }): Chart | undefined => {
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
