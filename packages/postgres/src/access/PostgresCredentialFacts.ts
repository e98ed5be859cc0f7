/**
 * What credentials are worth, from PostgreSQL: one statement is about a key, the keys that it descends from, their owners
 * and the roles that its owner holds. Of a key that is found by its hash it brings the versions of all these; a second
 * one brings the facts where they are not those that were read before.
 */
import {
  CredentialFacts,
  type KeyFacts,
  type MemberFacts,
  type OwnedKey,
  type SessionFacts
} from "@castellan/core/access/CredentialFacts"
import { ApiKey, type ApiKeyHash } from "@castellan/core/apikey/ApiKey"
import { Member } from "@castellan/core/member/Member"
import { Role } from "@castellan/core/role/Role"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { withLastUse } from "../apikey/PostgresApiKeyStore.ts"
import { anyOf } from "../database/AnyOf.ts"
import * as BatchedQuestion from "../database/BatchedQuestion.ts"
import * as Document from "../database/Document.ts"
import * as Query from "../database/Query.ts"
import * as RememberedDocument from "../database/RememberedDocument.ts"
import { acrossOrganizations, within } from "../database/Tenancy.ts"
import { uuidArray } from "../database/UuidArray.ts"
import * as VersionedRow from "../database/VersionedRow.ts"

const decodeKey = RememberedDocument.make(Document.make(ApiKey))
const decodeMember = RememberedDocument.make(Document.make(Member))
const decodeRoles = RememberedDocument.make(Document.make(Schema.Array(Role)))
const decodeLine = RememberedDocument.make(
  Document.make(Schema.Array(Schema.Struct({ key: ApiKey, owner: Schema.NullOr(Member) })))
)

/** The columns of a key's facts, documents as texts; all but the key's own are null where there is nothing. */
interface KeyRow {
  readonly document: string
  readonly last_used_at: Date | null
  readonly owner: string | null
  readonly ancestors: string | null
  readonly roles: string | null
}

/** The columns of a key's facts, with the hash that they are found by and the version of them all. */
interface HashedKeyRow extends KeyRow, VersionedRow.Version<ApiKeyHash> {}

/** The columns of a session's facts; those of a key are null where there is none. */
interface SessionRow extends Omit<KeyRow, "document"> {
  readonly document: string | null
  readonly member: string
  readonly named: string | null
}

/**
 * The columns of a key's facts, where the key is `key`. Whatever belongs to something else is asked for row by row, by
 * its id: a join of whole tables is never the better plan here, and a plan that is kept must not become one.
 */
const keyColumns = (sql: SqlClient): Fragment =>
  sql.literal(`
    key.document::text AS document, key.last_used_at,
    (SELECT owner.document::text FROM castellan.members AS owner
      WHERE owner.organization_id = key.organization_id AND owner.id = key.owner) AS owner,
    CASE WHEN key.ancestors <> '{}' THEN (
      SELECT json_agg(json_build_object('key', ancestor.document, 'owner', (
        SELECT owner.document FROM castellan.members AS owner
        WHERE owner.organization_id = ancestor.organization_id AND owner.id = ancestor.owner)))::text
      FROM castellan.api_keys AS ancestor
      WHERE ancestor.organization_id = key.organization_id AND ancestor.id = ANY(key.ancestors)) END AS ancestors,
    ${heldBy("key.organization_id", "key.owner")} AS roles`)

/** The roles that a member holds, in the order of their creation, as one array. */
const heldBy = (organization: string, member: string): string => `
    (SELECT json_agg(role.document ORDER BY role.created_at, role.id)::text
      FROM castellan.member_roles AS held
        CROSS JOIN LATERAL (
          SELECT id, created_at, document FROM castellan.roles
          WHERE organization_id = held.organization_id AND id = held.role_id LIMIT 1) AS role
      WHERE held.organization_id = ${organization} AND held.member_id = ${member})`

const rolesOf = (column: string | null): Effect.Effect<ReadonlyArray<Role>> =>
  column === null ? Effect.succeed([]) : decodeRoles(column)

const ancestorsOf = (column: string | null): Effect.Effect<ReadonlyArray<OwnedKey>> =>
  column === null
    ? Effect.succeed([])
    : Effect.map(decodeLine(column), (line) => line.map(({ key, owner }) => ({ key, owner: owner ?? undefined })))

const keyFactsOf = Effect.fnUntraced(function* (row: KeyRow) {
  const key = yield* decodeKey(row.document)
  return {
    key: withLastUse(key, row.last_used_at),
    owner: row.owner === null ? undefined : yield* decodeMember(row.owner),
    ancestors: yield* ancestorsOf(row.ancestors),
    roles: yield* rolesOf(row.roles)
  } satisfies KeyFacts
})

