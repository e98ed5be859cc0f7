/**
 * The life of a delivery: pending, sending, then delivered; or failed and tried again later, until it is given up.
 * Every pair of state and event has an answer; an illegal one is a refusal that says the state.
 *
 * A delivery is never sent twice. An attempt that may have arrived is repeated only where the service drops repeats;
 * elsewhere the delivery is given up, and says so.
 *
 * Source: decisions.md §6 ("Deliveries are retried with back-off, …, never sent twice for one run").
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Delivery, DeliveryStatus } from "./Delivery.ts"
import { DeliveryErrorKind } from "./DeliveryError.ts"

/** What can happen to a delivery. */
export const DeliveryEvent = Schema.TaggedUnion({
  /** An attempt begins. */
  Send: {},
  /** The service has taken the message. */
  Succeed: {},
  /** The attempt failed; `deduplicates` says whether the service drops repeats. */
  Fail: { kind: DeliveryErrorKind, error: Schema.String, deduplicates: Schema.Boolean },
  /** Whoever began the attempt is gone, and nobody knows how it ended. */
  Lose: { deduplicates: Schema.Boolean },
  /** There is no point in a further attempt. */
  GiveUp: { error: Schema.String }
})
export type DeliveryEvent = typeof DeliveryEvent.Type

/** The delivery's state does not allow this. */
export class DeliveryRefusal extends Schema.TaggedError<DeliveryRefusal>()("DeliveryRefusal", {
  state: Schema.Literals(["Pending", "Sending", "Delivered", "Failed", "GivenUp"]),
  event: Schema.Literals(["Send", "Succeed", "Fail", "Lose", "GiveUp"])
}) {
  override get message(): string {
    const state = this.state === "GivenUp" ? "given up" : this.state.toLowerCase()
    return `${this.event}: the delivery is ${state}`
  }
}

/** Attempts at most. */
export const maximumAttempts = 8

/** How long an attempt may take before whoever began it is taken to be gone. */
export const attemptTimeout = Duration.minutes(5)

const firstPause = Duration.minutes(1)
const longestPause = Duration.hours(1)

/** The pause after a number of failed attempts: a minute, doubled each time, an hour at most. */
export const pauseAfter = (attempts: number): Duration.Duration =>
  Duration.min(Duration.times(firstPause, 2 ** (attempts - 1)), longestPause)

const giveUp = (attempts: number, error: string, at: DateTime.Utc): DeliveryStatus =>
  DeliveryStatus.cases.GivenUp.make({ attempts, givenUpAt: at, error })

const tryAgain = (attempts: number, error: string, at: DateTime.Utc): DeliveryStatus =>
  attempts >= maximumAttempts
    ? giveUp(attempts, error, at)
    : DeliveryStatus.cases.Failed.make({
        attempts,
        failedAt: at,
        error,
        nextAt: DateTime.addDuration(at, pauseAfter(attempts))
      })

/** What a failed attempt leads to. */
const afterFailure = (
  attempts: number,
  { deduplicates, error, kind }: Extract<DeliveryEvent, { readonly _tag: "Fail" }>,
  at: DateTime.Utc
): DeliveryStatus => {
  switch (kind) {
    case "retryable":
      return tryAgain(attempts, error, at)
    case "permanent":
      return giveUp(attempts, error, at)
    case "unknown":
      return deduplicates
        ? tryAgain(attempts, error, at)
        : giveUp(attempts, `it may have arrived, and is not sent again: ${error}`, at)
  }
}

/** The status after an event at a moment. */
export const transition = (
  status: DeliveryStatus,
  event: DeliveryEvent,
  at: DateTime.Utc
): Result.Result<DeliveryStatus, DeliveryRefusal> => {
  const refused = () => Result.fail(new DeliveryRefusal({ state: status._tag, event: event._tag }))
  switch (status._tag) {
    case "Pending":
    case "Failed": {
      const attempts = status._tag === "Pending" ? 0 : status.attempts
      switch (event._tag) {
        case "Send":
          return status._tag === "Failed" && DateTime.isLessThan(at, status.nextAt)
            ? refused()
            : Result.succeed(
                DeliveryStatus.cases.Sending.make({
                  attempts: attempts + 1,
                  startedAt: at,
                  until: DateTime.addDuration(at, attemptTimeout)
                })
              )
        case "GiveUp":
          return Result.succeed(giveUp(attempts, event.error, at))
        case "Succeed":
        case "Fail":
        case "Lose":
          return refused()
      }
    }
    // No case falls through: each of the inner ones returns.
    case "Sending":
      switch (event._tag) {
        case "Succeed":
          return Result.succeed(DeliveryStatus.cases.Delivered.make({ attempts: status.attempts, deliveredAt: at }))
        case "Fail":
          return Result.succeed(afterFailure(status.attempts, event, at))
        case "Lose":
          return DateTime.isLessThan(at, status.until)
            ? refused()
            : Result.succeed(
                afterFailure(
                  status.attempts,
                  {
                    _tag: "Fail",
                    kind: "unknown",
                    error: "the attempt was not seen to end",
                    deduplicates: event.deduplicates
                  },
                  at
                )
              )
        case "Send":
        case "GiveUp":
          return refused()
      }
    // As above.
    case "Delivered":
    case "GivenUp":
      return refused()
  }
}

/** The delivery after an event at a moment. */
export const advance = (
  delivery: Delivery,
  event: DeliveryEvent,
  at: DateTime.Utc
): Result.Result<Delivery, DeliveryRefusal> =>
  Result.map(transition(delivery.status, event, at), (status) => new Delivery({ ...delivery, status }))
