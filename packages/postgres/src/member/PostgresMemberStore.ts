/**
 * Members in PostgreSQL. The roles that they hold stand in a table of their own as well, for those who look from the
 * role, and for the check of credentials, which looks from both.
 */
import { Member } from "@castellan/core/member/Member"
import { MemberStore } from "@castellan/core/member/MemberStore"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SqlClient } from "effect/sql/SqlClient"
import * as Document from "../database/Document.ts"
import { keyText } from "../database/KeyText.ts"
import * as Query from "../database/Query.ts"
import { entering, within } from "../database/Tenancy.ts"
import { uuidArray } from "../database/UuidArray.ts"

const document = Document.make(Member)

/** An e-mail address as it is looked for: in lower case, by the rules of JavaScript and not of a collation. */
const emailKey = (email: string): string => keyText(email.toLowerCase())

/** Keeps members in PostgreSQL. */
export const layer: Layer.Layer<MemberStore, never, SqlClient> = Layer.effect(
  MemberStore,
  Effect.map(SqlClient, (sql) =>
    MemberStore.of({
      get: (organizationId, id) =>
        Query.first(
          document,
          sql`SELECT document FROM castellan.members WHERE ${within(sql, organizationId)} AND id = ${id}`
        ),
      named: (organizationId, ids) =>
        Query.all(
          document,
          sql`SELECT document FROM castellan.members
            WHERE ${within(sql, organizationId)} AND id = ANY(${uuidArray(ids)}::uuid[])`
        ),
      list: (organizationId) =>
        Query.all(
          document,
          sql`SELECT document FROM castellan.members WHERE ${within(sql, organizationId)} ORDER BY created_at, id`
        ),
      byEmail: (organizationId, email) =>
        Query.first(
          document,
          sql`SELECT document FROM castellan.members
            WHERE ${within(sql, organizationId)} AND email = ${emailKey(email)} ORDER BY created_at, id LIMIT 1`
        ),
      withRole: (organizationId, role) =>
        Query.all(
          document,
          sql`SELECT member.document FROM castellan.member_roles AS held
            JOIN castellan.members AS member
              ON member.organization_id = held.organization_id AND member.id = held.member_id
            WHERE ${within(sql, organizationId, "held")} AND held.role_id = ${role}
            ORDER BY member.created_at, member.id`
        ),
      save: (member) => {
        const { id, organizationId } = member
        const roles = uuidArray(member.roles)
        return Query.run(sql`
          WITH saved AS (
            INSERT INTO castellan.members (organization_id, id, email, created_at, document)
            SELECT ${organizationId}, ${id}, ${emailKey(member.email)}, ${DateTime.toDateUtc(member.createdAt)},
              ${document.encode(member)}
            WHERE ${entering(sql, organizationId)}
            ON CONFLICT (organization_id, id) DO UPDATE SET email = excluded.email, document = excluded.document
          ), lost AS (
            DELETE FROM castellan.member_roles
            WHERE ${within(sql, organizationId)} AND member_id = ${id} AND role_id <> ALL(${roles}::uuid[])
          )
          INSERT INTO castellan.member_roles (organization_id, member_id, role_id)
          SELECT ${organizationId}, ${id}, role_id FROM unnest(${roles}::uuid[]) AS held (role_id)
          WHERE ${entering(sql, organizationId)}
          ON CONFLICT (organization_id, member_id, role_id) DO NOTHING
        `)
      },
      remove: (organizationId, id) =>
        Query.run(sql`
          WITH lost AS (
            DELETE FROM castellan.member_roles WHERE ${within(sql, organizationId)} AND member_id = ${id}
          )
          DELETE FROM castellan.members WHERE ${within(sql, organizationId)} AND id = ${id}
        `)
    })
  )
)
