/**
 * The operations of access, alike for every kind of object that can be shared, bound to their use cases.
 *
 * Source: decisions.md §3 (`GET|PUT /v2/{type}/{id}/access`).
 */
import { ofAccess, type ReplaceAccessRequest, toWantedAccess } from "@castellan/api/access/AccessWire"
import { Api } from "@castellan/api/Api"
import type { CarrierType } from "@castellan/core/access/AccessCarriers"
import { Accesses } from "@castellan/core/access/Accesses"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { declared } from "../request/DeclaredFailures.ts"
import * as OperationServices from "../request/OperationServices.ts"

/** A request about one object: its id is a text, or a connector's number. */
interface About {
  readonly params: { readonly id: string | number }
}

/** The operations of access. */
export const layer = HttpApiBuilder.group(
  Api,
  "access",
  Effect.fnUntraced(function* (handlers) {
    const accesses = yield* Accesses

    const read = (type: CarrierType) => (request: About) =>
      Effect.map(accesses.get(type, String(request.params.id)), ofAccess).pipe(declared("PermissionDenied", "NotFound"))

    const replace = (type: CarrierType) => (request: About & { readonly payload: ReplaceAccessRequest }) =>
      Effect.map(accesses.replace(type, String(request.params.id), toWantedAccess(request.payload)), ofAccess).pipe(
        declared("InvalidRequest", "PermissionDenied", "NotFound")
      )

    return handlers.handleAll({
      getChat: read("chat"),
      replaceChat: replace("chat"),
      getPlaybook: read("playbook"),
      replacePlaybook: replace("playbook"),
      getAgent: read("agent"),
      replaceAgent: replace("agent"),
      getConnector: read("connector"),
      replaceConnector: replace("connector"),
      getApp: read("app"),
      replaceApp: replace("app")
    })
  }, OperationServices.given)
)
