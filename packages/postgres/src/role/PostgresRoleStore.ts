/**
 * Roles in PostgreSQL.
 */
import { Role } from "@castellan/core/role/Role"
import { RoleStore } from "@castellan/core/role/RoleStore"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SqlClient } from "effect/sql/SqlClient"
import * as Document from "../database/Document.ts"
import * as Query from "../database/Query.ts"
import { entering, within } from "../database/Tenancy.ts"

const document = Document.make(Role)

/** Keeps roles in PostgreSQL. */
export const layer: Layer.Layer<RoleStore, never, SqlClient> = Layer.effect(
  RoleStore,
  Effect.map(SqlClient, (sql) =>
    RoleStore.of({
      list: (organizationId) =>
        Query.all(
          document,
          sql`SELECT document FROM castellan.roles WHERE ${within(sql, organizationId)} ORDER BY created_at, id`
        ),
      get: (organizationId, id) =>
        Query.first(
          document,
          sql`SELECT document FROM castellan.roles WHERE ${within(sql, organizationId)} AND id = ${id}`
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
