/**
 * Who reaches an object, in columns beside its document: whether everybody does, who made it, and whom it is shared
 * with until when. What `AccessPolicy.readable` decides for one object, these decide in the condition of a statement,
 * so that a page is cut, and all that belongs on the list counted, where the rows are. A property test holds the two to
 * the same answer.
 */
import type { Access, Grant } from "@castellan/core/access/Access"
import type { Principal } from "@castellan/core/access/Principal"
import * as PgTypes from "@effect/sql-pg/PgTypes"
import * as DateTime from "effect/DateTime"
import * as Result from "effect/Result"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { uuidArray } from "../database/UuidArray.ts"
import { clientKey, nobody } from "./ClientKey.ts"

/** The columns, in the order of `values`. */
export const names = (sql: SqlClient): Fragment =>
  sql.literal("is_public, creator_id, creator_key_id, creator_client, grantees, grants_end_at")

/** What a replaced row takes over from the one that replaces it. */
export const replaced = (sql: SqlClient): Fragment =>
  sql.literal(
    `is_public = excluded.is_public, creator_id = excluded.creator_id, creator_key_id = excluded.creator_key_id,
       creator_client = excluded.creator_client, grantees = excluded.grantees, grants_end_at = excluded.grants_end_at`
  )

/** A member, or a role, among those that something is shared with. */
const grantee = ({ grantee: { _tag, id } }: Grant): string => `${_tag}:${id}`

/** When each grant ends; never, in the database's words, where it has no end. */
const endsOf = (grants: ReadonlyArray<Grant>): PgTypes.Parameter =>
  Result.getOrThrow(
    PgTypes.array(
      grants.map(({ expiresAt }) => (expiresAt === undefined ? Infinity : DateTime.toEpochMillis(expiresAt))),
      PgTypes.OID.timestamptz
    )
  )

/** An object's access as values of the columns. */
export const values = (sql: SqlClient, access: Access): Fragment =>
  sql`${access.isPublic}, ${access.creator?.memberId ?? null}, ${access.creator?.apiKeyId ?? null},
    ${clientKey(access.creator?.clientMetadata)}, ${uuidArray(access.grants.map(grantee))}, ${endsOf(access.grants)}`

/**
 * Rows that a principal made, as far as making them counts for this kind of principal. The same as
 * `AccessPolicy.madeIt`.
 */
export const madeBy = (sql: SqlClient, principal: Principal): Fragment => {
  if (!principal.restricted) return sql`creator_id = ${principal.memberId}`
  const { key } = principal
  const keys = key === undefined ? [] : [key.id, ...key.rotatedFrom]
  return sql`(creator_key_id = ANY(${uuidArray(keys)}::uuid[])
    OR (creator_id = ${principal.memberId} AND creator_client = ${clientKey(principal.clientMetadata)}
      AND creator_client <> ${nobody}))`
}

/** Whom a grant has to be for, so that it counts for a principal. The same as `AccessPolicy.appliesTo`. */
const counting = (principal: Principal): ReadonlyArray<string> => [
  ...principal.roles.map((role) => `Role:${role.id}`),
  ...(principal.restricted ? [] : [`Member:${principal.memberId}`])
]

/** Rows that a principal may read at a moment. The same as `AccessPolicy.readable`. */
export const readableBy = (sql: SqlClient, principal: Principal, now: DateTime.Utc): Fragment =>
  sql`(is_public OR ${madeBy(sql, principal)} OR EXISTS (
    SELECT FROM unnest(grantees, grants_end_at) AS held (grantee, ends_at)
    WHERE held.grantee = ANY(${uuidArray(counting(principal))}::text[]) AND held.ends_at > ${DateTime.toDateUtc(now)}))`
