/**
 * The rows that a chart draws, looked at column by column.
 */
import { at, type Json, type JsonObject } from "../specification/Json.ts"

/** The rows that the chart draws. */
export type Rows = ReadonlyArray<JsonObject>

/** The texts and numbers of a field, as far as it is a column. */
export const valuesOf = (rows: Rows, field: string | undefined): ReadonlyArray<Json> =>
  field === undefined ? [] : rows.flatMap((row) => at(row, field.replaceAll(/\\(.)/g, "$1")) ?? [])

/** The moments of a field in milliseconds. */
export const momentsOf = (rows: Rows, field: string | undefined): ReadonlyArray<number> =>
  [...new Set(valuesOf(rows, field))]
    .map((value) => (typeof value === "string" ? Date.parse(value) : Number(value)))
    .filter(Number.isFinite)
