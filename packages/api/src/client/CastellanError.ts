/**
 * The error of the promise client.
 *
 * Source: api-v2.md "Errors".
 */
import type { ErrorCode } from "@castellan/core/error/Failure"

/**
 * What went wrong, for programs: a code of the service, or one of the client's own.
 *
 * - `connection_failed`: no answer came, or it broke off
 * - `unexpected_response`: an answer came that is not the service's, such as a proxy's page
 * - `stream_lost`: a stream was cut and cannot be taken up again
 */
export type CastellanErrorCode = ErrorCode | "connection_failed" | "unexpected_response" | "stream_lost"

/** What a `CastellanError` tells. */
export interface CastellanErrorDetails {
  readonly code: CastellanErrorCode
  readonly message: string
  readonly status?: number | undefined
  readonly requestId?: string | undefined
  readonly retryAfterSeconds?: number | undefined
  readonly cause?: unknown
}

/** A call failed. An abort by the caller's own signal is not one: it rejects with the signal's reason. */
export class CastellanError extends Error {
  override readonly name = "CastellanError"
  /** What went wrong, for programs. */
  readonly code: CastellanErrorCode
  /** The HTTP status; nothing when no answer came. */
  readonly status: number | undefined
  /** The id of the request in the server's log; nothing when no answer came. */
  readonly requestId: string | undefined
  /** Whole seconds until it is worth trying again, where the server said so. */
  readonly retryAfterSeconds: number | undefined

  constructor({ cause, code, message, requestId, retryAfterSeconds, status }: CastellanErrorDetails) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.status = status
    this.requestId = requestId
    this.retryAfterSeconds = retryAfterSeconds
  }

  /** Whether the same request may succeed when it is sent again. */
  get isTransient(): boolean {
    return this.code === "connection_failed" || this.status === 429 || (this.status !== undefined && this.status >= 500)
  }
}
