/**
 * Folder policies in PostgreSQL. They are read so that nothing in a row can widen access: what cannot be read of one
 * stands at its strictest (`StoredFolderPolicy`).
 *
 * Source: policy-cases O10, A21, law L12.
 */
import { FolderPath } from "@castellan/core/folderpolicy/FolderPath"
import { FolderPolicy } from "@castellan/core/folderpolicy/FolderPolicy"
import { FolderPolicyStore } from "@castellan/core/folderpolicy/FolderPolicyStore"
import * as StoredFolderPolicy from "@castellan/core/folderpolicy/StoredFolderPolicy"
import type { OrganizationId } from "@castellan/core/organization/Organization"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { SqlClient } from "effect/sql/SqlClient"
import * as Document from "../database/Document.ts"
import * as Query from "../database/Query.ts"
import { entering, within } from "../database/Tenancy.ts"

const document = Document.make(FolderPolicy)

interface PolicyRow {
  readonly path: string
  readonly document: unknown
  readonly updated_at: Date
}

const decodePath = Schema.decodeEffect(FolderPath)

/** A policy of its row. A row that names no folder is a defect: nobody could say what it governs. */
const policyOf = (organizationId: OrganizationId) => (row: PolicyRow) =>
  Effect.map(Effect.orDie(decodePath(row.path)), (path) =>
    StoredFolderPolicy.restore(organizationId, path, row.document, DateTime.fromDateUnsafe(row.updated_at))
  )

/** Keeps folder policies in PostgreSQL. */
export const layer: Layer.Layer<FolderPolicyStore, never, SqlClient> = Layer.effect(
  FolderPolicyStore,
  Effect.map(SqlClient, (sql) => {
    /** Writes the organization's next version, as a part of the statement that changes a policy. */
    const touched = (organizationId: OrganizationId) => sql`
      INSERT INTO castellan.folder_policy_versions (organization_id, version)
      SELECT ${organizationId}, nextval('castellan.folder_policy_version') WHERE ${entering(sql, organizationId)}
      ON CONFLICT (organization_id) DO UPDATE SET version = excluded.version`

    return FolderPolicyStore.of({
      list: (organizationId) =>
        Effect.flatMap(
          Query.rows(sql<PolicyRow>`
            SELECT path, document, updated_at FROM castellan.folder_policies
            WHERE ${within(sql, organizationId)} ORDER BY path`),
          Effect.forEach(policyOf(organizationId))
        ),
      get: (organizationId, path) =>
        Effect.flatMap(
          Query.row(sql<PolicyRow>`
            SELECT path, document, updated_at FROM castellan.folder_policies
            WHERE ${within(sql, organizationId)} AND path = ${path}`),
          Option.match({
            onNone: () => Effect.succeedNone,
            onSome: (row) => Effect.asSome(policyOf(organizationId)(row))
          })
        ),
      version: (organizationId) =>
        Effect.map(
          Query.row(sql<{ readonly version: bigint }>`
            SELECT version FROM castellan.folder_policy_versions WHERE ${within(sql, organizationId)}`),
          Option.match({ onNone: () => 0, onSome: ({ version }) => Number(version) })
        ),
      save: (policy) =>
        Query.run(sql`
          WITH touched AS (${touched(policy.organizationId)})
          INSERT INTO castellan.folder_policies (organization_id, path, updated_at, document)
          SELECT ${policy.organizationId}, ${policy.path}, ${DateTime.toDateUtc(policy.updatedAt)},
            ${document.encode(policy)}
          WHERE ${entering(sql, policy.organizationId)}
          ON CONFLICT (organization_id, path)
          DO UPDATE SET updated_at = excluded.updated_at, document = excluded.document`),
      remove: (organizationId, path) =>
        Query.run(sql`
          WITH touched AS (${touched(organizationId)})
          DELETE FROM castellan.folder_policies WHERE ${within(sql, organizationId)} AND path = ${path}`)
    })
  })
)
