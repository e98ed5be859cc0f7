/**
 * Pages by position: where the rows of the page before ended, the next one begins, at the cost of finding one row in an
 * index, however many pages came before.
 */
import type { Position, PositionPage, Slice } from "@castellan/core/page/Page"
import * as DateTime from "effect/DateTime"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"

/** Rows after a position, newest first: a comparison of rows, which an index over both columns answers. */
export const after = (sql: SqlClient, at: "at" | "created_at" | "updated_at", position: Position): Fragment =>
  sql`(${sql.literal(at)}, id) < (${DateTime.toDateUtc(position.at)}, ${position.id})`

/** Rows to ask for: one more than the page holds tells whether there is a next one. */
export const rowsFor = (page: PositionPage): number => page.limit + 1

/** The page of the rows that were found, with where the next one begins. */
export const slice = <A>(found: ReadonlyArray<A>, page: PositionPage, positionOf: (item: A) => Position): Slice<A> => {
  const items = found.slice(0, page.limit)
  const last = items.at(-1)
  return found.length > items.length && last !== undefined ? { items, next: positionOf(last) } : { items }
}
