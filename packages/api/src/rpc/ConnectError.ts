/**
 * Errors of the operations that speak the Connect protocol: `{ code, message, details }` under Connect's own codes and
 * HTTP statuses, so that a stock Connect client reads them.
 *
 * Source: api-v2.md "Agent webhook", "RPC surface"; decisions.md §2; Connect protocol, "Error codes".
 */
import {
  Conflict,
  type ErrorCode,
  InvalidRequest,
  NotFound,
  PermissionDenied,
  RateLimitExceeded,
  TimedOut,
  Unauthenticated
} from "@castellan/core/error/Failure"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import { Internal, retryAfter } from "../error/ErrorEnvelope.ts"
import { text } from "../wire/WireValue.ts"

/** The HTTP status of each of Connect's codes. */
export const connectStatus = {
  canceled: 499,
  unknown: 500,
  invalid_argument: 400,
  deadline_exceeded: 504,
  not_found: 404,
  already_exists: 409,
  permission_denied: 403,
  resource_exhausted: 429,
  failed_precondition: 400,
  aborted: 409,
  out_of_range: 400,
  unimplemented: 501,
  internal: 500,
  unavailable: 503,
  data_loss: 500,
  unauthenticated: 401
} as const

/** A code of Connect's. */
export type ConnectCode = keyof typeof connectStatus

/** The code of Connect's that stands for each of ours. */
export const connectCode = {
  invalid_request: "invalid_argument",
  unauthenticated: "unauthenticated",
  permission_denied: "permission_denied",
  not_found: "not_found",
  conflict: "failed_precondition",
  rate_limit_exceeded: "resource_exhausted",
  internal: "internal",
  timeout: "deadline_exceeded",
  cancelled: "canceled",
  execution_failed: "unknown",
  no_report: "unknown"
} as const satisfies { readonly [Code in ErrorCode]: ConnectCode }

/** A detail of an error: a message of Protocol Buffers. */
export const ConnectErrorDetail = Schema.Struct({
  type: text("The full name of the detail's message type"),
  value: text("The message in base64, without padding"),
  debug: Schema.optionalKey(Schema.Json.annotate({ description: "The message as JSON, for people" }))
}).annotate({ identifier: "ConnectErrorDetail", description: "A detail of an error, for programs" })
export type ConnectErrorDetail = typeof ConnectErrorDetail.Type

/** The body of every answer of these operations that is an error. */
export interface ConnectErrorBody {
  readonly code: ConnectCode
  readonly message: string
  readonly details: ReadonlyArray<ConnectErrorDetail>
}

/** Our errors have none: the code and the message say all. */
const noDetails: ReadonlyArray<ConnectErrorDetail> = []

/** The body of a code of ours. */
export const connectBody = (code: ErrorCode, message: string): ConnectErrorBody => ({
  code: connectCode[code],
  message,
  details: noDetails
})

/** The status of a code of ours. */
export const statusOf = (code: ErrorCode): number => connectStatus[connectCode[code]]

const codes: ReadonlyArray<string> = Object.keys(connectStatus)

/** The wire shape of one code. A server of Connect's may leave the details out; ours does not. */
const wireOf = <const Code extends ConnectCode>(code: Code, identifier: string, description: string) =>
  Schema.Struct({
    code: Schema.Literal(code).annotate({ description: `One of Connect's codes: ${codes.join(", ")}` }),
    message: Schema.String.annotate({ description: "What went wrong, for people" }),
    details: Schema.Array(ConnectErrorDetail).annotate({ description: "Details, for programs; may be empty" })
  }).annotate({ identifier, description, examples: [{ code, message: description, details: noDetails }] })

/** A codec from Connect's body to an error of the domain, at Connect's status. */
const asConnect = <const Code extends ConnectCode, E extends { readonly message: string }>(
  wire: ReturnType<typeof wireOf<Code>>,
  code: Code,
  error: Schema.Codec<E, unknown>,
  make: (message: string) => E
) =>
  wire.pipe(
    Schema.decodeTo(
      Schema.toType(error),
      SchemaTransformation.transform({
        decode: (sent): E => make(sent.message),
        encode: ({ message }: E) => ({ code, message, details: noDetails })
      })
    ),
    HttpApiSchema.status(connectStatus[code])
  )

/** 400 `invalid_argument`: the request is malformed; the message names the field and the rule. */
export const InvalidArgument = asConnect(
  wireOf("invalid_argument", "InvalidArgumentConnectError", "The request is malformed"),
  "invalid_argument",
  InvalidRequest,
  (message) => new InvalidRequest({ message })
)

/** 401 `unauthenticated`: there is no valid credential. */
export const UnauthenticatedConnect = asConnect(
  wireOf("unauthenticated", "UnauthenticatedConnectError", "The credential is missing, malformed, unknown or expired"),
  "unauthenticated",
  Unauthenticated,
  (message) => new Unauthenticated({ message })
)

/** 403 `permission_denied`: the caller may not do this. */
export const PermissionDeniedConnect = asConnect(
  wireOf("permission_denied", "PermissionDeniedConnectError", "The caller may not do this"),
  "permission_denied",
  PermissionDenied,
  (message) => new PermissionDenied({ message })
)

/** 404 `not_found`: there is no such object, or it is hidden from the caller. */
export const NotFoundConnect = asConnect(
  wireOf("not_found", "NotFoundConnectError", "There is no such resource, or the caller may not see it"),
  "not_found",
  NotFound,
  (message) => new NotFound({ message })
)

/** 400 `failed_precondition`: the object is not in a state that allows this. */
export const FailedPrecondition = asConnect(
  wireOf("failed_precondition", "FailedPreconditionConnectError", "The resource is not in a state that allows this"),
  "failed_precondition",
  Conflict,
  (message) => new Conflict({ message })
)

/** 429 `resource_exhausted`: too many requests, or a budget is used up. */
export const ResourceExhausted = RateLimitExceeded.pipe(
  HttpApiSchema.encodeToWithHeaders(
    {
      body: wireOf(
        "resource_exhausted",
        "ResourceExhaustedConnectError",
        "Too many requests, or a budget is used up"
      ).pipe(HttpApiSchema.status(connectStatus.resource_exhausted)),
      headers: { "retry-after": retryAfter }
    },
    {
      decode: ({ body, headers }) =>
        new RateLimitExceeded({ message: body.message, retryAfterSeconds: headers["retry-after"] ?? 1 }),
      encode: ({ message, retryAfterSeconds }) => ({
        body: { code: "resource_exhausted" as const, message, details: noDetails },
        headers: { "retry-after": retryAfterSeconds }
      })
    }
  )
)

/** 500 `internal`: an unexpected error of the server; its cause is in the log alone. */
export const InternalConnect = asConnect(
  wireOf("internal", "InternalConnectError", "An unexpected error of the server"),
  "internal",
  Internal,
  (message) => new Internal({ message })
)

/** 504 `deadline_exceeded`: the request went past its time limit, or past the one of `Connect-Timeout-Ms`. */
export const DeadlineExceeded = asConnect(
  wireOf("deadline_exceeded", "DeadlineExceededConnectError", "The request went past its time limit"),
  "deadline_exceeded",
  TimedOut,
  (message) => new TimedOut({ message })
)
