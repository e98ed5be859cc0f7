/**
 * The operations of members, bound to their use cases.
 *
 * Source: decisions.md §3 ("Role and member administration").
 */
import { Api } from "@castellan/api/Api"
import { ofMember, ofMemberRoles, ofMembers } from "@castellan/api/member/MemberWire"
import { success } from "@castellan/api/wire/Outcome"
import type { MemberId } from "@castellan/core/member/Member"
import { Members } from "@castellan/core/member/Members"
import type { RoleId } from "@castellan/core/role/Role"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { declared } from "../request/DeclaredFailures.ts"
import * as OperationServices from "../request/OperationServices.ts"

/** A role that was assigned or taken, as the wire shows it. */
const ofAssignment = (memberId: MemberId, roleId: RoleId) => ({ member_id: memberId, role_id: roleId, success: true })

/** The operations of members. */
export const layer = HttpApiBuilder.group(
  Api,
  "members",
  Effect.fnUntraced(function* (handlers) {
    const members = yield* Members

    return handlers.handleAll({
      list: () => Effect.map(members.list, ofMembers).pipe(declared("PermissionDenied")),

      invite: Effect.fnUntraced(
        function* ({ payload }) {
          yield* members.invite(payload)
          return success
        },
        declared("InvalidRequest", "PermissionDenied", "NotFound", "Conflict")
      ),

      createServiceAccount: Effect.fnUntraced(
        function* ({ payload }) {
          return ofMember(yield* members.createServiceAccount(payload))
        },
        declared("InvalidRequest", "PermissionDenied", "Conflict")
      ),

      remove: Effect.fnUntraced(
        function* ({ params, query }) {
          yield* members.remove(params.id, { hardDelete: query.hard_delete ?? false })
          return { id: params.id, success: true }
        },
        declared("PermissionDenied", "NotFound", "Conflict")
      ),

      listRoles: Effect.fnUntraced(
        function* ({ params }) {
          return ofMemberRoles(params.id, yield* members.roles(params.id))
        },
        declared("PermissionDenied", "NotFound")
      ),

      assignRole: Effect.fnUntraced(
        function* ({ params, payload }) {
          yield* members.assign(params.id, payload.roleId)
          return ofAssignment(params.id, payload.roleId)
        },
        declared("PermissionDenied", "NotFound", "Conflict")
      ),

      unassignRole: Effect.fnUntraced(
        function* ({ params }) {
          yield* members.unassign(params.id, params.roleId)
          return ofAssignment(params.id, params.roleId)
        },
        declared("PermissionDenied", "NotFound", "Conflict")
      )
    })
  }, OperationServices.given)
)
