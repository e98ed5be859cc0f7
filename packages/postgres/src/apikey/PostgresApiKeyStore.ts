/**
 * API keys in PostgreSQL. When a key was used last stands in its column alone, so that noting it writes nothing else.
 */
import * as ClientMetadata from "@castellan/core/access/ClientMetadata"
import { ApiKey } from "@castellan/core/apikey/ApiKey"
import { useInterval } from "@castellan/core/apikey/ApiKeyState"
import { type ApiKeyQuery, ApiKeyStore } from "@castellan/core/apikey/ApiKeyStore"
import { MemberId } from "@castellan/core/member/Member"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { createHash } from "node:crypto"
import * as Document from "../database/Document.ts"
import * as Keyset from "../database/Keyset.ts"
import * as Query from "../database/Query.ts"
import { acrossOrganizations, entering, within } from "../database/Tenancy.ts"
import { uuidArray } from "../database/UuidArray.ts"

/** A key as a row has it. */
interface KeyRow {
  readonly document: unknown
  readonly last_used_at: Date | null
}

const document = Document.make(ApiKey)

/** A key as its document has it: without what changes on its own. */
const encode = (key: ApiKey): string => {
  const { lastUsedAt: _, ...lasting } = key
  return document.encode(new ApiKey(lasting, { disableChecks: true }))
}

/** A key's document with the moment of its last use. */
export const withLastUse = (key: ApiKey, lastUsedAt: Date | null): ApiKey =>
  lastUsedAt === null
    ? key
    : new ApiKey({ ...key, lastUsedAt: DateTime.makeUnsafe(lastUsedAt) }, { disableChecks: true })

const keyOf = (row: KeyRow): Effect.Effect<ApiKey> =>
  Effect.map(document.decode(row.document), (key) => withLastUse(key, row.last_used_at))

const keysOf = (statement: Query.Statement<KeyRow>): Effect.Effect<ReadonlyArray<ApiKey>> =>
  Effect.flatMap(Query.rows(statement), (rows) => Effect.forEach(rows, keyOf))

const firstOf = (statement: Query.Statement<KeyRow>): Effect.Effect<Option.Option<ApiKey>> =>
  Effect.map(keysOf(statement), ([first]) => Option.fromUndefinedOr(first))

/** What the keys of one end user are found by; null for none. The metadata itself may be longer than an index takes. */
const clientKey = (client: ClientMetadata.ClientMetadata | undefined): string | null =>
  client === undefined || ClientMetadata.isEmpty(client)
    ? null
    : createHash("sha256").update(ClientMetadata.canonicalText(client)).digest("hex")

/** What a query adds to the condition of a statement. The same as `ApiKeyStore.matches`. */
const narrowing = (sql: SqlClient, query: ApiKeyQuery): ReadonlyArray<Fragment> => {
  const { after, client, exceptOwners, includeRevoked, owners } = query
  const conditions: Array<Fragment> = []
  if (!includeRevoked) conditions.push(sql`NOT is_revoked`)
  if (owners !== undefined) {
    const [owner] = owners
    // Of one owner, the keys are in their order in an index.
    conditions.push(
      owner !== undefined && owners.length === 1
        ? sql`owner = ${owner}`
        : sql`owner = ANY(${uuidArray(owners)}::uuid[])`
    )
  }
  if (exceptOwners !== undefined && exceptOwners.length > 0) {
    conditions.push(sql`owner <> ALL(${uuidArray(exceptOwners)}::uuid[])`)
  }
  // An end user without metadata is none: nothing equals null.
  if (client !== undefined) conditions.push(sql`client = ${clientKey(client)}`)
  if (after !== undefined) conditions.push(Keyset.after(sql, "created_at", after))
  return conditions
}

const decodeMinters = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ owner: MemberId, minter: MemberId })))

