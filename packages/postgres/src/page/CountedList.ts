/**
 * Pages by offset, with the number of all that match, in one statement.
 */
import type { Counted, OffsetPage } from "@castellan/core/page/Page"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import type { Document } from "../database/Document.ts"
import * as Query from "../database/Query.ts"

/** A list of documents. */
export interface CountedList<A> {
  readonly document: Document<A>
  /** The table, with its schema. */
  readonly table: string
  /** The rows that belong on the list: within their organization. */
  readonly where: Fragment
  /** The columns that it is sorted by; the first tells most. The last one tells any two rows apart. */
  readonly sortBy: ReadonlyArray<string>
  readonly direction: "asc" | "desc"
  readonly page: OffsetPage
}

/** A row of the page; one without a document where the page is empty. */
interface CountedRow {
  readonly total: number
  readonly document: unknown
}

/** A page of a list, and how many are on all of its pages. */
export const counted = <A>(sql: SqlClient, list: CountedList<A>): Effect.Effect<Counted<A>> => {
  const { direction, document, page, sortBy, where } = list
  const table = sql.literal(list.table)
  const columns = sql.literal(sortBy.join(", "))
  const order = sql.literal(sortBy.map((column) => `${column} ${direction.toUpperCase()}`).join(", "))
  return Effect.gen(function* () {
    const found = yield* Query.rows(sql<CountedRow>`
      SELECT (SELECT count(*)::int FROM ${table} WHERE ${where}) AS total, page.document
      FROM (VALUES (1)) AS list LEFT JOIN (
        SELECT document, ${columns} FROM ${table} WHERE ${where}
        ORDER BY ${order} LIMIT ${page.limit} OFFSET ${page.offset}
      ) AS page ON true
      ORDER BY ${order}`)
    const rows = found.filter((row) => row.document !== null)
    return {
      items: yield* Effect.forEach(rows, (row) => document.decode(row.document)),
      totalCount: found[0]?.total ?? 0
    }
  })
}
