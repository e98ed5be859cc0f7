/**
 * Pages of chats. What a reader may list are a few audiences, each of which is a range of an index in the order that was
 * asked for; how many chats each has, in all and of each day, is kept. So a page merges ranges, from the end that is
 * nearer and from the day on which it begins, and looks at the chats that it shows: no chat is looked at to be counted,
 * or to be left out, and a page in the middle costs little more than the first one.
 *
 * Sorted by name, chats are passed over one by one in the index; a search looks at every chat that the reader may list.
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

const sortColumn = { name: "name", created_at: "created_at", updated_at: "updated_at" } as const

/** Adds up the changes of counts. Who changes one meanwhile is not held up, and is added up the next time. */
const addUp = (sql: SqlClient, organizationId: OrganizationId, audienceId: string): Effect.Effect<void> =>
  Query.run(sql`
    WITH split AS MATERIALIZED (
      SELECT kind, day FROM castellan.chat_tallies
      WHERE ${within(sql, organizationId)} AND audience_id = ${audienceId} GROUP BY kind, day HAVING count(*) > 1
    ), part AS MATERIALIZED (
      SELECT kind, day, tally.id FROM split JOIN castellan.chat_tallies AS tally USING (kind, day)
      WHERE ${within(sql, organizationId, "tally")} AND tally.audience_id = ${audienceId}
      FOR UPDATE OF tally SKIP LOCKED
    ), change AS (
      DELETE FROM castellan.chat_tallies AS tally USING part
      WHERE ${within(sql, organizationId, "tally")} AND tally.audience_id = ${audienceId}
        AND tally.kind = part.kind AND tally.day = part.day AND tally.id = part.id
      RETURNING tally.kind, tally.day, tally.chats
    )
    INSERT INTO castellan.chat_tallies (organization_id, audience_id, kind, day, chats)
    SELECT ${organizationId}, ${audienceId}, kind, day, sum(chats) FROM change GROUP BY kind, day
    HAVING sum(chats) <> 0`).pipe(
    Effect.catchCause((cause) => Effect.logWarning("the counts of chats could not be added up", cause))
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
    WHERE ${within(sql, reader.organizationId, "tally")} AND tally.kind = 'all'
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

const opposite = { asc: "desc", desc: "asc" } as const

const orderBy = (sql: SqlClient, direction: "asc" | "desc"): Fragment =>
  direction === "asc" ? sql.literal("key ASC, id ASC") : sql.literal("key DESC, id DESC")

/** Where a page lies among all chats of some audiences. */
interface Place {
  readonly audiences: ReadonlyArray<string>
  /** From which end it is reached. */
  readonly direction: "asc" | "desc"
  /** Chats that are passed over one by one to get to it. */
  readonly offset: Fragment
  readonly limit: number
  /** Which chats these, and those of the page, are among. */
  readonly condition: Fragment
  /** What the statement has to find out first. */
  readonly first: Fragment
}

/** Chats that are passed over one by one to get to a page; where it is further, whole days are. */
const nearby = 1000

/** A place that is far from the end: on the day on which so many chats have been passed over. */
const farPlace = (
  sql: SqlClient,
  { reader: { organizationId } }: ChatQuery,
  sortBy: "created_at" | "updated_at",
  place: Pick<Place, "audiences" | "direction" | "limit">,
  offset: number
): Place => {
  const column = sql.literal(sortBy)
  const order = sql.literal(place.direction)
  return {
    ...place,
    offset: sql`${offset} - (SELECT passed FROM beginning)`,
    condition:
      place.direction === "asc"
        ? sql`${column} >= (SELECT day FROM beginning)`
        : sql`${column} < (SELECT day + interval '24 hours' FROM beginning)`,
    first: sql`WITH beginning AS MATERIALIZED (
        SELECT day::timestamp AT TIME ZONE 'UTC' AS day, (reached - chats)::int AS passed
        FROM (
          SELECT day, sum(chats) AS chats, sum(sum(chats)) OVER (ORDER BY day ${order}) AS reached
          FROM castellan.chat_tallies
          WHERE ${within(sql, organizationId)} AND audience_id = ANY(${uuidArray(place.audiences)}::uuid[])
            AND kind = ${sortBy}
          GROUP BY day
        ) AS counted
        WHERE reached > ${offset} ORDER BY counted.day ${order} LIMIT 1
      )`
  }
}

/**
 * The ids and the sort keys of the chats up to the end of a page, of each audience: so few that they are sorted, whatever
 * the database expects of their number, and found in the order of the index.
 */
const merged = (
  sql: SqlClient,
  { reader: { organizationId }, sortBy }: ChatQuery,
  { audiences, condition, direction, limit, offset }: Place
): Fragment => {
  const column = sql.literal(sortColumn[sortBy])
  return sql`
    SELECT place.key, place.id
    FROM unnest(${uuidArray(audiences)}::uuid[]) AS audience (id) CROSS JOIN LATERAL (
      SELECT ${column} AS key, chat.id FROM castellan.chats AS chat
      WHERE ${within(sql, organizationId, "chat")} AND chat.audience_id = audience.id AND ${condition}
      ORDER BY ${orderBy(sql, direction)} LIMIT ${offset} + ${limit}::int) AS place`
}

/** The chats of a page, where the audiences have so many. */
const page = (
  sql: SqlClient,
  query: ChatQuery,
  audiences: ReadonlyArray<string>,
  totalCount: number
): Effect.Effect<ReadonlyArray<Chat>> => {
  const { offset: before, reader, sortBy, sortDirection } = query
  const limit = Math.min(query.limit, totalCount - before)
  if (limit <= 0) return Effect.succeed([])
  const behind = totalCount - before - limit
  const direction = before > behind ? opposite[sortDirection] : sortDirection
  const offset = Math.min(before, behind)
  const place: Place =
    sortBy === "name" || offset <= nearby
      ? { audiences, direction, limit, offset: sql`${offset}::int`, condition: sql`true`, first: sql`` }
      : farPlace(sql, query, sortBy, { audiences, direction, limit }, offset)
  return Effect.flatMap(
    // One chat after the other by its id, whatever the database thinks of how many there are.
    Query.rows(sql<ChatRow>`
      ${place.first}
      SELECT ${columns(sql)}
      FROM (
        SELECT key, id FROM (${merged(sql, query, place)}) AS place
        ORDER BY ${orderBy(sql, direction)} LIMIT ${limit} OFFSET ${place.offset}
      ) AS page CROSS JOIN LATERAL (
        SELECT * FROM castellan.chats WHERE organization_id = ${reader.organizationId} AND id = page.id LIMIT 1
      ) AS chat
      ORDER BY ${sql.literal(`page.key ${sortDirection}, page.id ${sortDirection}`)}`),
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
      LEFT JOIN LATERAL (
        SELECT * FROM castellan.chats WHERE organization_id = ${query.reader.organizationId} AND id = page.id LIMIT 1
      ) AS chat ON true
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
