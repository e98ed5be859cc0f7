/**
 * What becomes of a request that comes with an idempotency key, and of the attempts to carry it out.
 *
 * An attempt claims the request, has its use case commit, and keeps the answer. It holds the request by a lease. When
 * its server dies, the lease runs out: nothing was committed, and another attempt may claim the request; or it was, and
 * no attempt ever may. The commit is part of the use case's own transaction, so that there is no third case; and it is
 * refused to an attempt that another one has superseded, so that a server that was only slow does nothing twice.
 *
 * Source: decisions.md §1 (`Idempotency-Key`).
 */
import * as DateTime from "effect/DateTime"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import {
  type Attempt,
  type AttemptId,
  IdempotentRequest,
  IdempotentRequestStatus,
  type RequestFingerprint,
  retention
} from "./IdempotentRequest.ts"

/** What an attempt is told when it claims a request. */
export const ClaimOutcome = Schema.TaggedUnion({
  /** The request is its own to carry out. */
  Granted: {},
  /** The request was answered before. */
  Answered: { answer: Schema.Uint8Array },
  /** Another attempt is at it. */
  Underway: {},
  /** It was carried out; its answer is lost. */
  CarriedOut: {},
  /** The key was used for something else. */
  Differs: {}
})
export type ClaimOutcome = typeof ClaimOutcome.Type

/** An attempt that claims a request. */
export interface Claim extends Attempt {
  readonly fingerprint: RequestFingerprint
  readonly now: DateTime.Utc
  readonly leaseUntil: DateTime.Utc
}

/** The attempt does not hold the request: the message says what became of it. */
export class AttemptSuperseded extends Schema.TaggedError<AttemptSuperseded>()("AttemptSuperseded", {
  message: Schema.String
}) {}

/** Whether an attempt may still be at it. */
const isLeased = ({ status }: IdempotentRequest, now: DateTime.Utc): boolean =>
  status._tag !== "Answered" && DateTime.isLessThan(now, status.leaseUntil)

/** Whether a request is remembered no longer. One that is being carried out always is. */
export const isForgotten = (request: IdempotentRequest, now: DateTime.Utc): boolean =>
  !isLeased(request, now) && DateTime.isLessThanOrEqualTo(DateTime.addDuration(request.createdAt, retention), now)

/** What a claim is told, and what is on record then. */
export const claim = (
  request: IdempotentRequest | undefined,
  claimed: Claim
): { readonly outcome: ClaimOutcome; readonly request: IdempotentRequest } => {
  const { attempt, fingerprint, id, leaseUntil, now, organizationId } = claimed
  const granted = () => ({
    outcome: ClaimOutcome.cases.Granted.make({}),
    request: new IdempotentRequest({
      organizationId,
      id,
      fingerprint,
      createdAt: now,
      status: IdempotentRequestStatus.cases.Underway.make({ attempt, leaseUntil })
    })
  })
  if (request === undefined || isForgotten(request, now)) return granted()
  if (request.fingerprint !== fingerprint) return { outcome: ClaimOutcome.cases.Differs.make({}), request }
  const { status } = request
  if (status._tag === "Answered") {
    return { outcome: ClaimOutcome.cases.Answered.make({ answer: status.answer }), request }
  }
  if (isLeased(request, now)) return { outcome: ClaimOutcome.cases.Underway.make({}), request }
  return status._tag === "CarriedOut" ? { outcome: ClaimOutcome.cases.CarriedOut.make({}), request } : granted()
}

/** The request with its next status, if the attempt holds it. */
const held = (
  request: IdempotentRequest | undefined,
  attempt: AttemptId,
  next: (status: IdempotentRequestStatus) => IdempotentRequestStatus | undefined
): Result.Result<IdempotentRequest | undefined, AttemptSuperseded> => {
  if (request === undefined) {
    return Result.fail(new AttemptSuperseded({ message: "the request is not on record any more" }))
  }
  if (request.status.attempt !== attempt) {
    const became = { Underway: "is underway", CarriedOut: "was carried out", Answered: "was answered" } as const
    return Result.fail(
      new AttemptSuperseded({ message: `the request ${became[request.status._tag]} by another attempt` })
    )
  }
  const status = next(request.status)
  return Result.succeed(status === undefined ? undefined : new IdempotentRequest({ ...request, status }))
}

/** What an attempt has done is kept. Work that outlives its request may commit after the answer: nothing changes. */
export const commit = (request: IdempotentRequest | undefined, attempt: AttemptId) =>
  held(request, attempt, (status) =>
    status._tag === "Underway"
      ? IdempotentRequestStatus.cases.CarriedOut.make({ attempt, leaseUntil: status.leaseUntil })
      : status
  )

/** An attempt is still at it. */
export const renew = (request: IdempotentRequest | undefined, attempt: AttemptId, leaseUntil: DateTime.Utc) =>
  held(request, attempt, (status) => (status._tag === "Answered" ? status : { ...status, leaseUntil }))

/** An attempt has an answer. The first stays. */
export const answer = (request: IdempotentRequest | undefined, attempt: AttemptId, given: Uint8Array) =>
  held(request, attempt, (status) =>
    status._tag === "Answered" ? status : IdempotentRequestStatus.cases.Answered.make({ attempt, answer: given })
  )

/**
 * An attempt ends without an answer that is kept. What it has done stays done, and on record; a request of which
 * nothing was done is forgotten (`undefined`).
 */
export const release = (request: IdempotentRequest | undefined, attempt: AttemptId, now: DateTime.Utc) =>
  held(request, attempt, (status) => {
    switch (status._tag) {
      case "Underway":
        return undefined
      case "CarriedOut":
        return { ...status, leaseUntil: now }
      case "Answered":
        return status
    }
  })
