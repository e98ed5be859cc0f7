/**
 * The tables that a data source offers, as introspection finds them.
 */
import * as Schema from "effect/Schema"
import { ColumnType } from "./ResultTable.ts"

/** A column of a source's table. */
export const TableColumn = Schema.Struct({
  name: Schema.String,
  type: ColumnType,
  /** The type in the source's own words, such as `DECIMAL(18,3)` or `TIMESTAMP WITH TIME ZONE`. */
  sourceType: Schema.String
})
export type TableColumn = typeof TableColumn.Type

/** A table (or file) of a source. */
export const TableSchema = Schema.Struct({
  /** The name to use in SQL and in a model's `connector.table("…")`; quoted where the dialect asks for it. */
  name: Schema.String,
  columns: Schema.Array(TableColumn),
  /** Known number of rows, where the source tells it without reading everything. */
  rowCount: Schema.optionalKey(Schema.Int)
}).annotate({ identifier: "TableSchema" })
export type TableSchema = typeof TableSchema.Type
