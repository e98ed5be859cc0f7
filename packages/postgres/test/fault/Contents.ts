/** Everything that is in a database, and what of it came and went. */
import type { OrganizationId } from "@castellan/core/organization/Organization"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"

/** A digest of every row, with its table. */
export type Contents = ReadonlyArray<string>

/** Reads every table, as its owner: of every organization, or of one. */
export const read = Effect.fnUntraced(function* (sql: SqlClient, organizationId?: OrganizationId) {
  const tables = yield* sql<{ readonly name: string }>`
    SELECT tablename AS name FROM pg_tables
    WHERE schemaname = 'castellan' AND tablename NOT IN ('migrations', 'rate_limits') ORDER BY tablename`
  const where = organizationId === undefined ? "" : ` WHERE organization_id = '${organizationId}'`
  const rows = tables.map(({ name }) => `SELECT '${name} ' || md5(t::text) AS row FROM castellan."${name}" t${where}`)
  const found = yield* sql.unsafe<{ readonly row: string }>(`${rows.join(" UNION ALL ")} ORDER BY 1`)
  const contents: Contents = found.map(({ row }) => row)
  return contents
})

/** How many rows of each table came and went; a row that changed did both. Empty where nothing is different. */
export const difference = (
  before: Contents,
  after: Contents,
  except: ReadonlyArray<string> = []
): Readonly<Record<string, readonly [number, number]>> => {
  const counts: Record<string, [came: number, went: number]> = {}
  const count = (rows: Contents, others: Contents, index: 0 | 1) => {
    const known = new Set(others)
    for (const row of rows) {
      const [table = ""] = row.split(" ")
      if (known.has(row) || except.includes(table)) continue
      const entry = (counts[table] ??= [0, 0])
      entry[index] += 1
    }
  }
  count(after, before, 0)
  count(before, after, 1)
  return counts
}
