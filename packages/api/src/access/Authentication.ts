/**
 * The security of every operation but the system's and the signed ones: a bearer value, which tells the principal.
 *
 * Source: api-v2.md "Authentication"; decisions.md §3.
 */
import type { CurrentPrincipal } from "@castellan/core/access/Principal"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSecurity from "effect/http-api/HttpApiSecurity"
import * as OpenApi from "effect/http-api/OpenApi"
import { RateLimitExceededError, UnauthenticatedError } from "../error/ErrorEnvelope.ts"

/** `Authorization: Bearer <value>`. */
export const bearer = HttpApiSecurity.bearer.pipe(
  HttpApiSecurity.annotate(
    OpenApi.Description,
    "An API key or a token, sent as `Authorization: Bearer <value>`. A key is shown once, when it is made; send it as it was issued."
  ),
  HttpApiSecurity.annotate(OpenApi.Format, "API key or JWT")
)

/**
 * The middleware that provides the principal of a request. It is implemented in `@castellan/http`, which also counts
 * the request against its organization's rate limit there: after the credentials, before the request's shape.
 */
export class Authentication extends HttpApiMiddleware.Service<
  Authentication,
  {
    provides: CurrentPrincipal
  }
>()("@castellan/api/access/Authentication", {
  error: [UnauthenticatedError, RateLimitExceededError],
  security: { bearer }
}) {}
