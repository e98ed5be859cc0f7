/**
 * What a draft knows of a table beyond its schema: figures over the values of its columns.
 */
import type { TableColumn } from "@castellan/core/connector/TableSchema"

/** Figures over the values of one column. Whatever was not asked, or not answered, is absent. */
export interface ColumnProfile extends TableColumn {
  /** Values that are not null. */
  readonly present: number
  /** Different values, give or take a tenth. */
  readonly distinct: number
  /** No two rows have the same value, and every row has one. Counted, not estimated. */
  readonly unique: boolean
  /** The least and the greatest number. */
  readonly range?: { readonly least: number; readonly greatest: number }
  /** The first and the last text in the order of code points, and the lengths between which all lie, in characters. */
  readonly texts?: {
    readonly first: string
    readonly last: string
    readonly shortest: number
    readonly longest: number
  }
  /** The values that occur most, the commonest first; all of them where `complete`. */
  readonly common?: { readonly values: ReadonlyArray<string>; readonly complete: boolean }
  /** How the text of this column is a time, and how many of its values are not. */
  readonly temporal?: { readonly format: TemporalFormat; readonly unreadable: number }
}

/** A way to write a day or a moment as text: ISO 8601, or a pattern of `strptime`. */
export interface TemporalFormat {
  readonly type: "date" | "timestamp"
  /** Absent for ISO 8601. */
  readonly pattern?: string
}

/** Figures over one table. */
export interface TableProfile {
  /** The table's name as the connector gives it. */
  readonly name: string
  readonly rowCount?: number
  readonly columns: ReadonlyArray<ColumnProfile>
}

/** A column of one table whose values are the key of another. */
export interface KeyReference {
  readonly table: string
  readonly column: string
  readonly toTable: string
  readonly toColumn: string
  /** Whether the names told it, or the values alone. */
  readonly toldBy: "name" | "values"
}
