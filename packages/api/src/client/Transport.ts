/**
 * How the promise client sends a request: the address, the key, and what becomes of an answer that is an error.
 */
import type { ErrorCode } from "@castellan/core/error/Failure"
import { CastellanError } from "./CastellanError.ts"

/** Where the service is, and who asks. */
export interface TransportOptions {
  /** The address that the service is mounted at, such as `https://analytics.example.com`. */
  readonly baseUrl: string | URL
  /** An API key, or a function that gives one for each request, such as a session's token that is renewed. */
  readonly apiKey: string | (() => string | Promise<string>)
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** The `fetch` to use; the platform's own by default. */
  readonly fetch?: typeof globalThis.fetch
}

/** What the caller of one request may say. */
export interface RequestOptions {
  /** Ends the request, or the stream; the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /**
   * Sent as `Idempotency-Key`: a POST that is sent again under the same key, within a day, is answered as it was the
   * first time and does nothing twice.
   */
  readonly idempotencyKey?: string | undefined
}

/** A request of the client. */
export interface ServiceRequest extends RequestOptions {
  readonly method: string
  /** From `/v2` on, with its query. */
  readonly path: string
  /** Sent as JSON; a form as the form that it is. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** How the key is sent: not at all with signed addresses, which need none and must not get one. */
  readonly credential?: "bearer" | "svc_api_key" | "none"
}

/** Sends requests. */
export interface Transport {
  /** The answer, when it is a success; an error otherwise. */
  readonly send: (request: ServiceRequest) => Promise<Response>
}

/** The codes of the service, as a set: a proxy may answer with anything. */
const errorCodes: { readonly [Code in ErrorCode]: true } = {
  invalid_request: true,
  unauthenticated: true,
  permission_denied: true,
  not_found: true,
  conflict: true,
  rate_limit_exceeded: true,
  internal: true,
  timeout: true,
  cancelled: true,
  execution_failed: true,
  no_report: true
}

const isErrorCode = (value: unknown): value is ErrorCode =>
  typeof value === "string" && Object.hasOwn(errorCodes, value)

/** The codes of the Connect protocol that ours have other names for. */
const connectCodes: Readonly<Record<string, ErrorCode>> = {
  canceled: "cancelled",
  invalid_argument: "invalid_request",
  deadline_exceeded: "timeout",
  resource_exhausted: "rate_limit_exceeded",
  failed_precondition: "conflict",
  already_exists: "conflict",
  aborted: "conflict",
  unknown: "internal"
}

/** The code and message of an envelope, or of a body of the Connect protocol; nothing when the body is neither. */
const readEnvelope = (text: string): { readonly code: ErrorCode; readonly message: string } | undefined => {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof body !== "object" || body === null) return undefined
  const error = "error" in body ? body.error : body
  if (typeof error !== "object" || error === null || !("code" in error) || !("message" in error)) return undefined
  const { message } = error
  const code = error === body && typeof error.code === "string" ? (connectCodes[error.code] ?? error.code) : error.code
  return isErrorCode(code) && typeof message === "string" ? { code, message } : undefined
}

/** The value of `Retry-After`, where it is a number of seconds. */
const retryAfter = (response: Response): number | undefined => {
  const value = response.headers.get("retry-after")
  return value !== null && /^\d{1,9}$/.test(value) ? Number(value) : undefined
}

/** The error of an answer that is one. */
const toError = async (response: Response): Promise<CastellanError> => {
  const envelope = readEnvelope(await response.text().catch(() => ""))
  return new CastellanError({
    code: envelope?.code ?? "unexpected_response",
    message: envelope?.message ?? `the service answered ${response.status} without an error envelope`,
    status: response.status,
    requestId: requestIdOf(response),
    retryAfterSeconds: retryAfter(response)
  })
}

/** The id of the request in the server's log. */
export const requestIdOf = (response: Response): string | undefined => response.headers.get("x-request-id") ?? undefined

/** The body of a success as JSON. */
export const readJson = async <Body>(response: Response, signal: AbortSignal | undefined): Promise<Body> => {
  try {
    return await response.json()
  } catch (cause) {
    signal?.throwIfAborted()
    const broken = cause instanceof SyntaxError
    throw new CastellanError({
      code: broken ? "unexpected_response" : "connection_failed",
      message: broken ? "the service answered with something that is not JSON" : "the answer broke off",
      status: response.status,
      requestId: requestIdOf(response),
      cause
    })
  }
}

/** Sends requests to one service as one caller. */
export const make = (options: TransportOptions): Transport => {
  const base = String(options.baseUrl).replace(/\/+$/, "")
  // Called as a plain function: a browser's own refuses to be called as somebody's method.
  const fetch: typeof globalThis.fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init))

  const send = async (request: ServiceRequest): Promise<Response> => {
    const { body, credential = "bearer", idempotencyKey, method, path, signal } = request
    // A signed address may be anybody's: it gets nothing that is meant for the service.
    const own = credential === "none" ? undefined : options.headers
    const headers = new Headers({ ...own, accept: "application/json", ...request.headers })
    if (credential !== "none") {
      const { apiKey } = options
      const key = typeof apiKey === "string" ? apiKey : await apiKey()
      if (credential === "bearer") headers.set("authorization", `Bearer ${key}`)
      else headers.set(credential, key)
    }
    if (idempotencyKey !== undefined) headers.set("idempotency-key", idempotencyKey)
    // A form brings its own media type, with the boundary of its parts.
    const isForm = body instanceof FormData
    if (body !== undefined && !isForm) headers.set("content-type", "application/json")
    let response: Response
    try {
      response = await fetch(/^https?:\/\//.test(path) ? path : `${base}${path}`, {
        method,
        headers,
        ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
        ...(signal === undefined ? {} : { signal })
      })
    } catch (cause) {
      signal?.throwIfAborted()
      throw new CastellanError({ code: "connection_failed", message: "the service could not be reached", cause })
    }
    if (!response.ok) throw await toError(response)
    return response
  }

  return { send }
}
