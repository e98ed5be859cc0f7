/**
 * Requests with idempotency keys in PostgreSQL. A claim is one statement where it is granted, and a second one where it
 * is not, to tell why.
 */
import {
  AttemptId,
  IdempotentRequest,
  IdempotentRequestId,
  IdempotentRequestStatus,
  RequestFingerprint,
  retention
} from "@castellan/core/idempotency/IdempotentRequest"
import { IdempotencyStore } from "@castellan/core/idempotency/IdempotencyStore"
import * as IdempotentRequestState from "@castellan/core/idempotency/IdempotentRequestState"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { SqlClient } from "effect/sql/SqlClient"
import * as Query from "../database/Query.ts"
import { acrossOrganizations, entering, within } from "../database/Tenancy.ts"

/** A row as it is read. */
interface Row {
  readonly fingerprint: string
  readonly attempt: string
  readonly leaseUntil: Date
  readonly carriedOut: boolean
  readonly answer: Uint8Array | null
  readonly createdAt: Date
}

const statusOf = ({ answer, attempt, carriedOut, leaseUntil }: Row): IdempotentRequestStatus => {
  const id = AttemptId.make(attempt)
  if (answer !== null) return IdempotentRequestStatus.cases.Answered.make({ attempt: id, answer })
  const leased = { attempt: id, leaseUntil: DateTime.fromDateUnsafe(leaseUntil) }
  return carriedOut
    ? IdempotentRequestStatus.cases.CarriedOut.make(leased)
    : IdempotentRequestStatus.cases.Underway.make(leased)
}

const requestOf = (
  { id, organizationId }: Pick<IdempotentRequestState.Claim, "id" | "organizationId">,
  row: Row
): IdempotentRequest =>
  new IdempotentRequest({
    organizationId,
    id: IdempotentRequestId.make(id),
    fingerprint: RequestFingerprint.make(row.fingerprint),
    createdAt: DateTime.fromDateUnsafe(row.createdAt),
    status: statusOf(row)
  })

/** Remembers requests in PostgreSQL. */
export const layer: Layer.Layer<IdempotencyStore, never, SqlClient> = Layer.effect(
  IdempotencyStore,
  Effect.map(SqlClient, (sql) => {
    const at = DateTime.toDateUtc

    /** Whether a statement changed the row that it is about. */
    const changed = (statement: Query.Statement<unknown>): Effect.Effect<boolean> =>
      Effect.map(Query.row(statement), Option.isSome)

    const find = (claim: IdempotentRequestState.Claim) =>
      Query.row(sql<Row>`
        SELECT fingerprint, attempt, lease_until AS "leaseUntil", carried_out AS "carriedOut", answer,
          created_at AS "createdAt"
        FROM castellan.idempotent_requests
        WHERE ${within(sql, claim.organizationId)} AND id = ${claim.id}`)

    /** The transitions of `IdempotentRequestState.claim` that grant a request, as one statement. */
    const granted = ({ attempt, fingerprint, id, leaseUntil, now, organizationId }: IdempotentRequestState.Claim) =>
      changed(sql`
        INSERT INTO castellan.idempotent_requests AS request
          (organization_id, id, fingerprint, attempt, lease_until, carried_out, answer, created_at)
        SELECT ${organizationId}, ${id}, ${fingerprint}, ${attempt}, ${at(leaseUntil)}, false, NULL, ${at(now)}
        WHERE ${entering(sql, organizationId)}
        ON CONFLICT (organization_id, id) DO UPDATE SET
          fingerprint = excluded.fingerprint, attempt = excluded.attempt, lease_until = excluded.lease_until,
          carried_out = false, answer = NULL, created_at = excluded.created_at
        WHERE (request.answer IS NOT NULL OR request.lease_until <= excluded.created_at)
          AND (request.created_at <= ${at(DateTime.subtractDuration(now, retention))}
            OR (request.fingerprint = excluded.fingerprint AND request.answer IS NULL AND NOT request.carried_out))
        RETURNING attempt`)

    const claim = Effect.fnUntraced(function* (claimed: IdempotentRequestState.Claim) {
      for (;;) {
        if (yield* granted(claimed)) return IdempotentRequestState.ClaimOutcome.cases.Granted.make({})
        const found = yield* find(claimed)
        const request = Option.getOrUndefined(Option.map(found, (row) => requestOf(claimed, row)))
        const { outcome } = IdempotentRequestState.claim(request, claimed)
        // It was released, or purged, in between.
        if (outcome._tag !== "Granted") return outcome
      }
    })

    return IdempotencyStore.of({
      claim,
      commit: ({ attempt, id, organizationId }) =>
        changed(sql`
          UPDATE castellan.idempotent_requests SET carried_out = true
          WHERE ${within(sql, organizationId)} AND id = ${id} AND attempt = ${attempt}
          RETURNING attempt`),
      renew: ({ attempt, id, organizationId }, leaseUntil) =>
        changed(sql`
          UPDATE castellan.idempotent_requests SET lease_until = ${at(leaseUntil)}
          WHERE ${within(sql, organizationId)} AND id = ${id} AND attempt = ${attempt}
          RETURNING attempt`),
      answer: ({ attempt, id, organizationId }, answer) =>
        changed(sql`
          UPDATE castellan.idempotent_requests SET answer = coalesce(answer, ${answer}::bytea)
          WHERE ${within(sql, organizationId)} AND id = ${id} AND attempt = ${attempt}
          RETURNING attempt`),
      release: Effect.fnUntraced(function* ({ attempt, id, organizationId }, now) {
        const forgotten = yield* changed(sql`
          DELETE FROM castellan.idempotent_requests
          WHERE ${within(sql, organizationId)} AND id = ${id} AND attempt = ${attempt}
            AND NOT carried_out AND answer IS NULL
          RETURNING attempt`)
        if (forgotten) return true
        return yield* changed(sql`
          UPDATE castellan.idempotent_requests SET lease_until = ${at(now)}
          WHERE ${within(sql, organizationId)} AND id = ${id} AND attempt = ${attempt}
          RETURNING attempt`)
      }),
      purge: (before, limit) =>
        Effect.map(
          Query.rows(sql`
            DELETE FROM castellan.idempotent_requests
            WHERE ${acrossOrganizations(sql)} AND (organization_id, id) IN (
              SELECT organization_id, id FROM castellan.idempotent_requests
              WHERE created_at < ${at(before)} AND (answer IS NOT NULL OR lease_until < ${at(before)})
              ORDER BY created_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)
            RETURNING attempt`),
          (rows) => rows.length
        )
    })
  })
)
