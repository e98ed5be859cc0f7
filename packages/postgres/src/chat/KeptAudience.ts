/**
 * Audiences in the database: each is there as long as a chat of it is. Whoever takes the last chat out of an audience takes
 * the audience with it, unless another chat comes into it at the same moment. Both look at what the other one writes, in
 * serializable transactions, so that one of them comes after the other: a chat that came in finds its audience there, or
 * brings it.
 */
import type { OrganizationId } from "@castellan/core/organization/Organization"
import * as PgTypes from "@effect/sql-pg/PgTypes"
import type * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import * as Query from "../database/Query.ts"
import { entering, within } from "../database/Tenancy.ts"
import type { ChatAudience } from "./ChatAudience.ts"

const array = (elements: ReadonlyArray<unknown>, type: number) => Result.getOrThrow(PgTypes.array(elements, type))

const readersOf = ({ readers }: ChatAudience) =>
  array(
    readers.map(({ reader }) => reader),
    PgTypes.OID.text
  )

/**
 * The parts of a `WITH` that make sure that an audience is there, for a statement that brings a chat into it and has
 * `isKept` among its conditions. What is there already is read, once it is known to be: it must not go meanwhile.
 */
export const keep = (sql: SqlClient, organizationId: OrganizationId, audience: ChatAudience): Fragment => sql`
  audience AS (
    INSERT INTO castellan.chat_audiences (organization_id, client, reader, audience_id, ends_at)
    SELECT ${organizationId}, ${audience.client}, reader, ${audience.id}, ends_at
    FROM unnest(
      ${readersOf(audience)}::text[],
      ${array(
        audience.readers.map(({ endsAt }) => endsAt),
        PgTypes.OID.timestamptz
      )}::timestamptz[]
    ) AS audience (reader, ends_at)
    WHERE ${entering(sql, organizationId)}
    ON CONFLICT DO NOTHING
    RETURNING reader
  ), known AS (
    SELECT reader FROM castellan.chat_audiences
    WHERE ${within(sql, organizationId)} AND (SELECT count(*) FROM audience) < ${audience.readers.length}
      AND client = ${audience.client} AND reader = ANY(${readersOf(audience)}::text[]) AND audience_id = ${audience.id}
  )`

/** That the audience is there; always true. */
export const isKept = (sql: SqlClient): Fragment => sql`(SELECT count(*) FROM known) >= 0`

/** Takes an audience away that no chat is in any more, with what its chats were counted by. */
export const forget = (sql: SqlClient, organizationId: OrganizationId, audience: ChatAudience): Effect.Effect<void> => {
  const isEmpty = sql`NOT EXISTS (
    SELECT FROM castellan.chats AS chat
    WHERE ${within(sql, organizationId, "chat")} AND chat.audience_id = ${audience.id}
  )`
  return Query.run(sql`
    WITH audience AS (
      DELETE FROM castellan.chat_audiences
      WHERE ${within(sql, organizationId)} AND client = ${audience.client}
        AND reader = ANY(${readersOf(audience)}::text[]) AND audience_id = ${audience.id} AND ${isEmpty}
    )
    DELETE FROM castellan.chat_tallies
    WHERE ${within(sql, organizationId)} AND audience_id = ${audience.id} AND ${isEmpty}`)
}
