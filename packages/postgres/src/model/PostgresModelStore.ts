/**
 * The numbers of models in PostgreSQL. They are read, one row for each model; only a model that was never served before
 * is written, and then one server after the other does so.
 */
import { Model, ModelNumber } from "@castellan/core/model/Model"
import { ModelStore } from "@castellan/core/model/ModelStore"
import type { OrganizationId } from "@castellan/core/organization/Organization"
import * as DatabaseFailure from "../database/DatabaseFailure.ts"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SqlClient } from "effect/sql/SqlClient"
import { entering, within } from "../database/Tenancy.ts"

interface NumberRow {
  readonly model_id: string
  readonly number: number
}

/** Keeps the numbers of models in PostgreSQL. */
export const layer: Layer.Layer<ModelStore, never, SqlClient> = Layer.effect(
  ModelStore,
  Effect.map(SqlClient, (sql) => {
    const numbers = (organizationId: OrganizationId) =>
      Effect.map(
        sql<NumberRow>`SELECT model_id, number FROM castellan.model_numbers WHERE ${within(sql, organizationId)}`,
        (rows) => new Map(rows.map((row) => [row.model_id, row.number]))
      )

    /**
     * Gives the next numbers to those of these models that have none, while nobody else gives any. A transaction that
     * cannot see what was given since it began comes upon it as a conflict, and is run again.
     */
    const give = Effect.fnUntraced(function* (organizationId: OrganizationId, ids: Iterable<string>) {
      yield* sql`SELECT pg_advisory_xact_lock(hashtextextended(${`castellan.model_numbers/${organizationId}`}, 0))`
      // Read again, now that it is our turn.
      const known = yield* numbers(organizationId)
      let highest = Math.max(0, ...known.values())
      for (const id of ids) {
        if (known.has(id)) continue
        highest += 1
        known.set(id, highest)
        yield* sql`
          INSERT INTO castellan.model_numbers (organization_id, model_id, number)
          SELECT ${organizationId}, ${id}, ${highest} WHERE ${entering(sql, organizationId)}
          ON CONFLICT DO NOTHING`
      }
      return known
    })

    return ModelStore.of({
      numbered: (organizationId, served) =>
        DatabaseFailure.orDefect(
          Effect.gen(function* () {
            const ids = served.map((one) => one.id)
            let known = yield* numbers(organizationId)
            if (!ids.every((id) => known.has(id))) known = yield* sql.withTransaction(give(organizationId, ids))
            return served.map((one) => new Model({ ...one, number: ModelNumber.make(known.get(one.id) ?? 0) }))
          })
        )
    })
  })
)
