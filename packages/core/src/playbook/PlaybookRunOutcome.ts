/**
 * How a playbook's run ends, as whoever waits for it is told and as it is kept; the two say the same.
 *
 * Source: decisions.md §2, §6 ("Run").
 */
import * as Result from "effect/Result"
import {
  Cancelled,
  Conflict,
  ExecutionFailed,
  type Failure,
  InvalidRequest,
  NoReport,
  NotFound,
  PermissionDenied,
  RateLimitExceeded,
  TimedOut,
  Unauthenticated
} from "../error/Failure.ts"
import type { PlaybookRun, PlaybookRunFailure } from "./PlaybookRun.ts"
import { PlaybookRunEvent } from "./PlaybookRunState.ts"

/** What a failure makes of the run that it befell. */
export const eventOf = (failure: Failure): PlaybookRunEvent =>
  failure.code === "cancelled"
    ? PlaybookRunEvent.cases.Cancel.make({})
    : PlaybookRunEvent.cases.Fail.make({ failure: failure.code, error: failure.message })

/** Seconds until it is worth trying again what a budget or a limit refused, where the run does not remember them. */
const retryAfterSeconds = 60

const failureOf = (failure: PlaybookRunFailure, message: string): Failure => {
  switch (failure) {
    case "timeout":
      return new TimedOut({ message })
    case "execution_failed":
      return new ExecutionFailed({ message })
    case "no_report":
      return new NoReport({ message })
    case "invalid_request":
      return new InvalidRequest({ message })
    case "unauthenticated":
      return new Unauthenticated({ message })
    case "permission_denied":
      return new PermissionDenied({ message })
    case "not_found":
      return new NotFound({ message })
    case "conflict":
      return new Conflict({ message })
    case "rate_limit_exceeded":
      return new RateLimitExceeded({ message, retryAfterSeconds })
  }
}

/** What whoever waits for a run is told: the run when it has a report, the failure when it has none. */
export const outcomeOf = (run: PlaybookRun): Result.Result<PlaybookRun, Failure> => {
  switch (run.status._tag) {
    case "Completed":
      return Result.succeed(run)
    case "Failed":
      return Result.fail(failureOf(run.status.failure, run.status.error))
    case "Cancelled":
      return Result.fail(new Cancelled({ message: "the run was cancelled" }))
    case "Queued":
    case "Running":
      return Result.fail(new Conflict({ message: `the run is ${run.status._tag.toLowerCase()}` }))
  }
}
