/**
 * Pages of chats. What a reader may list are a few audiences, each of which is a range of an index in the order that was
 * asked for; how many chats each has is kept. So a page merges ranges, from the end that is nearer, and looks at the
 * chats that it shows; no chat is looked at to be counted, or to be left out.
 *
 * A search looks at every chat that the reader may list.
 */
import type { Chat } from "@castellan/core/chat/Chat"
import type { ChatPage, ChatQuery } from "@castellan/core/chat/ChatStore"
import type { OrganizationId } from "@castellan/core/organization/Organization"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { columnText } from "../database/ColumnText.ts"
import * as Query from "../database/Query.ts"
import { within } from "../database/Tenancy.ts"
import { uuidArray } from "../database/UuidArray.ts"
import { readerOf } from "./ChatAudience.ts"
import { type ChatRow, chatOf, columns } from "./ChatRow.ts"

/** An audience of a reader. */
interface AudienceRow {
  readonly audienceId: string
  /** Its chats. */
  readonly chats: number
  /** The changes that these were added up from. */
  readonly changes: number
}

/** Changes of a count that are left as they are; more are added up, so that a list does not do so each time. */
const changesLeft = 64

/** Changes that are added up at once, at most. */
const changesAtOnce = 10_000

/** Ranges that one statement merges as they are: its text is the same for every number of them up to a step. */
const steps = [1, 2, 4, 8]

/** What no audience is called. */
const noAudience = "00000000-0000-0000-0000-000000000000"

const sortColumn = { name: "name", created_at: "created_at", updated_at: "updated_at" } as const

/** Adds up the changes of a count. Who changes it meanwhile is not held up, and is added up the next time. */
const addUp = (sql: SqlClient, organizationId: OrganizationId, audienceId: string): Effect.Effect<void> =>
  Query.run(sql`
    WITH change AS (
      DELETE FROM castellan.chat_tallies WHERE ${within(sql, organizationId)} AND audience_id = ${audienceId}
        AND id IN (
          SELECT id FROM castellan.chat_tallies WHERE ${within(sql, organizationId)} AND audience_id = ${audienceId}
          ORDER BY id LIMIT ${changesAtOnce} FOR UPDATE SKIP LOCKED)
      RETURNING chats
    )
    INSERT INTO castellan.chat_tallies (organization_id, audience_id, chats)
    SELECT ${organizationId}, ${audienceId}, sum(chats) FROM change HAVING sum(chats) <> 0`).pipe(
    Effect.catchCause((cause) => Effect.logWarning("the count of chats could not be added up", cause))
  )

/** The audiences that a reader belongs to, of those that have chats. */
const audiencesOf = Effect.fnUntraced(function* (sql: SqlClient, { now, reader }: ChatQuery) {
  const { client, readers } = readerOf(reader)
  const rows = yield* Query.rows(sql<AudienceRow>`
    SELECT tally.audience_id AS "audienceId", sum(tally.chats)::int AS chats, count(*)::int AS changes
    FROM (
      SELECT DISTINCT audience_id FROM castellan.chat_audiences
      WHERE ${within(sql, reader.organizationId)} AND client = ${client}
        AND reader = ANY(${JSON.stringify(readers).replace(/^\[(.*)\]$/, "{$1}")}::text[])
        AND ends_at > ${DateTime.toDateUtc(now)}
    ) AS audience JOIN castellan.chat_tallies AS tally USING (audience_id)
    WHERE tally.organization_id = ${reader.organizationId}
    GROUP BY tally.audience_id`)
  // Within a transaction, what is added up would be held until its end.
  const outer = yield* Effect.serviceOption(sql.transactionService)
  if (outer._tag === "None") {
    for (const { audienceId, changes } of rows) {
      if (changes > changesLeft) yield* addUp(sql, reader.organizationId, audienceId)
    }
  }
  return rows.filter(({ chats }) => chats > 0)
})

/** The ids and the sort keys of all chats of some audiences, in order. */
const merged = (
  sql: SqlClient,
  { reader: { organizationId }, sortBy }: ChatQuery,
  audiences: ReadonlyArray<string>,
  { count, order }: { readonly count: number; readonly order: Fragment }
): Fragment => {
  const column = sql.literal(sortColumn[sortBy])
  const step = steps.find((size) => size >= audiences.length)
  if (step === undefined) {
    return sql`
      SELECT place.key, place.id
      FROM unnest(${uuidArray(audiences)}::uuid[]) AS audience (id) CROSS JOIN LATERAL (
        SELECT ${column} AS key, chat.id FROM castellan.chats AS chat
        WHERE ${within(sql, organizationId, "chat")} AND chat.audience_id = audience.id
        ORDER BY ${order} LIMIT ${count}) AS place`
  }
  const range = (audience: string) => sql`
    SELECT ${column} AS key, id FROM castellan.chats
    WHERE ${within(sql, organizationId)} AND audience_id = ${audience}`
  return Array.from({ length: step }, (_, index) => range(audiences[index] ?? noAudience)).reduce(
    (all, one) => sql`${all} UNION ALL ${one}`
  )
}

