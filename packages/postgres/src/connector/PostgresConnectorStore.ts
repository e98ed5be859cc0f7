/**
 * Connectors in PostgreSQL, with who may use them; and the highest number that each organization ever gave to one.
 */
import { Access } from "@castellan/core/access/Access"
import { Connector, ConnectorId } from "@castellan/core/connector/Connector"
import { ConnectorStore } from "@castellan/core/connector/ConnectorStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { SqlClient } from "effect/sql/SqlClient"
import * as Document from "../database/Document.ts"
import * as Query from "../database/Query.ts"
import { entering, within } from "../database/Tenancy.ts"

const document = Document.make(Schema.Struct({ connector: Connector, access: Access }))

/** Keeps connectors in PostgreSQL. */
export const layer: Layer.Layer<ConnectorStore, never, SqlClient> = Layer.effect(
  ConnectorStore,
  Effect.map(SqlClient, (sql) =>
    ConnectorStore.of({
      list: (organizationId) =>
        Query.all(
          document,
          sql`SELECT document FROM castellan.connectors WHERE ${within(sql, organizationId)} ORDER BY id`
        ),
      get: (organizationId, id) =>
        Query.first(
          document,
          sql`SELECT document FROM castellan.connectors WHERE ${within(sql, organizationId)} AND id = ${id}`
        ),
      nextId: (organizationId) =>
        Effect.flatMap(
          Query.rows(sql<{ readonly highest: number }>`
            INSERT INTO castellan.connector_numbers AS given (organization_id, highest)
            SELECT ${organizationId}, 1 WHERE ${entering(sql, organizationId)}
            ON CONFLICT (organization_id) DO UPDATE SET highest = given.highest + 1
            RETURNING highest
          `),
          ([row]) => Effect.orDie(Schema.decodeUnknownEffect(ConnectorId)(row?.highest))
        ),
      save: ({ access, connector }) => {
        const { id, organizationId } = connector
        return Query.run(sql`
          WITH numbered AS (
            INSERT INTO castellan.connector_numbers AS given (organization_id, highest)
            SELECT ${organizationId}, ${id} WHERE ${entering(sql, organizationId)}
            ON CONFLICT (organization_id) DO UPDATE SET highest = excluded.highest
              WHERE given.highest < excluded.highest
          )
          INSERT INTO castellan.connectors (organization_id, id, document)
          SELECT ${organizationId}, ${id}, ${document.encode({ access, connector })}
          WHERE ${entering(sql, organizationId)}
          ON CONFLICT (organization_id, id) DO UPDATE SET document = excluded.document
        `)
      },
      remove: (organizationId, id) =>
        Query.run(sql`DELETE FROM castellan.connectors WHERE ${within(sql, organizationId)} AND id = ${id}`)
    })
  )
)
