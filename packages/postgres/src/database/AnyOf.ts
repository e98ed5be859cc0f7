/**
 * The condition that a column is one of several values, for statements that are sent over and over: PostgreSQL keeps one
 * plan for all of them.
 *
 * It sees an array that stands in the statement by itself, with as many values as it has this time, takes a plan made
 * for just these to be cheaper, and plans every time anew: for the check of a key that is six times the cost of carrying
 * it out. What a `SELECT` gives is not known to it before.
 */
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"

/** `= ANY` of values without commas, braces and quotes, such as ids and digests; false where there are none. */
export const anyOf = (sql: SqlClient, values: ReadonlyArray<string>, type: "text" | "uuid"): Fragment =>
  sql`= ANY((SELECT ${`{${values.join(",")}}`}::${sql.literal(type)}[])::${sql.literal(type)}[])`
