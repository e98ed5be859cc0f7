/**
 * Rows for every table that there is, made from the database's own list of columns.
 */
import type { OrganizationId } from "@castellan/core/organization/Organization"
import * as Effect from "effect/Effect"
import { SqlClient } from "effect/sql/SqlClient"
import { entering } from "../../src/database/Tenancy.ts"

/** Some value of a type: what has to be unique in the deployment is another for each organization. */
export const sampleOf = (type: string, organizationId: OrganizationId): string => {
  if (type.endsWith("[]")) return "'{}'"
  switch (type) {
    case "uuid":
    case "text":
    case "bytea":
      return `'${organizationId}'`
    case "boolean":
      return "true"
    case "integer":
    case "bigint":
    case "smallint":
    case "double precision":
    case "numeric":
      return "1"
    case "timestamp with time zone":
      return "'2026-01-01T00:00:00Z'"
    case "date":
      return "'2026-01-01'"
    case "json":
    case "jsonb":
      return "'{}'"
    default:
      throw new Error(`a row of a column of type ${type} is not made here yet`)
  }
}

/** A column of a table of ours. */
export interface Column {
  readonly table: string
  readonly name: string
  readonly type: string
}

/** Every column that a row has to be given, but that of the organization. */
export const columns = Effect.flatMap(
  SqlClient,
  (sql) => sql<Column>`
    SELECT c.relname AS table, a.attname AS name, format_type(a.atttypid, NULL) AS type
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relnamespace = 'castellan'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname <> 'migrations'
      AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' AND a.attidentity = ''
      AND a.attname <> 'organization_id'
    ORDER BY c.relname, a.attnum`
)

/** One row of every table, of an organization. */
export const fill = Effect.fnUntraced(function* (organizationId: OrganizationId) {
  const sql = yield* SqlClient
  for (const [table, of] of Map.groupBy(yield* columns, (column) => column.table)) {
    const names = of.map(({ name }) => `, "${name}"`).join("")
    const values = of.map(({ type }) => `, ${sampleOf(type, organizationId)}`).join("")
    yield* sql`INSERT INTO castellan.${sql(table)} (organization_id${sql.literal(names)})
      SELECT ${organizationId}::uuid${sql.literal(values)} WHERE ${entering(sql, organizationId)}`
  }
})
