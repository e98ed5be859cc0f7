/**
 * Cross-origin requests of browsers: allowed for a list of origins, never with cookies. The service knows no cookies;
 * a page says who it is by a bearer value, which no browser sends by itself.
 *
 * Source: Fetch standard, "HTTP CORS protocol".
 */
import * as Duration from "effect/Duration"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"

/** Which pages may call the service from a browser. */
export interface CorsOptions {
  /** The origins of the pages, such as `https://app.example.com`; exactly as browsers write them. */
  readonly origins: ReadonlyArray<string>
  /** How long a browser may remember what a preflight answered. Default 10 minutes. */
  readonly maxAge?: Duration.Duration
}

/** What answers say to browsers. */
export interface Cors {
  /** Sets what every answer to a request says among its headers. */
  readonly set: (headers: Record<string, string>, request: HttpServerRequest.HttpServerRequest) => void
  /** Headers of the answer to a preflight of a path with its methods; nothing when the request is none. */
  readonly preflightOf: (
    request: HttpServerRequest.HttpServerRequest,
    methods: string
  ) => Readonly<Record<string, string>> | undefined
}

const exposed =
  "X-Request-Id, RateLimit, RateLimit-Policy, Retry-After, Idempotent-Replayed, WWW-Authenticate, Content-Disposition"

const requestHeaders =
  "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, X-Request-Id, Connect-Protocol-Version, Connect-Timeout-Ms, svc_api_key"

const none: Cors = { set: () => {}, preflightOf: () => undefined }

/** Throws for what no browser would ever send as an origin: it would silently allow nobody. */
const requireOrigin = (text: string): string => {
  if (!URL.canParse(text) || new URL(text).origin !== text) {
    throw new Error(`cors: ${JSON.stringify(text)} is no origin; one looks like https://app.example.com`)
  }
  return text
}

/** What answers say to browsers; without options, nothing: pages of other origins cannot read them. */
export const make = (options: CorsOptions | undefined): Cors => {
  if (options === undefined) return none
  const origins = new Set(options.origins.map(requireOrigin))
  const maxAge = String(Math.floor(Duration.toSeconds(options.maxAge ?? Duration.minutes(10))))
  const isAllowed = (origin: string | undefined): origin is string => origin !== undefined && origins.has(origin)
  return {
    set: (headers, request) => {
      const { origin } = request.headers
      if (isAllowed(origin)) {
        headers["access-control-allow-origin"] = origin
        headers["access-control-expose-headers"] = exposed
      }
      headers["vary"] = "Origin"
    },
    preflightOf: ({ headers }, methods) =>
      isAllowed(headers["origin"]) && headers["access-control-request-method"] !== undefined
        ? {
            "access-control-allow-methods": methods,
            "access-control-allow-headers": requestHeaders,
            "access-control-max-age": maxAge
          }
        : undefined
  }
}
