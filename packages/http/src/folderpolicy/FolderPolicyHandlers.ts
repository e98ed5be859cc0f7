/**
 * The operations of folder policies, bound to their use cases.
 *
 * Source: decisions.md §8 (`GET|PUT|DELETE /v2/folder-policies`).
 */
import { Api } from "@castellan/api/Api"
import * as FolderPolicyWire from "@castellan/api/folderpolicy/FolderPolicyWire"
import { FolderPolicies } from "@castellan/core/folderpolicy/FolderPolicies"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { declared } from "../request/DeclaredFailures.ts"
import * as OperationServices from "../request/OperationServices.ts"

/** The operations of folder policies. */
export const layer = HttpApiBuilder.group(
  Api,
  "folderPolicies",
  Effect.fnUntraced(function* (handlers) {
    const policies = yield* FolderPolicies

    return handlers.handleAll({
      list: () => Effect.map(policies.list, FolderPolicyWire.ofFolderPolicies).pipe(declared("PermissionDenied")),

      save: Effect.fnUntraced(
        function* ({ payload }) {
          return FolderPolicyWire.ofSaved(yield* policies.save(FolderPolicyWire.toTerms(payload)))
        },
        declared("InvalidRequest", "PermissionDenied", "Conflict")
      ),

      delete: Effect.fnUntraced(
        function* ({ query }) {
          const { path } = yield* policies.remove(query.path)
          return { path, success: true }
        },
        declared("InvalidRequest", "PermissionDenied", "NotFound", "Conflict")
      )
    })
  }, OperationServices.given)
)
