/**
 * The error envelope, `{ error: { code, message } }`, and the codecs that put core's errors into it.
 *
 * Core's errors know no HTTP. Each codec here decodes the wire's envelope to the error class of its code and encodes
 * it back, at the status that `ErrorStatus` gives, so that a server fails with an error of the domain and an Effect
 * client catches the very same one.
 *
 * Source: api-v2.md "Error envelope", "Errors"; decisions.md §2.
 */
import {
  Cancelled,
  Conflict,
  defaultMessage,
  ErrorCode,
  ExecutionFailed,
  InvalidRequest,
  NoReport,
  NotFound,
  PermissionDenied,
  RateLimitExceeded,
  TimedOut,
  Unauthenticated
} from "@castellan/core/error/Failure"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import { errorStatus, requestStatus } from "./ErrorStatus.ts"

/** The body of every answer that is an error. */
export const ErrorEnvelope = Schema.Struct({
  error: Schema.Struct({ code: ErrorCode, message: Schema.String })
})
export type ErrorEnvelope = typeof ErrorEnvelope.Type

/** The envelope of a code; without a message, the specification's own text for it. */
export const envelope = (code: ErrorCode, message: string = defaultMessage[code]): ErrorEnvelope => ({
  error: { code, message }
})

/**
 * The server failed in a way that the caller can do nothing about (code `internal`). It carries no cause: that stays
 * in the log, under the request's id.
 */
export class Internal extends Schema.TaggedError<Internal>()("Internal", {
  message: Schema.String
}) {
  readonly code = "internal"
}

/** The wire shape of one code. */
const envelopeOf = <const Code extends ErrorCode>(code: Code, identifier: string, description: string) =>
  Schema.Struct({
    error: Schema.Struct({
      code: Schema.Literal(code).annotate({ description: "What went wrong, for programs" }),
      message: Schema.String.annotate({ description: "What went wrong, for people" })
    })
  }).annotate({ identifier, description, examples: [{ error: { code, message: defaultMessage[code] } }] })

/** How one error of the domain goes into its envelope. */
interface Envelope<Code extends ErrorCode, E> {
  readonly wire: ReturnType<typeof envelopeOf<Code>>
  readonly code: Code
  readonly error: Schema.Codec<E, unknown>
  readonly make: (message: string) => E
}

/** A codec from the envelope to an error of the domain, at a status. */
const asEnvelope = <const Code extends ErrorCode, E extends { readonly message: string }>(
  { code, error, make, wire }: Envelope<Code, E>,
  status: number = errorStatus[code]
) =>
  wire
    .pipe(
      Schema.decodeTo(
        Schema.toType(error),
        SchemaTransformation.transform({
          decode: (sent): E => make(sent.error.message),
          encode: ({ message }: E) => ({ error: { code, message } })
        })
      )
    )
    .pipe(HttpApiSchema.status(status))

const invalidRequest = {
  wire: envelopeOf(
    "invalid_request",
    "InvalidRequestError",
    "The request is malformed; the message names the field and the rule"
  ),
  code: "invalid_request",
  error: InvalidRequest,
  make: (message: string) => new InvalidRequest({ message })
} as const

/** 400: the request is malformed; the message names the field and the rule. */
export const InvalidRequestError = asEnvelope(invalidRequest)

/** 413: the body, or one of its parts, is larger than is taken. */
export const ContentTooLargeError = asEnvelope(invalidRequest, requestStatus.contentTooLarge)

/** 415: the body's media type is none of those that the operation takes. */
export const UnsupportedMediaTypeError = asEnvelope(invalidRequest, requestStatus.unsupportedMediaType)

