/**
 * Which requests are for an operation of the Connect protocol, and are answered in its terms whatever becomes of them.
 *
 * Source: api-v2.md "Agent webhook", "RPC surface".
 */
import { PublicRpcGroup, RpcGroup } from "@castellan/api/rpc/RpcGroup"
import { WebhookGroup } from "@castellan/api/rpc/WebhookGroup"
import * as FindMyWay from "effect/http/FindMyWay"
import { matching } from "../request/RouteTable.ts"

/** How an operation asks for its credential: what `WWW-Authenticate` says. */
export type Challenge = "Bearer" | "svc_api_key"

const routes = FindMyWay.make<Challenge>(matching)
for (const { path } of Object.values(WebhookGroup.endpoints)) routes.on("POST", path, "Bearer")
for (const group of [RpcGroup, PublicRpcGroup]) {
  for (const { path } of Object.values(group.endpoints)) routes.on("POST", path, "svc_api_key")
}

/** How the operation of an address asks for its credential; nothing where the address is of none of the protocol's. */
export const challengeOf = (url: string): Challenge | undefined => routes.find("POST", url)?.handler
