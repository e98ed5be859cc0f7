/**
 * The mappings of SCIM groups in PostgreSQL.
 */
import { ScimGroupMapping } from "@castellan/core/scim/ScimGroupMapping"
import { ScimGroupMappingStore } from "@castellan/core/scim/ScimGroupMappingStore"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SqlClient } from "effect/sql/SqlClient"
import * as Document from "../database/Document.ts"
import * as Query from "../database/Query.ts"
import { entering, within } from "../database/Tenancy.ts"

const document = Document.make(ScimGroupMapping)

/** Keeps mappings in PostgreSQL. */
export const layer: Layer.Layer<ScimGroupMappingStore, never, SqlClient> = Layer.effect(
  ScimGroupMappingStore,
  Effect.map(SqlClient, (sql) =>
    ScimGroupMappingStore.of({
      list: (organizationId) =>
        Query.all(
          document,
          sql`SELECT document FROM castellan.scim_group_mappings
            WHERE ${within(sql, organizationId)} ORDER BY created_at, id`
        ),
      save: (mapping) =>
        Query.run(sql`
          INSERT INTO castellan.scim_group_mappings (organization_id, id, created_at, document)
          SELECT ${mapping.organizationId}, ${mapping.id}, ${DateTime.toDateUtc(mapping.createdAt)},
            ${document.encode(mapping)}
          WHERE ${entering(sql, mapping.organizationId)}
          ON CONFLICT (organization_id, id) DO UPDATE SET document = excluded.document
        `)
    })
  )
)
