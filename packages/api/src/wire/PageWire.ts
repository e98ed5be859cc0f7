/**
 * Pages of lists on the wire: by offset with a total, or by an opaque token.
 *
 * Source: decisions.md §1 ("List endpoints").
 */
import type { OffsetPage, Position } from "@castellan/core/page/Page"
import * as Schema from "effect/Schema"
import { boundedText, integerBetween, oneOf, opaque, text } from "./WireValue.ts"

/** Rows that a list can skip at most: whoever needs more narrows the list down. */
export const maximumOffset = 1_000_000

/** `limit` and `offset` of a list of some things, such as `playbooks`. */
export const offsetFields = (things: string) => ({
  limit: Schema.optionalKey(integerBetween(1, 100, `How many ${things} a page holds`)).annotateKey({ default: 20 }),
  offset: Schema.optionalKey(integerBetween(0, maximumOffset, `How many ${things} to skip`)).annotateKey({
    default: 0
  })
})

/** `page_size` and `page_token` of a list of some things, such as `changes`. */
export const pageFields = (things: string) => ({
  page_size: Schema.optionalKey(integerBetween(1, 200, `How many ${things} a page holds`)).annotateKey({ default: 50 }),
  page_token: Schema.optionalKey(opaque("`next_page_token` of the page before; absent, the first page"))
})

/** `limit` and `cursor` of a list of some things, such as `executions`. */
export const cursorFields = (things: string) => ({
  limit: Schema.optionalKey(integerBetween(1, 200, `How many ${things} a page holds`)).annotateKey({ default: 50 }),
  cursor: Schema.optionalKey(opaque("`next_cursor` of the page before; absent, the first page, with the newest"))
})

/** The search term of a list; `where` completes "Only those whose ". */
export const searchTerm = (where: string) =>
  Schema.optionalKey(
    boundedText({ minimum: 0, maximum: 500 }, `Only those whose ${where} holds this text, in any case`)
  )

/** What a list is sorted by, and which way. */
export const sortFields = {
  sort_by: Schema.optionalKey(
    oneOf(["name", "created_at", "updated_at"], "What to sort by. Ties break by id")
  ).annotateKey({ default: "updated_at" }),
  sort_direction: Schema.optionalKey(oneOf(["asc", "desc"], "Which way to sort")).annotateKey({ default: "desc" })
}

/** Where the next page begins, as an answer says it. */
export const nextPageToken = Schema.optionalKey(text("What `page_token` takes for the next page; absent on the last"))

/** Where the next page begins, as an answer says it. */
export const nextCursor = Schema.optionalKey(text("What `cursor` takes for the next page; absent on the last"))

/** The page by offset that a query asks for. */
export const toOffsetPage = (query: { readonly limit?: number; readonly offset?: number }): OffsetPage => ({
  limit: query.limit ?? 20,
  offset: query.offset ?? 0
})

/** Writes the position of a row as an opaque text that only its maker can read. The server's to provide. */
export type SealPosition = (position: Position) => string

/** The rule that a page token or a cursor which was altered breaks. */
export const tokenRule = "must be a value that an earlier answer gave"
