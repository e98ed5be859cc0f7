/**
 * The query parameters of the lists of chats and cells. What is absent has the specification's default.
 *
 * Source: decisions.md §1, §4.
 */
import type { ChatQuery } from "@castellan/core/chat/ChatStore"
import * as Schema from "effect/Schema"
import { maximumOffset } from "../wire/PageWire.ts"
import { boundedText, integerBetween, oneOf } from "../wire/WireValue.ts"

/** `GET /v2/chats`. */
export const ListChatsQuery = Schema.Struct({
  limit: Schema.optionalKey(integerBetween(1, 100, "How many chats a page holds")).annotateKey({ default: 20 }),
  offset: Schema.optionalKey(integerBetween(0, maximumOffset, "How many chats to skip")).annotateKey({ default: 0 }),
  search_term: Schema.optionalKey(
    boundedText({ minimum: 0, maximum: 500 }, "Only chats whose summary or first message holds this text, in any case")
  ),
  sort_by: Schema.optionalKey(
    oneOf(["name", "created_at", "updated_at"], "What to sort by; `name` is the summary. Ties break by id")
  ).annotateKey({ default: "updated_at" }),
  sort_direction: Schema.optionalKey(oneOf(["asc", "desc"], "Which way to sort")).annotateKey({ default: "desc" })
})
export type ListChatsQuery = typeof ListChatsQuery.Type

/** `GET /v2/chats/{id}/cells`. */
export const ListCellsQuery = Schema.Struct({
  limit: Schema.optionalKey(integerBetween(1, 500, "How many cells a page holds")).annotateKey({ default: 200 }),
  offset: Schema.optionalKey(
    integerBetween(0, maximumOffset, "How many cells to skip, counted from the newest")
  ).annotateKey({ default: 0 })
})
export type ListCellsQuery = typeof ListCellsQuery.Type

/** The list of chats that a query asks for. */
export const toChatQuery = (query: ListChatsQuery): Omit<ChatQuery, "reader" | "now"> => ({
  limit: query.limit ?? 20,
  offset: query.offset ?? 0,
  // An empty term is in every text: it narrows nothing.
  ...(query.search_term === undefined || query.search_term === "" ? {} : { searchTerm: query.search_term }),
  sortBy: query.sort_by ?? "updated_at",
  sortDirection: query.sort_direction ?? "desc"
})

/** The page of cells that a query asks for. */
export const toCellPage = (query: ListCellsQuery): { readonly limit: number; readonly offset: number } => ({
  limit: query.limit ?? 200,
  offset: query.offset ?? 0
})