/** Keeps API keys in PostgreSQL. */
export const layer: Layer.Layer<ApiKeyStore, never, SqlClient> = Layer.effect(
  ApiKeyStore,
  Effect.map(SqlClient, (sql) =>
    ApiKeyStore.of({
      byHash: (hash) =>
        firstOf(sql<KeyRow>`
          SELECT document, last_used_at FROM castellan.api_keys WHERE ${acrossOrganizations(sql)} AND hash = ${hash}`),
      get: (organizationId, id) =>
        firstOf(sql<KeyRow>`
          SELECT document, last_used_at FROM castellan.api_keys WHERE ${within(sql, organizationId)} AND id = ${id}`),
      named: (organizationId, ids) =>
        keysOf(sql<KeyRow>`
          SELECT document, last_used_at FROM castellan.api_keys
          WHERE ${within(sql, organizationId)} AND id = ANY(${uuidArray(ids)}::uuid[])`),
      list: (organizationId, query) =>
        Effect.map(
          keysOf(sql<KeyRow>`
            SELECT document, last_used_at FROM castellan.api_keys
            WHERE ${sql.and([within(sql, organizationId), ...narrowing(sql, query)])}
            ORDER BY created_at DESC, id DESC LIMIT ${Keyset.rowsFor(query)}`),
          (found) => Keyset.slice(found, query, (key) => ({ at: key.createdAt, id: key.id }))
        ),
      minters: Effect.fnUntraced(function* (organizationId, owners) {
        // From each minter to the next one in the index: the cost is that of the answer, not of the keys.
        const found = yield* Query.rows(sql`
          WITH RECURSIVE minted AS (
            SELECT first.owner, first.minter FROM unnest(${uuidArray(new Set(owners))}::uuid[]) AS asked (owner)
              CROSS JOIN LATERAL (
                SELECT owner, minter FROM castellan.api_keys
                WHERE ${within(sql, organizationId)} AND owner = asked.owner AND minter IS NOT NULL
                ORDER BY minter LIMIT 1
              ) AS first
            UNION ALL
            SELECT next.owner, next.minter FROM minted
              CROSS JOIN LATERAL (
                SELECT owner, minter FROM castellan.api_keys
                WHERE ${within(sql, organizationId)} AND owner = minted.owner AND minter > minted.minter
                ORDER BY minter LIMIT 1
              ) AS next
          )
          SELECT owner, minter FROM minted`)
        const minters = new Map<MemberId, Set<MemberId>>()
        for (const { minter, owner } of yield* Effect.orDie(decodeMinters(found))) {
          const known = minters.get(owner)
          if (known === undefined) minters.set(owner, new Set([minter]))
          else known.add(minter)
        }
        return minters
      }),
      save: (key) =>
        Query.run(sql`
          INSERT INTO castellan.api_keys AS kept (organization_id, id, hash, owner, is_revoked, client, ancestors, minter,
            created_at, last_used_at, document)
          SELECT ${key.organizationId}, ${key.id}, ${key.hash}, ${key.owner}, ${key.status._tag === "Revoked"},
            ${clientKey(key.clientMetadata)}, ${uuidArray(key.ancestors)}, ${key.mintedBy?.memberId ?? null},
            ${DateTime.toDateUtc(key.createdAt)},
            ${key.lastUsedAt === undefined ? null : DateTime.toDateUtc(key.lastUsedAt)}, ${encode(key)}
          WHERE ${entering(sql, key.organizationId)}
          ON CONFLICT (organization_id, id) DO UPDATE SET hash = excluded.hash, owner = excluded.owner,
            is_revoked = excluded.is_revoked, client = excluded.client, ancestors = excluded.ancestors,
            minter = excluded.minter, last_used_at = greatest(kept.last_used_at, excluded.last_used_at),
            document = excluded.document
        `),
      used: (organizationId, id, at) =>
        Query.run(sql`
          UPDATE castellan.api_keys SET last_used_at = ${DateTime.toDateUtc(at)}
          WHERE ${within(sql, organizationId)} AND id = ${id} AND (last_used_at IS NULL
            OR last_used_at <= ${DateTime.toDateUtc(DateTime.subtractDuration(at, useInterval))})
        `)
    })
  )
)
