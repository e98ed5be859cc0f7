/**
 * The operations that speak the Connect protocol, bound to their use cases: the agent webhook, and the RPC surface at its
 * plain paths and under `/rpc/public`.
 *
 * Source: api-v2.md "Agent webhook", "RPC surface"; decisions.md §9.
 */
import { Api } from "@castellan/api/Api"
import { type GetAppRequest, ofQueued, ofRpcApp } from "@castellan/api/rpc/RpcWire"
import { Agents } from "@castellan/core/agent/Agents"
import { Apps } from "@castellan/core/app/Apps"
import { ScimGroupMappings } from "@castellan/core/scim/ScimGroupMappings"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as Layer from "effect/Layer"
import { declared } from "../request/DeclaredFailures.ts"
import * as OperationServices from "../request/OperationServices.ts"

const webhook = HttpApiBuilder.group(
  Api,
  "webhook",
  Effect.fnUntraced(function* (handlers) {
    const agents = yield* Agents
    return handlers.handle(
      "trigger",
      Effect.fnUntraced(
        function* ({ payload }) {
          return ofQueued(yield* agents.trigger(payload.triggerId, payload.payload ?? {}))
        },
        declared("InvalidRequest", "PermissionDenied", "NotFound", "Conflict", "RateLimitExceeded", "TimedOut")
      )
    )
  }, OperationServices.given)
)

/** The operations of the surface, which are the same at either path. */
const operations = OperationServices.given(
  Effect.gen(function* () {
    const apps = yield* Apps
    const mappings = yield* ScimGroupMappings
    return {
      getApp: Effect.fnUntraced(
        function* ({ payload }: { readonly payload: GetAppRequest }) {
          return ofRpcApp(yield* apps.get(payload.appId))
        },
        declared("PermissionDenied", "NotFound", "RateLimitExceeded", "TimedOut")
      ),
      migrateScimGroupMappings: () =>
        Effect.map(mappings.migrateAll, (count) => ({ migratedMappingCount: count })).pipe(
          declared("PermissionDenied", "Conflict", "RateLimitExceeded", "TimedOut")
        )
    }
  })
)

const rpc = HttpApiBuilder.group(Api, "rpc", (handlers) => Effect.map(operations, (all) => handlers.handleAll(all)))

const publicRpc = HttpApiBuilder.group(Api, "publicRpc", (handlers) =>
  Effect.map(operations, (all) => handlers.handleAll(all))
)

/** The operations of the protocol. */
export const layer = Layer.mergeAll(webhook, rpc, publicRpc)
