/**
 * Responses that are errors, in the one envelope that all of them share.
 *
 * Source: api-v2.md "Error envelope"; decisions.md §1, §2.
 */
import { envelope } from "@castellan/api/error/ErrorEnvelope"
import { errorStatus, requestStatus } from "@castellan/api/error/ErrorStatus"
import { defaultMessage, type ErrorCode, type Failure } from "@castellan/core/error/Failure"
import * as HttpServerResponse from "effect/http/HttpServerResponse"

/** A response with the envelope. */
export const make = (
  status: number,
  code: ErrorCode,
  message?: string,
  headers: Readonly<Record<string, string>> = {}
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(JSON.stringify(envelope(code, message)), {
    status,
    headers,
    contentType: "application/json"
  })

/** No operation has this path. */
export const unknownRoute = make(errorStatus.not_found, "not_found", "no such route")

/** The operation's path is known, its method is not. */
export const methodNotAllowed = (allowed: string): HttpServerResponse.HttpServerResponse =>
  make(requestStatus.methodNotAllowed, "invalid_request", `method: must be one of ${allowed}`, { allow: allowed })

/** The body is larger than is read. What is left of it is not read either, so the connection ends. */
export const contentTooLarge = make(
  requestStatus.contentTooLarge,
  "invalid_request",
  "body: must not be larger than this operation takes",
  { connection: "close" }
)

/** The body has a media type that the operation does not take. */
export const unsupportedMediaType = make(
  requestStatus.unsupportedMediaType,
  "invalid_request",
  "content-type: must be a media type that this operation takes"
)

/** The body cannot be read as what it says it is. */
export const malformed = (message: string): HttpServerResponse.HttpServerResponse =>
  make(errorStatus.invalid_request, "invalid_request", message)

/** Something went wrong here; the log line with the request's id says what. */
export const internal = make(errorStatus.internal, "internal")

/** The server stops, and another one may answer. */
export const stopping = make(503, "internal", "The server is stopping", { "retry-after": "1" })

/** Nothing can be kept or read at the moment. What was not answered may be tried again. */
export const storageUnavailable = make(503, "internal", "the service's storage is unavailable, try again", {
  "retry-after": "2"
})

/** The operation took too long. */
export const timeout = make(errorStatus.timeout, "timeout")

const headersOf = (failure: Failure): Readonly<Record<string, string>> => {
  if (failure.code === "unauthenticated") return { "www-authenticate": "Bearer" }
  return failure.code === "rate_limit_exceeded" ? { "retry-after": String(failure.retryAfterSeconds) } : {}
}

/** An error of the domain that reached the edge on a way that its operation does not declare. */
export const ofFailure = (failure: Failure): HttpServerResponse.HttpServerResponse =>
  make(errorStatus[failure.code], failure.code, failure.message || defaultMessage[failure.code], headersOf(failure))

/** A response that is an error and was made by a part that does not know the envelope. */
export const ofStatus = (status: number): HttpServerResponse.HttpServerResponse => {
  switch (status) {
    case requestStatus.unsupportedMediaType:
      return unsupportedMediaType
    case requestStatus.contentTooLarge:
      return contentTooLarge
    case errorStatus.not_found:
      return unknownRoute
    default:
      return status < 500 ? make(status, "invalid_request", "Invalid request") : make(status, "internal")
  }
}
