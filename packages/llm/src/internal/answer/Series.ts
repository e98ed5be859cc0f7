/**
 * The rows of a result in the terms of its plan, and what can be said of them: the largest, the smallest, where they
 * go, what is missing. Nothing here knows more than the rows.
 */
import type { QueryResult } from "@castellan/core/analyst/Tool"
import type { Value } from "@castellan/core/connector/ResultTable"
import type { GroupColumn, SummaryColumns } from "../plan/Column.ts"
import { numeric } from "../plan/Statement.ts"
import { calendarOrder, groupValue } from "./Format.ts"

/** A group and its number. */
export interface Point {
  readonly keys: ReadonlyArray<Value>
  /** The group in words. */
  readonly name: string
  /** No group: rows that have no value there. */
  readonly none: boolean
  readonly value: number | undefined
  readonly row: ReadonlyArray<Value>
}

/** The place of a column in a result. */
export const columnAt = (result: QueryResult, name: string): number =>
  result.columns.findIndex((column) => column.name === name)

/** The rows of a result as points. */
export const points = (result: QueryResult, columns: SummaryColumns, valueColumn: string): ReadonlyArray<Point> => {
  const places = columns.groups.map((column) => columnAt(result, column.name))
  const at = columnAt(result, valueColumn)
  const width = columns.groups.some((column) => column.group._tag === "Bins") ? columnAt(result, columns.to.name) : -1
  return result.rows.map((row) => {
    const keys = places.map((place) => (place === -1 ? null : (row[place] ?? null)))
    return {
      keys,
      name: nameOf(keys, columns.groups, width === -1 ? null : (row[width] ?? null)),
      none: keys.some((key) => key === null),
      value: at === -1 ? undefined : numeric(row[at]),
      row
    }
  })
}

const nameOf = (keys: ReadonlyArray<Value>, groups: ReadonlyArray<GroupColumn>, to: Value): string =>
  groups
    .map((column, index) => {
      const name = groupValue(keys[index] ?? null, column.group)
      return column.group._tag === "Bins" && to !== null ? `${name} to ${groupValue(to, column.group)}` : name
    })
    .join(", ")

/** Points with a number and a group. */
export const telling = (all: ReadonlyArray<Point>): ReadonlyArray<Point & { readonly value: number }> =>
  all.flatMap((point) => (point.value === undefined || point.none ? [] : [{ ...point, value: point.value }]))

/** The point with the largest number, or with the smallest. */
export const extreme = <P extends { readonly value: number }>(all: ReadonlyArray<P>, largest: boolean): P | undefined =>
  all.reduce<P | undefined>(
    (best, point) =>
      best === undefined || (largest ? point.value > best.value : point.value < best.value) ? point : best,
    undefined
  )

/** In the order of the calendar, where the groups are its months or days. */
export const inCalendarOrder = (all: ReadonlyArray<Point>, columns: SummaryColumns): ReadonlyArray<Point> => {
  const [first] = columns.groups
  if (first === undefined || columns.groups.length > 1) return all
  const periods = first.group._tag === "Periods" ? first.group.periods.map((period) => period.label) : undefined
  const order = (point: Point): number =>
    periods === undefined ? calendarOrder(String(point.keys[0])) : periods.indexOf(String(point.keys[0]))
  return all.every((point) => point.none || order(point) !== -1) && all.length > 1 && all.some((point) => !point.none)
    ? all.toSorted((left, right) => (left.none ? 99 : order(left)) - (right.none ? 99 : order(right)))
    : all
}

/** Whether all rows of the result are in view: what is said of all of them must not be said of the first. */
export const isWhole = (result: QueryResult): boolean => !result.truncated && result.rows.length >= result.row_count
