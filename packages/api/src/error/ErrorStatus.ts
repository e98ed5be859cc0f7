/**
 * The one table from an error's code to its HTTP status.
 *
 * Source: decisions.md §2.
 */
import type { ErrorCode } from "@castellan/core/error/Failure"

/** The HTTP status of each code. */
export const errorStatus = {
  invalid_request: 400,
  unauthenticated: 401,
  permission_denied: 403,
  not_found: 404,
  conflict: 409,
  execution_failed: 422,
  no_report: 422,
  rate_limit_exceeded: 429,
  cancelled: 499,
  internal: 500,
  timeout: 504
} as const satisfies { readonly [Code in ErrorCode]: number }

/**
 * Where HTTP itself has a more exact word than 400 for a request that it cannot take. The envelope's code is
 * `invalid_request` all the same.
 */
export const requestStatus = {
  methodNotAllowed: 405,
  contentTooLarge: 413,
  unsupportedMediaType: 415
} as const
