/**
 * Reading and replacing who an object is shared with, alike for every kind of object that can be shared.
 *
 * Source: decisions.md §3 (`GET|PUT /v2/{type}/{id}/access`).
 */
import { AgentId } from "@castellan/core/agent/Agent"
import { AppId } from "@castellan/core/app/App"
import { ChatId } from "@castellan/core/chat/Chat"
import { PlaybookId } from "@castellan/core/playbook/Playbook"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import type * as Schema from "effect/Schema"
import { readErrors, writeErrors } from "../error/OperationErrors.ts"
import { SchemaErrors } from "../error/SchemaErrors.ts"
import { operation, reportingInput } from "../wire/Operation.ts"
import { connectorIdInPath, uuid } from "../wire/WireValue.ts"
import { AccessWire, ReplaceAccessRequest } from "./AccessWire.ts"
import { Authentication } from "./Authentication.ts"

/** The two operations of one kind of object. */
const accessOf = <const Get extends string, const Replace extends string, const Path extends `/${string}`, Id>(
  { get, path, replace, thing }: { readonly get: Get; readonly replace: Replace; readonly path: Path; thing: string },
  id: Schema.Codec<Id, string>
) => {
  const params = { id }
  const name = thing[0]?.toUpperCase() + thing.slice(1)
  return [
    HttpApiEndpoint.get(get, path, { params, success: AccessWire, error: readErrors }).annotateMerge(
      operation(`get${name}Access`, `Get the access of a ${thing}`, `Who the ${thing} is shared with.`)
    ),
    HttpApiEndpoint.put(replace, path, {
      params,
      payload: ReplaceAccessRequest,
      success: AccessWire,
      error: writeErrors
    }).annotateMerge(
      operation(
        `replace${name}Access`,
        `Replace the access of a ${thing}`,
        `Sets at once who the ${thing} is shared with. The caller's own share as owner always stays.`
      )
    )
  ] as const
}

/** The operations of access. */
export class AccessGroup extends HttpApiGroup.make("access")
  .add(
    ...accessOf(
      { get: "getChat", replace: "replaceChat", path: "/v2/chats/:id/access", thing: "chat" },
      uuid(ChatId, "The chat's id")
    ),
    ...accessOf(
      { get: "getPlaybook", replace: "replacePlaybook", path: "/v2/playbooks/:id/access", thing: "playbook" },
      uuid(PlaybookId, "The playbook's id")
    ),
    ...accessOf(
      { get: "getAgent", replace: "replaceAgent", path: "/v2/agents/:id/access", thing: "agent" },
      uuid(AgentId, "The agent's id")
    ),
    ...accessOf(
      { get: "getConnector", replace: "replaceConnector", path: "/v2/connectors/:id/access", thing: "connector" },
      connectorIdInPath
    ),
    ...accessOf(
      { get: "getApp", replace: "replaceApp", path: "/v2/apps/:id/access", thing: "app" },
      uuid(AppId, "The app's id")
    )
  )
  .middleware(SchemaErrors)
  .middleware(Authentication)
  .annotateEndpointsMerge(reportingInput)
  .annotateMerge(OpenApi.annotations({ title: "Access", description: "Who objects are shared with" })) {}
