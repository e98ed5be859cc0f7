/**
 * The answers that are errors, as the OpenAPI document shares them between operations.
 *
 * Source: decisions.md §1, §2.
 */
import type { ErrorCode } from "@castellan/core/error/Failure"
import type * as Schema from "effect/Schema"
import { connectBody } from "../rpc/ConnectError.ts"
import { type ErrorEnvelope, envelope } from "../error/ErrorEnvelope.ts"

/** An answer that operations share. */
export interface ErrorResponse {
  /** Its name in the document. */
  readonly name: string
  readonly description: string
  readonly example: Schema.Json
  /** The schema of its body, where no operation declares one. */
  readonly schema?: Schema.Json
  /** Its own headers, in lower case. */
  readonly headers?: Readonly<Record<string, Schema.Json>>
}

const example = (code: ErrorCode, message: string): Schema.Json => {
  const { error }: ErrorEnvelope = envelope(code, message)
  return { error: { code: error.code, message: error.message } }
}

const retryAfter: Readonly<Record<string, Schema.Json>> = {
  "retry-after": {
    description: "Whole seconds until it is worth trying again",
    schema: { type: "integer", minimum: 1 },
    example: 1
  }
}

/** The shared answer of each status. */
export const errorResponses: Readonly<Record<string, ErrorResponse>> = {
  "400": {
    name: "BadRequest",
    description: "The request is malformed; the message names the field and the rule",
    example: example("invalid_request", "limit: must be an integer between 1 and 100, got 500")
  },
  "401": {
    name: "Unauthorized",
    description: "The bearer value is missing, malformed, unknown, expired or revoked",
    example: example("unauthenticated", "invalid API key: API key not found"),
    headers: {
      "www-authenticate": {
        description: "The scheme that is asked for",
        schema: { type: "string" },
        example: "Bearer"
      }
    }
  },
  "403": {
    name: "Forbidden",
    description: "The caller may not do this",
    example: example("permission_denied", "permission denied: chat:write is required")
  },
  "404": {
    name: "NotFound",
    description: "There is no such resource, or the caller may not see it; a malformed id reads the same",
    example: example("not_found", "chat not found")
  },
  "409": {
    name: "Conflict",
    description: "The resource is not in a state that allows this; the message says the state",
    example: example("conflict", "a run of this chat is in progress")
  },
  "413": {
    name: "ContentTooLarge",
    description: "The body is larger than is taken",
    example: example("invalid_request", "body: is too large")
  },
  "415": {
    name: "UnsupportedMediaType",
    description: "The body's media type is none of those that the operation takes",
    example: example("invalid_request", "Content-Type: must be application/json or multipart/form-data")
  },
  "422": {
    name: "UnprocessableContent",
    description: "The run ended without an answer, or without a report",
    example: example("execution_failed", "the model did not answer")
  },
  "429": {
    name: "TooManyRequests",
    description: "Too many requests, or a budget is used up",
    example: example("rate_limit_exceeded", "Rate limit exceeded"),
    headers: retryAfter
  },
  "499": {
    name: "ClientClosedRequest",
    description: "The run was cancelled before it answered",
    example: example("cancelled", "the run was cancelled")
  },
  "500": {
    name: "InternalServerError",
    description: "An unexpected error of the server; the request id leads to it in the server's log",
    example: example("internal", "Internal server error")
  },
  "504": {
    name: "GatewayTimeout",
    description: "The run, or the request, went past its time limit",
    example: example("timeout", "The request timed out")
  }
}

const connectExample = (code: ErrorCode, message: string): Schema.Json => {
  const { code: connect, details, message: words } = connectBody(code, message)
  return { code: connect, message: words, details: [...details] }
}

/** The shared answer of each status of the operations that speak the Connect protocol. */
export const connectErrorResponses: Readonly<Record<string, ErrorResponse>> = {
  "400": {
    name: "ConnectBadRequest",
    description: "The request is malformed, or the resource is not in a state that allows this",
    example: connectExample("invalid_request", "payload: must be at most 16,384 bytes as JSON")
  },
  "401": {
    name: "ConnectUnauthorized",
    description: "The credential is missing, malformed, unknown, expired or revoked",
    example: connectExample("unauthenticated", "invalid API key: API key not found")
  },
  "403": {
    name: "ConnectForbidden",
    description: "The caller may not do this",
    example: connectExample("permission_denied", "permission denied: agent:trigger is required")
  },
  "404": {
    name: "ConnectNotFound",
    description: "There is no such resource, or the caller may not see it",
    example: connectExample("not_found", "trigger not found")
  },
  "429": {
    name: "ConnectTooManyRequests",
    description: "Too many requests, or a budget is used up",
    example: connectExample("rate_limit_exceeded", "Rate limit exceeded"),
    headers: retryAfter
  },
  "500": {
    name: "ConnectInternalServerError",
    description: "An unexpected error of the server; the request id leads to it in the server's log",
    example: connectExample("internal", "Internal server error")
  },
  "504": {
    name: "ConnectGatewayTimeout",
    description: "The request went past its time limit",
    example: connectExample("timeout", "The request timed out")
  }
}

const unavailableDescription =
  "The server's storage is away, or the server stops; try again. With an `Idempotency-Key`, nothing is done twice"

/** What every operation with a caller may answer, whatever it does, while the storage is away. */
export const unavailable: ErrorResponse = {
  name: "ServiceUnavailable",
  description: unavailableDescription,
  example: example("internal", "the service's storage is unavailable, try again"),
  headers: retryAfter
}

/** The same in the terms of the Connect protocol. */
export const connectUnavailable: ErrorResponse = {
  name: "ConnectServiceUnavailable",
  description: unavailableDescription,
  example: { code: "unavailable", message: "the service's storage is unavailable, try again", details: [] },
  schema: {
    type: "object",
    required: ["code", "message", "details"],
    properties: {
      code: { type: "string", enum: ["unavailable"] },
      message: { type: "string" },
      details: { type: "array", items: { $ref: "#/components/schemas/ConnectErrorDetail" } }
    }
  },
  headers: retryAfter
}
