/**
 * What a column of a data source is to Malloy.
 */
import { type AtomicFieldDef, DuckDBDialect, mkFieldDef } from "@malloydata/malloy"
import type { TableColumn } from "@castellan/core/connector/TableSchema"

/** The dialect of every source that a connector serves today. */
export const dialect = new DuckDBDialect()

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
