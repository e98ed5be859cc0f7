/**
 * What is kept of a request that came with an idempotency key: whether it is being carried out, was carried out, or was
 * answered, and by which attempt.
 *
 * Source: decisions.md §1 (`Idempotency-Key`).
 */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import { Uuid } from "../identifier/Uuid.ts"
import { OrganizationId } from "../organization/Organization.ts"

/** How long a request is remembered. Source: decisions.md §1 ("for 24 h"). */
export const retention: Duration.Duration = Duration.hours(24)

const Sha256 = Schema.String.check(
  Schema.isPattern(/^[0-9a-f]{64}$/, { title: "a SHA-256", description: "a SHA-256 in hexadecimal" })
)

/** The name of a request: a digest of who sent it, to which route, with which key. */
export const IdempotentRequestId = Sha256.pipe(Schema.brand("IdempotentRequestId"))
export type IdempotentRequestId = typeof IdempotentRequestId.Type

/** What was asked: a digest of all that makes two requests the same. */
export const RequestFingerprint = Sha256.pipe(Schema.brand("RequestFingerprint"))
export type RequestFingerprint = typeof RequestFingerprint.Type

/** The name of one attempt to carry a request out. No two share one, so that an attempt that was superseded is told. */
export const AttemptId = Uuid.pipe(Schema.brand("AttemptId"))
export type AttemptId = typeof AttemptId.Type

/** How far a request has come. */
export const IdempotentRequestStatus = Schema.TaggedUnion({
  /** An attempt is at it, and nothing of it is kept yet. Past the lease, the attempt counts as lost. */
  Underway: { attempt: AttemptId, leaseUntil: Schema.DateTimeUtc },
  /** What it does is kept, its answer is not. Past the lease, the answer counts as lost. It is never done again. */
  CarriedOut: { attempt: AttemptId, leaseUntil: Schema.DateTimeUtc },
  /** It was answered, in the words of the protocol that it came by. */
  Answered: { attempt: AttemptId, answer: Schema.Uint8Array }
})
export type IdempotentRequestStatus = typeof IdempotentRequestStatus.Type

/** A request that came with an idempotency key. */
export class IdempotentRequest extends Schema.Class<IdempotentRequest>("@castellan/core/idempotency/IdempotentRequest")(
  {
    organizationId: OrganizationId,
    id: IdempotentRequestId,
    fingerprint: RequestFingerprint,
    /** When the attempt that is on the record began: what the retention counts from. */
    createdAt: Schema.DateTimeUtc,
    status: IdempotentRequestStatus
  }
) {}

/** An attempt to carry a request out, as it names itself. */
export interface Attempt {
  readonly organizationId: OrganizationId
  readonly id: IdempotentRequestId
  readonly attempt: AttemptId
}
