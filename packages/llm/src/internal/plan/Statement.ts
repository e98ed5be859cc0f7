/**
 * The parts of a query in Malloy, and how the cells of its result are read.
 */
import type { Column } from "./Column.ts"
import { expression, filter, identifier, number } from "./Malloy.ts"
import type { Filter, Having } from "./Plan.ts"
import type { QueryResult } from "@castellan/core/analyst/Tool"
import type { Value } from "@castellan/core/connector/ResultTable"

/** A query and what it finds out. */
export interface Query {
  readonly title: string
  readonly text: string
}

export const statement = (
  facts: { readonly source: { readonly name: string } },
  ...stages: ReadonlyArray<ReadonlyArray<string>>
): string =>
  `run: ${identifier(facts.source.name)} -> ${stages.map((lines) => `{\n  ${lines.join("\n  ")}\n}`).join(" -> ")}`

export const where = (filters: ReadonlyArray<Filter>): ReadonlyArray<string> =>
  filters.length === 0 ? [] : [`where: ${filters.map(filter).join(",\n    ")}`]

export const having = (conditions: ReadonlyArray<Having>): ReadonlyArray<string> =>
  conditions.length === 0
    ? []
    : [
        `having: ${conditions.map((one) => `${expression(one.measure.expression)} ${one.relation} ${number(one.value)}`).join(", ")}`
      ]

export const named = (name: string, text: string): string => `${identifier(name)} is ${text}`

/** A width that people can count in, for about twenty bins over a spread. */
export const niceWidth = (spread: number): number => {
  if (!(spread > 0)) return 1
  const raw = spread / 20
  const power = 10 ** Math.floor(Math.log10(raw))
  const step = [1, 2, 2.5, 5, 10].find((one) => one * power >= raw * 0.999) ?? 10
  return Number((step * power).toPrecision(6))
}

/** A column of a query: a field as it is, or an expression under a name. */
export const output = (column: Column, text: string): string =>
  column.bare ? identifier(column.name) : named(column.name, text)

export const cell = (result: QueryResult, name: string, row = 0): Value => {
  const index = result.columns.findIndex((column) => column.name === name)
  return index === -1 ? null : (result.rows[row]?.[index] ?? null)
}

/** A cell as a number, whatever exact form it came in. */
export const numeric = (value: Value | undefined): number | undefined => {
  if (typeof value === "number") return value
  if (typeof value !== "string" || !/^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(value.trim())) return undefined
  return Number(value)
}

/** The bins' width that an extent asks for: outliers do not squeeze all others into one bin. */
export const widthOf = (extent: QueryResult): number => {
  const lowest = numeric(cell(extent, "lowest_"))
  const highest = numeric(cell(extent, "highest_"))
  const deviation = numeric(cell(extent, "deviation_"))
  if (lowest === undefined || highest === undefined) return 1
  const spread = highest - lowest
  const width = niceWidth(deviation === undefined || deviation === 0 ? spread : Math.min(spread, 8 * deviation))
  const whole = Number.isInteger(lowest) && Number.isInteger(highest) && spread >= 5
  return Math.max(whole ? Math.max(1, Math.round(width)) : width, niceWidth(spread) / 8)
}
