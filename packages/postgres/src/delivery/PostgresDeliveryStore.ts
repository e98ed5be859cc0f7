/**
 * Deliveries in PostgreSQL. That a target of a run has one delivery is a unique index's to say; an attempt is begun by
 * the one statement that still finds the delivery as it was.
 */
import { Delivery, targetKey } from "@castellan/core/delivery/Delivery"
import { DeliveryStore, dueAt } from "@castellan/core/delivery/DeliveryStore"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { SqlClient } from "effect/sql/SqlClient"
import * as Document from "../database/Document.ts"
import * as Query from "../database/Query.ts"
import { acrossOrganizations, entering, within } from "../database/Tenancy.ts"
import { uuidArray } from "../database/UuidArray.ts"

const document = Document.make(Delivery)

/** How many attempts were begun. With the status it never comes back: a life has each pair of them once. */
const attemptsOf = ({ status }: Delivery): number => (status._tag === "Pending" ? 0 : status.attempts)

const dueDate = (delivery: Delivery): Date | null => {
  const due = dueAt(delivery)
  return due === undefined ? null : DateTime.toDateUtc(due)
}

/** Keeps deliveries in PostgreSQL. */
export const layer: Layer.Layer<DeliveryStore, never, SqlClient> = Layer.effect(
  DeliveryStore,
  Effect.map(SqlClient, (sql) =>
    DeliveryStore.of({
      get: (organizationId, id) =>
        Query.first(
          document,
          sql`SELECT document FROM castellan.deliveries WHERE ${within(sql, organizationId)} AND id = ${id}`
        ),
      add: (deliveries) =>
        Effect.forEach(
          deliveries,
          (delivery) =>
            Query.run(sql`
              INSERT INTO castellan.deliveries (organization_id, id, run_id, target, status, attempts, due_at, document)
              SELECT ${delivery.organizationId}, ${delivery.id}, ${delivery.runId}, ${targetKey(delivery.target)},
                ${delivery.status._tag}, ${attemptsOf(delivery)}, ${dueDate(delivery)}, ${document.encode(delivery)}
              WHERE ${entering(sql, delivery.organizationId)}
              ON CONFLICT (organization_id, run_id, target) DO NOTHING
            `),
          { discard: true }
        ),
      replace: (found, next) =>
        Effect.map(
          Query.row(sql`
            UPDATE castellan.deliveries SET status = ${next.status._tag}, attempts = ${attemptsOf(next)},
              due_at = ${dueDate(next)}, document = ${document.encode(next)}
            WHERE ${within(sql, found.organizationId)} AND id = ${found.id}
              AND status = ${found.status._tag} AND attempts = ${attemptsOf(found)}
            RETURNING true AS replaced
          `),
          Option.isSome
        ),
      ofRuns: (organizationId, runIds) =>
        Query.all(
          document,
          sql`
            SELECT document FROM castellan.deliveries
            WHERE ${within(sql, organizationId)} AND run_id = ANY(${uuidArray(runIds)}::uuid[]) ORDER BY id`
        ),
      due: (now, limit) =>
        Query.all(
          document,
          sql`
            SELECT document FROM castellan.deliveries
            WHERE ${acrossOrganizations(sql)} AND due_at <= ${DateTime.toDateUtc(now)}
            ORDER BY due_at, id LIMIT ${limit}`
        )
    })
  )
)
