/**
 * Sandcastles in PostgreSQL.
 */
import { lastUsedAt, Sandcastle } from "@castellan/core/sandcastle/Sandcastle"
import { type SandcastleQuery, SandcastleStore } from "@castellan/core/sandcastle/SandcastleStore"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import * as AccessColumns from "../access/AccessColumns.ts"
import { clientKey } from "../access/ClientKey.ts"
import * as Document from "../database/Document.ts"
import * as Keyset from "../database/Keyset.ts"
import * as Query from "../database/Query.ts"
import { acrossOrganizations, entering, within } from "../database/Tenancy.ts"

const document = Document.make(Sandcastle)

/** When it was last used; null where it was stopped. */
const usedDate = (sandcastle: Sandcastle): Date | null => {
  const used = lastUsedAt(sandcastle)
  return used === undefined ? null : DateTime.toDateUtc(used)
}

/** Sandcastles of a page: the reader's own, made for the end user that it speaks for. The same as `owns`. */
const matches = (sql: SqlClient, { after, reader, status }: SandcastleQuery): Fragment => {
  const conditions: Array<Fragment> = [
    within(sql, reader.organizationId),
    AccessColumns.madeBy(sql, reader),
    sql`creator_client = ${clientKey(reader.clientMetadata)}`
  ]
  if (status !== "all") {
    conditions.push(status === "stopped" ? sql`last_used_at IS NULL` : sql`last_used_at IS NOT NULL`)
  }
  if (after !== undefined) conditions.push(Keyset.after(sql, "created_at", after))
  return sql.and(conditions)
}

/** Keeps sandcastles in PostgreSQL. */
export const layer: Layer.Layer<SandcastleStore, never, SqlClient> = Layer.effect(
  SandcastleStore,
  Effect.map(SqlClient, (sql) =>
    SandcastleStore.of({
      get: (organizationId, id) =>
        Query.first(
          document,
          sql`SELECT document FROM castellan.sandcastles WHERE ${within(sql, organizationId)} AND id = ${id}`
        ),
      list: (query) =>
        Effect.map(
          Query.all(
            document,
            sql`
              SELECT document FROM castellan.sandcastles WHERE ${matches(sql, query)}
              ORDER BY created_at DESC, id DESC LIMIT ${Keyset.rowsFor(query)}`
          ),
          (found) => Keyset.slice(found, query, ({ createdAt, id }) => ({ at: createdAt, id }))
        ),
      save: (sandcastle, heldUntil) =>
        Query.run(sql`
          INSERT INTO castellan.sandcastles (organization_id, id, creator_id, creator_key_id, creator_client,
            last_used_at, created_at, server_id, held_until, document)
          SELECT ${sandcastle.organizationId}, ${sandcastle.id}, ${sandcastle.creator.memberId},
            ${sandcastle.creator.apiKeyId ?? null}, ${clientKey(sandcastle.creator.clientMetadata)},
            ${usedDate(sandcastle)}, ${DateTime.toDateUtc(sandcastle.createdAt)}, ${sandcastle.serverId ?? null},
            ${heldUntil === undefined ? null : DateTime.toDateUtc(heldUntil)}::timestamptz,
            ${document.encode(sandcastle)}
          WHERE ${entering(sql, sandcastle.organizationId)}
          ON CONFLICT (organization_id, id) DO UPDATE SET creator_id = excluded.creator_id,
            creator_key_id = excluded.creator_key_id, creator_client = excluded.creator_client,
            last_used_at = excluded.last_used_at, created_at = excluded.created_at,
            server_id = excluded.server_id, held_until = coalesce(excluded.held_until, sandcastles.held_until),
            document = excluded.document
        `),
      replace: (found, next) =>
        Effect.map(
          Query.row(sql`
            UPDATE castellan.sandcastles SET last_used_at = ${usedDate(next)},
              server_id = ${next.serverId ?? null}, document = ${document.encode(next)}
            WHERE ${within(sql, found.organizationId)} AND id = ${found.id}
              AND last_used_at IS NOT DISTINCT FROM ${usedDate(found)}
            RETURNING true AS replaced
          `),
          Option.isSome
        ),
      idleSince: (moment) =>
        Query.all(
          document,
          sql`
            SELECT document FROM castellan.sandcastles
            WHERE ${acrossOrganizations(sql)} AND last_used_at <= ${DateTime.toDateUtc(moment)} ORDER BY last_used_at`
        ),
      running: (organizationId, limit) =>
        Query.all(
          document,
          sql`
            SELECT document FROM castellan.sandcastles
            WHERE ${within(sql, organizationId)} AND last_used_at IS NOT NULL
            ORDER BY last_used_at, id LIMIT ${limit}`
        ),
      // An organization runs few at once: the text of those tells which may serve the chat, and reading them, which do.
      ofChat: (organizationId, chatId) =>
        Effect.map(
          Query.all(
            document,
            sql`
              SELECT document FROM castellan.sandcastles
              WHERE ${within(sql, organizationId)} AND last_used_at IS NOT NULL
                AND position(${`"${chatId}"`} IN document::text) > 0
              ORDER BY last_used_at, id`
          ),
          (found) => found.filter((sandcastle) => sandcastle.chatId === chatId)
        ),
      renew: (serverId, heldUntil) =>
        Query.run(sql`
          UPDATE castellan.sandcastles SET held_until = ${DateTime.toDateUtc(heldUntil)}
          WHERE ${acrossOrganizations(sql)} AND server_id = ${serverId} AND last_used_at IS NOT NULL`),
      isHeld: (organizationId, id, now) =>
        Effect.map(
          Query.row(sql`
            SELECT true AS held FROM castellan.sandcastles
            WHERE ${within(sql, organizationId)} AND id = ${id} AND held_until > ${DateTime.toDateUtc(now)}`),
          Option.isSome
        ),
      abandoned: (now, limit) =>
        Query.all(
          document,
          sql`
            SELECT document FROM castellan.sandcastles
            WHERE ${acrossOrganizations(sql)} AND last_used_at IS NOT NULL
              AND (held_until IS NULL OR held_until <= ${DateTime.toDateUtc(now)})
            ORDER BY last_used_at, id LIMIT ${limit}`
        )
    })
  )
)
