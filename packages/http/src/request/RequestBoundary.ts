/**
 * The outermost layer of every request: whatever happens within, one well-formed response comes out, with the
 * request's id and, where it is an error, the envelope.
 *
 * A client that went away is not answered. A request that the stopping server cuts short is told so.
 *
 * Source: decisions.md §1, §2.
 */
import { RequestOrigin } from "@castellan/core/audit/RequestOrigin"
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
} from "@castellan/core/error/Failure"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as HttpServerError from "effect/http/HttpServerError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Multipart from "effect/http/Multipart"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as StreamResponse from "../stream/StreamResponse.ts"
import * as ErrorResponse from "./ErrorResponse.ts"
import * as RequestId from "./RequestId.ts"
import type { RouteTable } from "./RouteTable.ts"

/** An HTTP application, as Effect's servers take it. */
export type HttpApp<E = never> = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  E,
  HttpServerRequest.HttpServerRequest | Scope.Scope
>

const failures = [
  InvalidRequest,
  Unauthenticated,
  PermissionDenied,
  NotFound,
  Conflict,
  RateLimitExceeded,
  ExecutionFailed,
  NoReport,
  Cancelled,
  TimedOut
]

const isFailure = (error: unknown): error is Failure => failures.some((failure) => error instanceof failure)

/** The response for a form that cannot be read. */
const ofMultipart = (error: Multipart.MultipartError): HttpServerResponse.HttpServerResponse => {
  switch (error.reason._tag) {
    case "FileTooLarge":
    case "FieldTooLarge":
    case "BodyTooLarge":
    case "TooManyParts":
      return ErrorResponse.contentTooLarge
    case "Parse":
    case "InternalError":
      return ErrorResponse.malformed("body: must be a well-formed multipart/form-data body")
  }
}

/** The response for an error that an operation did not answer itself; nothing for one that nobody foresaw. */
const ofError = (
  error: unknown,
  request: HttpServerRequest.HttpServerRequest,
  routes: RouteTable
): HttpServerResponse.HttpServerResponse | undefined => {
  if (isFailure(error)) return ErrorResponse.ofFailure(error)
  if (Multipart.isMultipartError(error)) return ofMultipart(error)
  if (!HttpServerError.isHttpServerError(error)) return undefined
  switch (error.reason._tag) {
    case "RouteNotFound": {
      const allowed = routes.allowed(request.url)
      return allowed === undefined ? ErrorResponse.unknownRoute : ErrorResponse.methodNotAllowed(allowed)
    }
    case "RequestParseError":
      return error.reason.reason === "BodyTooLarge"
        ? ErrorResponse.contentTooLarge
        : ErrorResponse.malformed("body: cannot be read")
    default:
      return undefined
  }
}

/** Whether it was the client that ended the request. */
const isClientAbort = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some((reason) => reason.annotations.has(HttpServerError.ClientAbort.key))

/** A path without its query, which may hold what must not be in a log. */
const pathOf = (url: string): string => url.split("?", 1)[0] ?? url

/** What a path takes, for whoever asks. */
const options = (url: string, routes: RouteTable): HttpServerResponse.HttpServerResponse => {
  const allowed = routes.allowed(url)
  return allowed === undefined
    ? ErrorResponse.unknownRoute
    : HttpServerResponse.empty({ status: 204, headers: { allow: allowed } })
}

/** The response as it leaves: with the request's id, and an envelope if it is an error that has none. */
const complete = (
  response: HttpServerResponse.HttpServerResponse,
  requestId: string
): HttpServerResponse.HttpServerResponse => {
  const isJson = response.headers["content-type"] === "application/json"
  const answer = response.status < 400 || isJson ? response : ErrorResponse.ofStatus(response.status)
  return HttpServerResponse.setHeaders(answer, {
    "x-content-type-options": "nosniff",
    "cache-control": answer.headers["cache-control"] ?? "no-store",
    [RequestId.header]: requestId
  })
}

/** Puts a boundary around the routes of an application. */
export const make = (routes: HttpApp<unknown>, table: RouteTable): HttpApp =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const requestId = RequestId.of(request.headers[RequestId.header])

    const answer = (cause: Cause.Cause<unknown>): HttpApp => {
      if (Cause.hasInterruptsOnly(cause)) {
        const interrupts = Cause.fromReasons<never>(cause.reasons.filter(Cause.isInterruptReason))
        if (isClientAbort(interrupts)) return Effect.failCause(interrupts)
        // The server stops. Carried as a defect, which is sent and ends the request as interrupted all the same.
        return Effect.failCause(Cause.combine(interrupts, Cause.die(complete(ErrorResponse.stopping, requestId))))
      }
      const known = ofError(Cause.squash(cause), request, table)
      if (known !== undefined) return Effect.succeed(complete(known, requestId))
      return Effect.as(
        Effect.logError("a request failed unexpectedly", cause).pipe(
          Effect.annotateLogs({ method: request.method, path: pathOf(request.url) })
        ),
        complete(ErrorResponse.internal, requestId)
      )
    }

    const origin = Option.match(request.remoteAddress, {
      onNone: () => ({ requestId }),
      onSome: (address) => ({ requestId, address })
    })
    const handled = request.method === "OPTIONS" ? Effect.succeed(options(request.url, table)) : routes
    return Effect.matchCauseEffect(handled, {
      onSuccess: (response) => StreamResponse.send(request, complete(response, requestId)),
      onFailure: answer
    }).pipe(Effect.provideService(RequestOrigin, origin), Effect.annotateLogs("request_id", requestId))
  })