const orderBy = (sql: SqlClient, direction: "asc" | "desc"): Fragment =>
  direction === "asc" ? sql.literal("key ASC, id ASC") : sql.literal("key DESC, id DESC")

const opposite = { asc: "desc", desc: "asc" } as const

/** The chats of a page, where the audiences have so many. */
const page = (
  sql: SqlClient,
  query: ChatQuery,
  audiences: ReadonlyArray<string>,
  totalCount: number
): Effect.Effect<ReadonlyArray<Chat>> => {
  const limit = Math.min(query.limit, totalCount - query.offset)
  if (limit <= 0) return Effect.succeed([])
  const isNearerToEnd = query.offset > totalCount - query.offset - limit
  const offset = isNearerToEnd ? totalCount - query.offset - limit : query.offset
  const order = orderBy(sql, isNearerToEnd ? opposite[query.sortDirection] : query.sortDirection)
  return Effect.flatMap(
    Query.rows(sql<ChatRow>`
      SELECT ${columns(sql)}
      FROM (
        SELECT key, id FROM (${merged(sql, query, audiences, { count: offset + limit, order })}) AS place
        ORDER BY ${order} LIMIT ${limit} OFFSET ${offset}
      ) AS page JOIN castellan.chats AS chat ON chat.organization_id = ${query.reader.organizationId} AND chat.id = page.id
      ORDER BY ${sql.literal(`page.key ${query.sortDirection}, page.id ${query.sortDirection}`)}`),
    (rows) => Effect.forEach(rows, chatOf)
  )
}

interface FoundRow {
  readonly total: number
  /** Null where the page is empty. */
  readonly document: object | null
  readonly runId: string | null
  readonly updatedAt: Date
}

/** The chats of a page that have a text in their summary or first question. */
const search = (sql: SqlClient, query: ChatQuery, audiences: ReadonlyArray<string>, text: string) => {
  const term = columnText(text.toLowerCase())
  const order = orderBy(sql, query.sortDirection)
  return Effect.flatMap(
    Query.rows(sql<FoundRow>`
      WITH found AS MATERIALIZED (
        SELECT ${sql.literal(sortColumn[query.sortBy])} AS key, id FROM castellan.chats
        WHERE ${within(sql, query.reader.organizationId)} AND audience_id = ANY(${uuidArray(audiences)}::uuid[])
          AND (strpos(searched_summary, ${term}) > 0 OR strpos(searched_question, ${term}) > 0)
      )
      SELECT (SELECT count(*)::int FROM found) AS total, ${columns(sql)}
      FROM (VALUES (1)) AS one LEFT JOIN (
        SELECT key, id FROM found ORDER BY ${order} LIMIT ${query.limit} OFFSET ${query.offset}
      ) AS page ON true
      LEFT JOIN castellan.chats AS chat ON chat.organization_id = ${query.reader.organizationId} AND chat.id = page.id
      ORDER BY ${sql.literal(`page.key ${query.sortDirection}, page.id ${query.sortDirection}`)}`),
    (rows) =>
      Effect.map(
        Effect.forEach(rows, ({ document, ...rest }) =>
          document === null ? Effect.succeed([]) : Effect.map(chatOf({ ...rest, document }), (chat) => [chat])
        ),
        (chats): ChatPage => ({ chats: chats.flat(), totalCount: rows[0]?.total ?? 0 })
      )
  )
}

/** A page of the chats that a reader may list, and how many there are. */
export const list = Effect.fnUntraced(function* (sql: SqlClient, query: ChatQuery) {
  const audiences = yield* audiencesOf(sql, query)
  const ids = audiences.map(({ audienceId }) => audienceId).toSorted()
  const totalCount = audiences.reduce((sum, { chats }) => sum + chats, 0)
  if (totalCount === 0) return { chats: [], totalCount } satisfies ChatPage
  if (query.searchTerm !== undefined && query.searchTerm !== "") {
    return yield* search(sql, query, ids, query.searchTerm)
  }
  return { chats: yield* page(sql, query, ids, totalCount), totalCount } satisfies ChatPage
})
