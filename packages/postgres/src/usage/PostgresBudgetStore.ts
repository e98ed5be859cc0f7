/**
 * Budgets in PostgreSQL.
 */
import { Budget } from "@castellan/core/usage/Budget"
import { BudgetStore } from "@castellan/core/usage/BudgetStore"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SqlClient } from "effect/sql/SqlClient"
import * as Document from "../database/Document.ts"
import * as Query from "../database/Query.ts"
import { entering, within } from "../database/Tenancy.ts"

const document = Document.make(Budget)

/** Keeps budgets in PostgreSQL. */
export const layer: Layer.Layer<BudgetStore, never, SqlClient> = Layer.effect(
  BudgetStore,
  Effect.map(SqlClient, (sql) =>
    BudgetStore.of({
      get: (organizationId, id) =>
        Query.first(
          document,
          sql`SELECT document FROM castellan.budgets WHERE ${within(sql, organizationId)} AND id = ${id}`
        ),
      list: (organizationId) =>
        Query.all(
          document,
          sql`SELECT document FROM castellan.budgets WHERE ${within(sql, organizationId)} ORDER BY created_at, id`
        ),
      save: (budget) =>
        Query.run(sql`
          INSERT INTO castellan.budgets (organization_id, id, created_at, document)
          SELECT ${budget.organizationId}, ${budget.id}, ${DateTime.toDateUtc(budget.createdAt)},
            ${document.encode(budget)}
          WHERE ${entering(sql, budget.organizationId)}
          ON CONFLICT (organization_id, id) DO UPDATE SET document = excluded.document
        `),
      remove: (organizationId, id) =>
        Query.run(sql`DELETE FROM castellan.budgets WHERE ${within(sql, organizationId)} AND id = ${id}`)
    })
  )
)