/** What is made of a statement's first row; none where it has no row. */
const ofFirst = <Row, A>(statement: Query.Statement<Row>, make: (row: Row) => Effect.Effect<A>) =>
  Effect.flatMap(Query.row(statement), (row) =>
    Option.isNone(row) ? Effect.succeedNone : Effect.asSome(make(row.value))
  )

/**
 * The version of a key's facts, where the key is `key`: that of the key, which says whose it is and what it descends
 * from, and those of its owner, its ancestors with their owners, and the roles. Where there may be one or another, its
 * id stands beside its version, which may be that of several (`0018_versions`).
 */
const versionOfFacts = `
    concat(key.version, '|',
      (SELECT owner.version FROM castellan.members AS owner
        WHERE owner.organization_id = key.organization_id AND owner.id = key.owner), '|',
      CASE WHEN key.ancestors <> '{}' THEN (
        SELECT string_agg(concat(ancestor.id, '+', ancestor.version, '+', (
          SELECT owner.version FROM castellan.members AS owner
          WHERE owner.organization_id = ancestor.organization_id AND owner.id = ancestor.owner)), ',' ORDER BY ancestor.id)
        FROM castellan.api_keys AS ancestor
        WHERE ancestor.organization_id = key.organization_id AND ancestor.id = ANY(key.ancestors)) END, '|',
      (SELECT string_agg(concat(held.role_id, '+', role.version), ',' ORDER BY held.role_id)
        FROM castellan.member_roles AS held
          CROSS JOIN LATERAL (
            SELECT version FROM castellan.roles
            WHERE organization_id = held.organization_id AND id = held.role_id LIMIT 1) AS role
        WHERE held.organization_id = key.organization_id AND held.member_id = key.owner)) AS version`

/** The facts of a key by its hash: what every request begins with. */
const byHash = (sql: SqlClient) => {
  const ofKeys = (hashes: ReadonlyArray<ApiKeyHash>): Fragment =>
    sql`FROM castellan.api_keys AS key WHERE ${acrossOrganizations(sql)} AND key.hash ${anyOf(sql, hashes, "text")}`
  return BatchedQuestion.make(
    sql,
    VersionedRow.make({
      versions: (_: "deployment", hashes: ReadonlyArray<ApiKeyHash>) =>
        sql<VersionedRow.Version<ApiKeyHash>>`SELECT key.hash AS key, ${sql.literal(versionOfFacts)} ${ofKeys(hashes)}`,
      rows: (_: "deployment", hashes: ReadonlyArray<ApiKeyHash>) =>
        sql<HashedKeyRow>`SELECT key.hash AS key, ${sql.literal(versionOfFacts)}, ${keyColumns(sql)} ${ofKeys(hashes)}`,
      decode: keyFactsOf
    })
  )
}

/** Tells what credentials are worth, from PostgreSQL. */
export const layer: Layer.Layer<CredentialFacts, never, SqlClient> = Layer.effect(
  CredentialFacts,
  Effect.map(SqlClient, (sql) => {
    const ofHash = byHash(sql)
    return CredentialFacts.of({
      ofHash: (hash) => ofHash("deployment", hash),
      ofKey: (organizationId, id) =>
        ofFirst(
          sql<KeyRow>`SELECT ${keyColumns(sql)} FROM castellan.api_keys AS key
            WHERE ${within(sql, organizationId, "key")} AND key.id = ${id}`,
          keyFactsOf
        ),
      ofMember: (organizationId, id) =>
        ofFirst(
          sql<{ readonly member: string; readonly roles: string | null }>`
            SELECT member.document::text AS member, ${sql.literal(heldBy("member.organization_id", "member.id"))} AS roles
            FROM castellan.members AS member
            WHERE ${within(sql, organizationId, "member")} AND member.id = ${id}`,
          ({ member, roles }) =>
            Effect.all({
              member: decodeMember(member),
              roles: rolesOf(roles)
            }) satisfies Effect.Effect<MemberFacts>
        ),
      ofSession: ({ key, memberId, organizationId, roles }) =>
        ofFirst(
          sql<SessionRow>`
            SELECT member.document::text AS member,
              (SELECT json_agg(role.document ORDER BY role.created_at, role.id)::text FROM castellan.roles AS role
                WHERE role.organization_id = member.organization_id
                  AND role.id = ANY(${uuidArray(roles)}::uuid[])) AS named,
              ${keyColumns(sql)}
            FROM castellan.members AS member
              LEFT JOIN castellan.api_keys AS key
                ON key.organization_id = member.organization_id AND key.id = ${key?.id ?? null}
            WHERE ${within(sql, organizationId, "member")} AND member.id = ${memberId}`,
          Effect.fnUntraced(function* (row) {
            return {
              member: yield* decodeMember(row.member),
              roles: yield* rolesOf(row.named),
              key:
                row.document === null
                  ? Option.none()
                  : Option.some(yield* keyFactsOf({ ...row, document: row.document }))
            } satisfies SessionFacts
          })
        )
    })
  })
)
