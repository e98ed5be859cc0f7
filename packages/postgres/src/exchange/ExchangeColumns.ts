/**
 * The columns of tables, as the database itself names them: an export has them all, whatever migrations have added.
 */
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { tables } from "./ExchangeFormat.ts"

/** A column that is in the file. */
export interface Column {
  readonly name: string
  /** Its type, as SQL writes it. */
  readonly type: string
  /** Whether it holds a document. */
  readonly isDocument: boolean
}

/** A table that is in the file. */
export interface Table {
  readonly name: string
  /**
   * Its columns but the organization, and but those that the database gives anew: numbers of rows as they come, in the
   * same order, and versions (`0018_versions`), which are no other database's.
   */
  readonly columns: ReadonlyArray<Column>
  /** The columns that its rows are in the order of. */
  readonly order: ReadonlyArray<string>
}

interface ColumnRow {
  readonly table: string
  readonly name: string
  readonly type: string
  readonly numbers: boolean
  /** Its place in the primary key; 0 when it is in none. */
  readonly keyed: number
}

/** Every table of the file, in its order. */
export const read = Effect.fnUntraced(function* (sql: SqlClient) {
  const rows = yield* sql<ColumnRow>`
    SELECT c.relname AS table, a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type,
      a.attidentity <> '' AS numbers,
      coalesce(array_position(i.indkey::int2[], a.attnum), -1) + 1 AS keyed
    FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
    LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
    WHERE c.relnamespace = 'castellan'::regnamespace AND c.relkind IN ('r', 'p') AND a.attname <> 'organization_id'
      AND NOT (a.attname = 'version'
        AND EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgname = 'renew_version'))
    ORDER BY c.relname, a.attnum`
  const byTable = Map.groupBy(rows, ({ table }) => table)
  return tables.map((name): Table => {
    const all = byTable.get(name) ?? []
    const numbering = all.filter(({ numbers }) => numbers)
    const key = all.filter(({ keyed }) => keyed > 0).toSorted((one, other) => one.keyed - other.keyed)
    return {
      name,
      columns: all
        .filter(({ numbers }) => !numbers)
        .map((column) => ({ name: column.name, type: column.type, isDocument: /^jsonb?$/.test(column.type) })),
      order: [...numbering, ...key].map((column) => column.name)
    }
  })
})
