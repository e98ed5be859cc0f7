/**
 * The credentials of a request. An operation takes its own from one place, `Authorization: Bearer` or, of the RPC
 * surface, the header `svc_api_key`. What stands in the other place is no way in, but it must be valid too, and must
 * not name somebody else.
 *
 * Source: api-v2.md "Authentication"; policy-cases K34.
 */
import { bearer } from "@castellan/api/access/Authentication"
import { Authentication } from "@castellan/core/access/Authentication"
import type { Principal } from "@castellan/core/access/Principal"
import type { Unauthenticated } from "@castellan/core/error/Failure"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import type * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Redacted from "effect/Redacted"

type Credential = Redacted.Redacted<string>

/** The principal of a request. */
export type RequestPrincipal = Effect.Effect<Principal, Unauthenticated, HttpRouter.Provided>

/** Tells the principal of a request by the credential that its operation takes; an empty one means that it has none. */
export interface RequestCredentials {
  /** For an operation that takes `Authorization: Bearer`, out of the request itself. */
  readonly byBearer: RequestPrincipal
  /** For an operation that takes `Authorization: Bearer`. */
  readonly ofBearer: (credential: Credential) => RequestPrincipal
  /** For an operation that takes `svc_api_key`. */
  readonly ofServiceKey: (credential: Credential) => RequestPrincipal
}

const isThere = (credential: Credential): boolean => Redacted.value(credential) !== ""

/** The bearer value that a request says to have, as `sentAsBearer` tells it; an empty one where it has none (RFC 9110 §11). */
const bearerOf = ({ headers }: HttpServerRequest.HttpServerRequest): string => {
  const { authorization } = headers
  return authorization !== undefined && /^bearer /i.test(authorization)
    ? authorization.slice("bearer ".length).replace(/^ +/, "")
    : ""
}

const sentAsBearer = HttpApiBuilder.securityDecode(bearer)

const sentAsServiceKey = ({ headers }: HttpServerRequest.HttpServerRequest): Credential | undefined => {
  const sent = headers["svc_api_key"]
  return sent === undefined ? undefined : Redacted.make(sent)
}

/** Credentials by core's authentication. */
export const make: Effect.Effect<RequestCredentials, never, Authentication> = Effect.map(
  Authentication,
  ({ authenticate, authenticateAll, authenticateValue }) => {
    const principalOf = (own: Credential, other: Credential | undefined) =>
      other !== undefined && isThere(other) && isThere(own) ? authenticateAll([own, other]) : authenticate(own)
    return {
      byBearer: HttpServerRequest.HttpServerRequest.use((request) => {
        const own = bearerOf(request)
        // Who sends one value has it looked at as it is.
        return request.headers["svc_api_key"] === undefined
          ? authenticateValue(own)
          : principalOf(Redacted.make(own), sentAsServiceKey(request))
      }),
      ofBearer: (own) =>
        HttpServerRequest.HttpServerRequest.use((request) => principalOf(own, sentAsServiceKey(request))),
      ofServiceKey: (own) => Effect.flatMap(sentAsBearer, (other) => principalOf(own, other))
    }
  }
)
