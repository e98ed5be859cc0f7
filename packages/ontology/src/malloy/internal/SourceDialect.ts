/**
 * The SQL that Malloy writes for a data source, and what a column of the source is to Malloy.
 */
import {
  type AtomicFieldDef,
  type AtomicTypeDef,
  DuckDBDialect,
  mkFieldDef,
  registerDialect,
  type TimestampUnit
} from "@malloydata/malloy"
import type { TableColumn } from "@castellan/core/connector/TableSchema"

/**
 * Malloy's DuckDB, but for one thing: a date that is cut to its month or year stays a date. Malloy's own lets the
 * engine make a timestamp of it, and tells its reader by other means that it is none; ours reads the statement's answer.
 */
class SourceDialect extends DuckDBDialect {
  override readonly name = "castellan_duckdb"

  override sqlTruncate(
    expression: string,
    unit: TimestampUnit,
    type: AtomicTypeDef,
    inCivilTime: boolean,
    timezone?: string
  ): string {
    const truncated = super.sqlTruncate(expression, unit, type, inCivilTime, timezone)
    return type.type === "date" ? `(${truncated})::DATE` : truncated
  }
}

/** The dialect of every source that a connector serves today. */
export const dialect = new SourceDialect()

registerDialect(dialect)

/**
 * Types of the source that Malloy does not know by name, in words that it does. All of them compare with, and turn
 * into, the type that stands for them, in the source itself.
 */
const knownAs = (sourceType: string): string => {
  const lists = /(?:\[\d*\])*$/.exec(sourceType)?.[0] ?? ""
  const element = sourceType.slice(0, sourceType.length - lists.length)
  if (/^TIMESTAMP_(?:S|MS|NS)$/.test(element)) return `TIMESTAMP${lists}`
  if (/^TIME(?:_NS| WITH TIME ZONE)$/.test(element)) return `TIME${lists}`
  if (element === "UUID" || element.startsWith("ENUM(")) return `VARCHAR${lists}`
  return sourceType
}

/** A column as a field of a Malloy source. A type that Malloy cannot work with stays, opaque: it can be selected. */
export const fieldOf = (column: TableColumn): AtomicFieldDef =>
  mkFieldDef(
    column.sourceType === "JSON" ? { type: "json" } : dialect.parseDuckDBType(knownAs(column.sourceType)),
    column.name
  )
