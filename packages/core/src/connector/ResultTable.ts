/**
 * A bounded table of values: what a query answers, whichever source it ran on.
 *
 * Source: decisions.md §5 ("bounded in time, rows and bytes").
 */
import * as Schema from "effect/Schema"

/**
 * What a column holds, in terms that every data source shares.
 *
 * - `integer`: exact, within ±(2^53 − 1); wider integers come as `decimal`
 * - `number`: a double
 * - `decimal`: an exact number written as text, so that nothing is rounded on the way
 * - `date`: `YYYY-MM-DD`
 * - `time`: `HH:MM:SS[.ffffff]`
 * - `timestamp`: ISO 8601, UTC where the source knows the zone
 * - `json`: a structured value (list, struct, map), written as JSON text
 * - `text`: everything else
 */
export const ColumnType = Schema.Literals([
  "text",
  "integer",
  "number",
  "decimal",
  "boolean",
  "date",
  "time",
  "timestamp",
  "json"
])
export type ColumnType = typeof ColumnType.Type

/** A column of a result or of a table. */
export const Column = Schema.Struct({
  name: Schema.String,
  type: ColumnType
})
export type Column = typeof Column.Type

/** One cell of a table. `null` is the source's own null. */
export const Value = Schema.Union([Schema.String, Schema.Finite, Schema.Boolean, Schema.Null])
export type Value = typeof Value.Type

/**
 * A result: its columns, its rows in the order of the source, and whether a limit cut it short.
 */
export const ResultTable = Schema.Struct({
  columns: Schema.Array(Column),
  rows: Schema.Array(Schema.Array(Value)),
  /** True when the source had more rows than the limits let through. */
  truncated: Schema.Boolean
}).annotate({ identifier: "ResultTable" })
export type ResultTable = typeof ResultTable.Type

/** The values of one column, by its name; empty when there is no such column. */
export const values = (table: ResultTable, column: string): ReadonlyArray<Value> => {
  const index = table.columns.findIndex((candidate) => candidate.name === column)
  return index === -1 ? [] : table.rows.map((row) => row[index] ?? null)
}

/** The rows as records keyed by column name, for charts and templates. Keys come from outside: no prototype. */
export const records = (table: ResultTable): ReadonlyArray<Readonly<Record<string, Value>>> =>
  table.rows.map((row) => {
    const record: Record<string, Value> = Object.create(null)
    table.columns.forEach((column, index) => {
      record[column.name] = row[index] ?? null
    })
    return record
  })
