/**
 * What stands before the operations of the Connect protocol: their credentials, and the answers for requests that the
 * contract's schemas refuse.
 *
 * Source: api-v2.md "Authentication"; decisions.md §2; policy-cases K34.
 */
import * as ConnectProtocol from "@castellan/api/rpc/ConnectProtocol"
import type { Authentication } from "@castellan/core/access/Authentication"
import { CurrentPrincipal } from "@castellan/core/access/Principal"
import * as Effect from "effect/Effect"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as Layer from "effect/Layer"
import * as RequestCredentials from "../access/RequestCredentials.ts"

const webhook: Layer.Layer<ConnectProtocol.WebhookAuthentication, never, Authentication> = Layer.effect(
  ConnectProtocol.WebhookAuthentication,
  Effect.map(RequestCredentials.make, ({ ofBearer }) =>
    ConnectProtocol.WebhookAuthentication.of({
      bearer: (operation, { credential }) =>
        Effect.flatMap(ofBearer(credential), (principal) =>
          Effect.provideService(operation, CurrentPrincipal, principal)
        )
    })
  )
)

const rpc: Layer.Layer<ConnectProtocol.RpcAuthentication, never, Authentication> = Layer.effect(
  ConnectProtocol.RpcAuthentication,
  Effect.map(RequestCredentials.make, ({ ofServiceKey }) =>
    ConnectProtocol.RpcAuthentication.of({
      svc_api_key: (operation, { credential }) =>
        Effect.flatMap(ofServiceKey(credential), (principal) =>
          Effect.provideService(operation, CurrentPrincipal, principal)
        )
    })
  )
)

const refusals = HttpApiMiddleware.layerSchemaErrorTransform(ConnectProtocol.ConnectSchemaErrors, (error) => {
  const refused = ConnectProtocol.refusal(error)
  // A response that does not fit its own schema is a defect of this server, not of the request.
  return refused === undefined ? Effect.die(error) : Effect.fail(refused)
})

/** The contract's middlewares of these operations. */
export const layer = Layer.mergeAll(webhook, rpc, refusals)
