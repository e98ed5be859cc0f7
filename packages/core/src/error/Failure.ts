/**
 * The closed set of errors that a use case can answer with; each has its code of the specification.
 *
 * They know no HTTP: the table from code to status is in `@castellan/api`. An unexpected error (code `internal`)
 * is no member of the set: it travels as a defect, and its cause never leaves the log.
 *
 * Source: api-v2.md "Errors"; decisions.md §2.
 */
import * as Schema from "effect/Schema"

/** Every code that an answer can carry. */
export const ErrorCode = Schema.Literals([
  "invalid_request",
  "unauthenticated",
  "permission_denied",
  "not_found",
  "conflict",
  "rate_limit_exceeded",
  "internal",
  "timeout",
  "cancelled",
  "execution_failed",
  "no_report"
])
export type ErrorCode = typeof ErrorCode.Type

/** The request is malformed, or asks for something that its own fields contradict. The message names the field. */
export class InvalidRequest extends Schema.TaggedError<InvalidRequest>()("InvalidRequest", {
  message: Schema.String
}) {
  readonly code = "invalid_request"
}

/** There is no valid credential. */
export class Unauthenticated extends Schema.TaggedError<Unauthenticated>()("Unauthenticated", {
  message: Schema.String
}) {
  readonly code = "unauthenticated"
}

/** The caller is known, sees the object, and may not do this. */
export class PermissionDenied extends Schema.TaggedError<PermissionDenied>()("PermissionDenied", {
  message: Schema.String
}) {
  readonly code = "permission_denied"
}

/** There is no such object, or it is hidden from the caller; the two are told apart by nothing. */
export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", {
  message: Schema.String
}) {
  readonly code = "not_found"
}

/** The object is not in a state that allows this; the message says the state. */
export class Conflict extends Schema.TaggedError<Conflict>()("Conflict", {
  message: Schema.String
}) {
  readonly code = "conflict"
}

/** Too many requests, or a budget is used up. */
export class RateLimitExceeded extends Schema.TaggedError<RateLimitExceeded>()("RateLimitExceeded", {
  message: Schema.String,
  /** Whole seconds until it is worth trying again. */
  retryAfterSeconds: Schema.Int
}) {
  readonly code = "rate_limit_exceeded"
}

/** A run ended without an answer. The message is fit for the caller. */
export class ExecutionFailed extends Schema.TaggedError<ExecutionFailed>()("ExecutionFailed", {
  message: Schema.String
}) {
  readonly code = "execution_failed"
}

/** A playbook's run finished, and there is no report. */
export class NoReport extends Schema.TaggedError<NoReport>()("NoReport", {
  message: Schema.String
}) {
  readonly code = "no_report"
}

/** A run was cancelled before it answered. */
export class Cancelled extends Schema.TaggedError<Cancelled>()("Cancelled", {
  message: Schema.String
}) {
  readonly code = "cancelled"
}

/** A run, or a request, went past its time limit. */
export class TimedOut extends Schema.TaggedError<TimedOut>()("TimedOut", {
  message: Schema.String
}) {
  readonly code = "timeout"
}

/** Every error of the set. */
export type Failure =
  | InvalidRequest
  | Unauthenticated
  | PermissionDenied
  | NotFound
  | Conflict
  | RateLimitExceeded
  | ExecutionFailed
  | NoReport
  | Cancelled
  | TimedOut

/** The specification's texts for a code when there is nothing better to say. Source: api-v2.md "Errors". */
export const defaultMessage: { readonly [Code in ErrorCode]: string } = {
  invalid_request: "Invalid request body",
  unauthenticated: "Authentication required",
  permission_denied: "Insufficient permissions",
  not_found: "Resource not found",
  conflict: "The resource is not in a state that allows this",
  rate_limit_exceeded: "Rate limit exceeded",
  internal: "Internal server error",
  timeout: "The request timed out",
  cancelled: "The run was cancelled",
  execution_failed: "The run failed",
  no_report: "The run finished without a report"
}
