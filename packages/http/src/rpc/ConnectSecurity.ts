/**
 * What stands before the operations of the Connect protocol: their credentials, and the answers for requests that the
 * contract's schemas refuse.
 *
 * Source: api-v2.md "Authentication"; decisions.md §2; policy-cases K34.
 */
import * as ConnectProtocol from "@castellan/api/rpc/ConnectProtocol"
import type { Authentication } from "@castellan/core/access/Authentication"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Admission } from "../request/Admission.ts"
import * as RequestCredentials from "../access/RequestCredentials.ts"
import * as SchemaRefusals from "../request/SchemaRefusals.ts"

const webhook: Layer.Layer<ConnectProtocol.WebhookAuthentication, never, Admission | Authentication> = Layer.effect(
  ConnectProtocol.WebhookAuthentication,
  Effect.gen(function* () {
    const { ofBearer } = yield* RequestCredentials.make
    const { admit } = yield* Admission
    return ConnectProtocol.WebhookAuthentication.of({
      bearer: (operation, { credential }) => admit(ofBearer(credential), operation)
    })
  })
)

const rpc: Layer.Layer<ConnectProtocol.RpcAuthentication, never, Admission | Authentication> = Layer.effect(
  ConnectProtocol.RpcAuthentication,
  Effect.gen(function* () {
    const { ofServiceKey } = yield* RequestCredentials.make
    const { admit } = yield* Admission
    return ConnectProtocol.RpcAuthentication.of({
      svc_api_key: (operation, { credential }) => admit(ofServiceKey(credential), operation)
    })
  })
)

const refusals: Layer.Layer<ConnectProtocol.ConnectSchemaErrors> = Layer.succeed(
  ConnectProtocol.ConnectSchemaErrors,
  SchemaRefusals.answering(ConnectProtocol.refusal)
)

/** The contract's middlewares of these operations. */
export const layer = Layer.mergeAll(webhook, rpc, refusals)
