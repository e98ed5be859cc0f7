/**
 * Row policies in PostgreSQL.
 */
import { RowPolicy } from "@castellan/core/rowpolicy/RowPolicy"
import { RowPolicyStore } from "@castellan/core/rowpolicy/RowPolicyStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SqlClient } from "effect/sql/SqlClient"
import * as Document from "../database/Document.ts"
import * as Query from "../database/Query.ts"
import { entering, within } from "../database/Tenancy.ts"

const document = Document.make(RowPolicy)

/** Keeps row policies in PostgreSQL. */
export const layer: Layer.Layer<RowPolicyStore, never, SqlClient> = Layer.effect(
  RowPolicyStore,
  Effect.map(SqlClient, (sql) =>
    RowPolicyStore.of({
      get: (organizationId, id) =>
        Query.first(
          document,
          sql`SELECT document FROM castellan.row_policies WHERE ${within(sql, organizationId)} AND id = ${id}`
        ),
      list: (organizationId, connectorId) =>
        Query.all(
          document,
          sql`SELECT document FROM castellan.row_policies
            WHERE ${within(sql, organizationId)} AND connector_id = ${connectorId} ORDER BY id`
        ),
      save: (policy) =>
        Query.run(sql`
          INSERT INTO castellan.row_policies (organization_id, id, connector_id, document)
          SELECT ${policy.organizationId}, ${policy.id}, ${policy.connectorId}, ${document.encode(policy)}
          WHERE ${entering(sql, policy.organizationId)}
          ON CONFLICT (organization_id, id)
            DO UPDATE SET connector_id = excluded.connector_id, document = excluded.document
        `),
      remove: (organizationId, id) =>
        Query.run(sql`DELETE FROM castellan.row_policies WHERE ${within(sql, organizationId)} AND id = ${id}`)
    })
  )
)
