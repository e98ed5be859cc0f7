/**
 * Organizations in PostgreSQL.
 */
import { Organization } from "@castellan/core/organization/Organization"
import { OrganizationStore } from "@castellan/core/organization/OrganizationStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SqlClient } from "effect/sql/SqlClient"
import * as Document from "../database/Document.ts"
import * as Query from "../database/Query.ts"
import { entering, within } from "../database/Tenancy.ts"

const document = Document.make(Organization)

/** Keeps organizations in PostgreSQL. */
export const layer: Layer.Layer<OrganizationStore, never, SqlClient> = Layer.effect(
  OrganizationStore,
  Effect.map(SqlClient, (sql) =>
    OrganizationStore.of({
      get: (id) => Query.first(document, sql`SELECT document FROM castellan.organizations WHERE ${within(sql, id)}`),
      save: (organization) =>
        Query.run(sql`
          INSERT INTO castellan.organizations (organization_id, document)
          SELECT ${organization.id}, ${document.encode(organization)}
          WHERE ${entering(sql, organization.id)}
          ON CONFLICT (organization_id) DO UPDATE SET document = excluded.document
        `)
    })
  )
)
