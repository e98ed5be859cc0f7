/**
 * The operations of roles, bound to their use cases.
 *
 * Source: api-v2.md "Roles"; decisions.md §3 ("Role and member administration").
 */
import { Api } from "@castellan/api/Api"
import { ofPermissions, ofRole, ofRoles, RoleWire, toRolePatch } from "@castellan/api/role/RoleWire"
import { Roles } from "@castellan/core/role/Roles"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as RememberedAnswer from "../answer/RememberedAnswer.ts"
import { declared } from "../request/DeclaredFailures.ts"
import * as OperationServices from "../request/OperationServices.ts"

/** The answer with a role. */
const answerOf = RememberedAnswer.make(RoleWire, ofRole)

/** What reading a role can fail with. */
const declaredOfRead = declared("PermissionDenied", "NotFound")

/** The operations of roles. */
export const layer = HttpApiBuilder.group(
  Api,
  "roles",
  Effect.fnUntraced(function* (handlers) {
    const roles = yield* Roles

    return handlers.handleAll({
      list: () => Effect.map(roles.list, ofRoles).pipe(declared("PermissionDenied")),

      create: Effect.fnUntraced(
        function* ({ payload }) {
          return ofRole(yield* roles.create(payload))
        },
        declared("InvalidRequest", "PermissionDenied", "Conflict")
      ),

      get: ({ params }) => declaredOfRead(Effect.map(roles.get(params.id), answerOf)),

      update: Effect.fnUntraced(
        function* ({ params, payload }) {
          return ofRole(yield* roles.patch(params.id, toRolePatch(payload)))
        },
        declared("InvalidRequest", "PermissionDenied", "NotFound", "Conflict")
      ),

      delete: Effect.fnUntraced(
        function* ({ params }) {
          yield* roles.remove(params.id)
          return { id: params.id, success: true }
        },
        declared("PermissionDenied", "NotFound", "Conflict")
      ),

      getPermissions: Effect.fnUntraced(
        function* ({ params }) {
          return ofPermissions(yield* roles.get(params.id))
        },
        declared("PermissionDenied", "NotFound")
      ),

      replacePermissions: Effect.fnUntraced(
        function* ({ params, payload }) {
          return ofPermissions(yield* roles.setPermissions(params.id, payload.permissions))
        },
        declared("PermissionDenied", "NotFound")
      )
    })
  }, OperationServices.given)
)
