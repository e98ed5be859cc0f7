/**
 * The errors that kinds of operations share, beside those of their middlewares (400, 401, 404 of a malformed id, 429
 * and 500).
 *
 * Source: decisions.md §1 ("Order of checks"), §2.
 */
import {
  CancelledError,
  ConflictError,
  ContentTooLargeError,
  ExecutionFailedError,
  InvalidRequestError,
  NotFoundError,
  PermissionDeniedError,
  TimeoutError,
  UnsupportedMediaTypeError
} from "./ErrorEnvelope.ts"

/** Errors of a list. */
export const listErrors = [PermissionDeniedError] as const

/** Errors of an operation that reads one thing. */
export const readErrors = [PermissionDeniedError, NotFoundError] as const

/** Errors of an operation that changes something, and takes no body. */
export const actErrors = [PermissionDeniedError, NotFoundError, ConflictError] as const

/** Errors of an operation that changes something, and takes a body. */
export const writeErrors = [
  // First: the more exact statuses below share its class, and the first that fits is the one that is sent.
  InvalidRequestError,
  PermissionDeniedError,
  NotFoundError,
  ConflictError,
  ContentTooLargeError,
  UnsupportedMediaTypeError
] as const

/** Errors of an operation that makes something, or sets the one thing that there is, and finds nothing by an id. */
export const createErrors = [
  InvalidRequestError,
  PermissionDeniedError,
  ConflictError,
  ContentTooLargeError,
  UnsupportedMediaTypeError
] as const

/** Errors of an operation that waits for something to run. */
export const runErrors = [...writeErrors, ExecutionFailedError, CancelledError, TimeoutError] as const
