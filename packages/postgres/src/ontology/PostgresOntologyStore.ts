/**
 * Ontology files in PostgreSQL: all of an organization in one document, since they are read and replaced together.
 */
import { OntologyFile } from "@castellan/core/ontology/Ontology"
import { inOrder, OntologyStore } from "@castellan/core/ontology/OntologyStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { SqlClient } from "effect/sql/SqlClient"
import * as Document from "../database/Document.ts"
import * as Query from "../database/Query.ts"
import { entering, within } from "../database/Tenancy.ts"

const document = Document.make(Schema.Array(OntologyFile))

/** Keeps ontology files in PostgreSQL. */
export const layer: Layer.Layer<OntologyStore, never, SqlClient> = Layer.effect(
  OntologyStore,
  Effect.map(SqlClient, (sql) =>
    OntologyStore.of({
      files: (organizationId) =>
        Effect.map(
          Query.first(document, sql`SELECT document FROM castellan.ontologies WHERE ${within(sql, organizationId)}`),
          Option.getOrElse(() => [])
        ),
      replace: (organizationId, files) =>
        Query.run(sql`
          INSERT INTO castellan.ontologies (organization_id, document)
          SELECT ${organizationId}, ${document.encode(inOrder(files))}
          WHERE ${entering(sql, organizationId)}
          ON CONFLICT (organization_id) DO UPDATE SET document = excluded.document
        `)
    })
  )
)
