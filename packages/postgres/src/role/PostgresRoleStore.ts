/**
 * Roles in PostgreSQL.
 */
import type { OrganizationId } from "@castellan/core/organization/Organization"
import { Role, type RoleId } from "@castellan/core/role/Role"
import { RoleStore } from "@castellan/core/role/RoleStore"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SqlClient } from "effect/sql/SqlClient"
import { anyOf } from "../database/AnyOf.ts"
import * as BatchedQuestion from "../database/BatchedQuestion.ts"
import * as Document from "../database/Document.ts"
import * as Query from "../database/Query.ts"
import * as RememberedDocument from "../database/RememberedDocument.ts"
import * as RememberedRow from "../database/RememberedRow.ts"
import { entering, within } from "../database/Tenancy.ts"

const document = Document.make(Role)

/** Roles are few, read often and seldom changed: what a text says is worked out once. */
const decode = RememberedDocument.make(document)

/** A role as a row has it. */
interface RoleRow {
  readonly id: RoleId
  readonly document: string
}

/** The roles of a statement's rows. */
const rolesOf = (statement: Query.Statement<{ readonly document: string }>): Effect.Effect<ReadonlyArray<Role>> =>
  Effect.flatMap(Query.rows(statement), (found) => Effect.forEach(found, (row) => decode(row.document)))

/** Keeps roles in PostgreSQL. */
export const layer: Layer.Layer<RoleStore, never, SqlClient> = Layer.effect(
  RoleStore,
  Effect.map(SqlClient, (sql) =>
    RoleStore.of({
      list: (organizationId) =>
        rolesOf(sql`
          SELECT document::text AS document FROM castellan.roles WHERE ${within(sql, organizationId)}
          ORDER BY created_at, id`),
      get: BatchedQuestion.make(
        sql,
        BatchedQuestion.rows({
          statement: (organizationId: OrganizationId, ids: ReadonlyArray<RoleId>) =>
            sql<RoleRow>`
            SELECT id, document::text AS document FROM castellan.roles
            WHERE ${within(sql, organizationId)} AND id ${anyOf(sql, ids, "uuid")}`,
          keyOf: ({ id }) => id,
          decode: RememberedRow.make(
            ({ id }: RoleRow) => id,
            ({ document: text }) => [text],
            (row) => decode(row.document)
          )
        })
      ),
      save: (role) =>
        Query.run(sql`
          INSERT INTO castellan.roles (organization_id, id, created_at, document)
          SELECT ${role.organizationId}, ${role.id}, ${DateTime.toDateUtc(role.createdAt)}, ${document.encode(role)}
          WHERE ${entering(sql, role.organizationId)}
          ON CONFLICT (organization_id, id) DO UPDATE SET document = excluded.document
        `),
      remove: (organizationId, id) =>
        Query.run(sql`DELETE FROM castellan.roles WHERE ${within(sql, organizationId)} AND id = ${id}`)
    })
  )
)