/** 401: there is no valid bearer value. */
export const UnauthenticatedError = Unauthenticated.pipe(
  HttpApiSchema.encodeToWithHeaders(
    {
      body: envelopeOf(
        "unauthenticated",
        "UnauthenticatedError",
        "The bearer value is missing, malformed, unknown, expired or revoked"
      ).pipe(HttpApiSchema.status(errorStatus.unauthenticated)),
      headers: { "www-authenticate": Schema.optionalKey(Schema.String.annotate({ examples: ["Bearer"] })) }
    },
    {
      decode: ({ body }) => new Unauthenticated({ message: body.error.message }),
      encode: ({ message }) => ({
        body: { error: { code: "unauthenticated" as const, message } },
        headers: { "www-authenticate": "Bearer" }
      })
    }
  )
)

/** 403: the caller is known, sees the object, and may not do this. */
export const PermissionDeniedError = asEnvelope({
  wire: envelopeOf("permission_denied", "PermissionDeniedError", "The caller may not do this"),
  code: "permission_denied",
  error: PermissionDenied,
  make: (message) => new PermissionDenied({ message })
})

/** 404: there is no such object, or it is hidden from the caller. */
export const NotFoundError = asEnvelope({
  wire: envelopeOf("not_found", "NotFoundError", "There is no such resource, or the caller may not see it"),
  code: "not_found",
  error: NotFound,
  make: (message) => new NotFound({ message })
})

/** 409: the object is not in a state that allows this. */
export const ConflictError = asEnvelope({
  wire: envelopeOf(
    "conflict",
    "ConflictError",
    "The resource is not in a state that allows this; the message says the state"
  ),
  code: "conflict",
  error: Conflict,
  make: (message) => new Conflict({ message })
})

/** 422: a run ended without an answer. */
export const ExecutionFailedError = asEnvelope({
  wire: envelopeOf("execution_failed", "ExecutionFailedError", "The run ended without an answer"),
  code: "execution_failed",
  error: ExecutionFailed,
  make: (message) => new ExecutionFailed({ message })
})

/** 422: a playbook's run finished, and there is no report. */
export const NoReportError = asEnvelope({
  wire: envelopeOf("no_report", "NoReportError", "The run finished without a report"),
  code: "no_report",
  error: NoReport,
  make: (message) => new NoReport({ message })
})

/** The header `Retry-After` of whoever came too often. */
export const retryAfter = Schema.optionalKey(
  Schema.Int.annotate({ description: "Whole seconds until it is worth trying again", examples: [1] })
)

/** 429: too many requests, or a budget is used up; `Retry-After` says when to come back. */
export const RateLimitExceededError = RateLimitExceeded.pipe(
  HttpApiSchema.encodeToWithHeaders(
    {
      body: envelopeOf(
        "rate_limit_exceeded",
        "RateLimitExceededError",
        "Too many requests, or a budget is used up"
      ).pipe(HttpApiSchema.status(errorStatus.rate_limit_exceeded)),
      headers: { "retry-after": retryAfter }
    },
    {
      decode: ({ body, headers }) =>
        new RateLimitExceeded({ message: body.error.message, retryAfterSeconds: headers["retry-after"] ?? 1 }),
      encode: ({ message, retryAfterSeconds }) => ({
        body: { error: { code: "rate_limit_exceeded" as const, message } },
        headers: { "retry-after": retryAfterSeconds }
      })
    }
  )
)

/** 499: the run was cancelled before it answered. */
export const CancelledError = asEnvelope({
  wire: envelopeOf("cancelled", "CancelledError", "The run was cancelled before it answered"),
  code: "cancelled",
  error: Cancelled,
  make: (message) => new Cancelled({ message })
})

/** 500: an unexpected error of the server; its cause is in the log alone. */
export const InternalError = asEnvelope({
  wire: envelopeOf(
    "internal",
    "InternalError",
    "An unexpected error of the server; the request id leads to it in the server's log"
  ),
  code: "internal",
  error: Internal,
  make: (message) => new Internal({ message })
})

/** 504: the run, or the request, went past its time limit. */
export const TimeoutError = asEnvelope({
  wire: envelopeOf("timeout", "TimeoutError", "The run, or the request, went past its time limit"),
  code: "timeout",
  error: TimedOut,
  make: (message) => new TimedOut({ message })
})
