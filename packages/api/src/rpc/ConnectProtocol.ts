/**
 * What the operations that speak the Connect protocol have in common: their headers, their security, and what becomes
 * of a request that their schemas refuse.
 *
 * They are unary calls with JSON, so that a plain POST will do as well as a Connect client.
 *
 * Source: api-v2.md "Agent webhook", "RPC surface", "Authentication"; decisions.md §2.
 */
import type { CurrentPrincipal } from "@castellan/core/access/Principal"
import { InvalidRequest } from "@castellan/core/error/Failure"
import type * as HttpApiError from "effect/http-api/HttpApiError"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSecurity from "effect/http-api/HttpApiSecurity"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { bearer } from "../access/Authentication.ts"
import * as InvalidRequestMessage from "../error/InvalidRequestMessage.ts"
import { InternalConnect, InvalidArgument, ResourceExhausted, UnauthenticatedConnect } from "./ConnectError.ts"

const versionRule = "must be 1"
const timeoutRule = "must be a number of milliseconds, of at most 10 digits"

/** The headers of the protocol. */
export const ConnectHeaders = Schema.Struct({
  "connect-protocol-version": Schema.Literal("1")
    .annotate({ message: versionRule, description: "The version of the protocol" })
    .annotateKey({ messageMissingKey: versionRule }),
  "connect-timeout-ms": Schema.optionalKey(
    Schema.String.annotate({ message: timeoutRule }).check(
      Schema.isPattern(/^[0-9]{1,10}$/u, {
        message: timeoutRule,
        description: "Milliseconds after which the caller does not wait any longer"
      })
    )
  )
})
export type ConnectHeaders = typeof ConnectHeaders.Type

/** How long a caller waits, in milliseconds; nothing where it does not say. */
export const timeoutMillis = (headers: ConnectHeaders): number | undefined => {
  const sent = headers["connect-timeout-ms"]
  return sent === undefined ? undefined : Number(sent)
}

/** The middleware that answers for a request that its schemas refuse. It is implemented by the server. */
export class ConnectSchemaErrors extends HttpApiMiddleware.Service<ConnectSchemaErrors>()(
  "@castellan/api/rpc/ConnectSchemaErrors",
  { error: [InvalidArgument, InternalConnect] }
) {}

/** The refusal of a request that its schemas did not take; nothing when it is the server's own answer. */
export const refusal = (error: HttpApiError.HttpApiSchemaError): InvalidRequest | undefined => {
  switch (error.kind) {
    case "Params":
    case "Headers":
    case "Query":
    case "Payload":
      return new InvalidRequest({ message: InvalidRequestMessage.format(error.cause.issue) })
    case "Body":
    case "ResponseHeaders":
      return undefined
  }
}

/** The security of the webhook: a bearer value, which tells the principal. It is implemented by the server. */
export class WebhookAuthentication extends HttpApiMiddleware.Service<
  WebhookAuthentication,
  { provides: CurrentPrincipal }
>()("@castellan/api/rpc/WebhookAuthentication", {
  error: [UnauthenticatedConnect, ResourceExhausted],
  security: { bearer }
}) {}

/** `svc_api_key: <key>`. */
const serviceKey = HttpApiSecurity.apiKey({ key: "svc_api_key", in: "header" }).pipe(
  HttpApiSecurity.annotate(OpenApi.Description, "An API key, sent as `svc_api_key: <key>`.")
)

/** The security of the RPC surface: a key in a header of its own. It is implemented by the server. */
export class RpcAuthentication extends HttpApiMiddleware.Service<RpcAuthentication, { provides: CurrentPrincipal }>()(
  "@castellan/api/rpc/RpcAuthentication",
  {
    error: [UnauthenticatedConnect, ResourceExhausted],
    security: { svc_api_key: serviceKey }
  }
) {}
