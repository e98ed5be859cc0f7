/**
 * Responses for what an operation fails with or dies of, in so far as somebody foresaw it.
 *
 * Source: decisions.md §1, §2.
 */
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
import { StorageUnavailable } from "@castellan/core/error/StorageUnavailable"
import * as Cause from "effect/Cause"
import * as HttpServerError from "effect/http/HttpServerError"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Multipart from "effect/http/Multipart"
import * as ErrorResponse from "./ErrorResponse.ts"

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

/** Whether the storage was unavailable, on any way to the end of a request. */
export const isStorageUnavailable = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some((reason) => Cause.isDieReason(reason) && reason.defect instanceof StorageUnavailable)

/** The response for an error; nothing for one that nobody foresaw, or that is about the request's route. */
export const ofError = (error: unknown): HttpServerResponse.HttpServerResponse | undefined => {
  if (isFailure(error)) return ErrorResponse.ofFailure(error)
  if (Multipart.isMultipartError(error)) return ofMultipart(error)
  if (!HttpServerError.isHttpServerError(error) || error.reason._tag !== "RequestParseError") return undefined
  return error.reason.reason === "BodyTooLarge"
    ? ErrorResponse.contentTooLarge
    : ErrorResponse.malformed("body: cannot be read")
}

/** The response for the end of a request that has none of its own; nothing for one that nobody foresaw. */
export const ofCause = (cause: Cause.Cause<unknown>): HttpServerResponse.HttpServerResponse | undefined =>
  isStorageUnavailable(cause) ? ErrorResponse.storageUnavailable : ofError(Cause.squash(cause))
