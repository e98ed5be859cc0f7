/**
 * The operations of members.
 *
 * Source: decisions.md §3 ("Role and member administration").
 */
import { MemberId } from "@castellan/core/member/Member"
import { RoleId } from "@castellan/core/role/Role"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import { Authentication } from "../access/Authentication.ts"
import { actErrors, createErrors, listErrors, readErrors, writeErrors } from "../error/OperationErrors.ts"
import { SchemaErrors } from "../error/SchemaErrors.ts"
import { operation, reportingInput } from "../wire/Operation.ts"
import { SuccessWire } from "../wire/Outcome.ts"
import { uuid } from "../wire/WireValue.ts"
import {
  AssignRoleRequest,
  CreateServiceAccountRequest,
  InviteMemberRequest,
  MemberListWire,
  MemberRemovalWire,
  MemberRolesWire,
  MemberWire,
  RemoveMemberQuery,
  RoleAssignmentWire
} from "./MemberWire.ts"

const params = { id: uuid(MemberId, "The member's id") }

const list = HttpApiEndpoint.get("list", "/", { success: MemberListWire, error: listErrors }).annotateMerge(
  operation("listMembers", "List members", "The members of the organization, service accounts among them.")
)

const invite = HttpApiEndpoint.post("invite", "/invite", {
  payload: InviteMemberRequest,
  success: SuccessWire,
  error: writeErrors
}).annotateMerge(
  operation(
    "inviteMember",
    "Invite a member",
    "Makes a person a member of the organization. It needs `member:write`; nobody gives a role that they do not hold."
  )
)

const createServiceAccount = HttpApiEndpoint.post("createServiceAccount", "/service-accounts", {
  payload: CreateServiceAccountRequest,
  success: MemberWire.pipe(HttpApiSchema.status(201)),
  error: createErrors
}).annotateMerge(
  operation(
    "createServiceAccount",
    "Create a service account",
    "Makes a member that is no person. It acts by keys that are minted for it, with roles that are assigned to it."
  )
)

const remove = HttpApiEndpoint.delete("remove", "/:id", {
  params,
  query: RemoveMemberQuery,
  success: MemberRemovalWire,
  error: actErrors
}).annotateMerge(
  operation(
    "removeMember",
    "Remove a member",
    "Deactivates a member, whose credentials then work no longer, or removes it for good. The last admin cannot be removed."
  )
)

const listRoles = HttpApiEndpoint.get("listRoles", "/:id/roles", {
  params,
  success: MemberRolesWire,
  error: readErrors
}).annotateMerge(operation("listMemberRoles", "List the roles of a member", "The roles that the member holds now."))

const assignRole = HttpApiEndpoint.post("assignRole", "/:id/roles", {
  params,
  payload: AssignRoleRequest,
  success: RoleAssignmentWire,
  error: writeErrors
}).annotateMerge(
  operation(
    "assignRole",
    "Assign a role to a member",
    "Gives the member a role. Keys that exist already do not gain it. Nobody assigns a role that they do not hold."
  )
)

const unassignRole = HttpApiEndpoint.delete("unassignRole", "/:id/roles/:roleId", {
  params: { ...params, roleId: uuid(RoleId, "The role's id") },
  success: RoleAssignmentWire,
  error: actErrors
}).annotateMerge(
  operation(
    "unassignRole",
    "Take a role from a member",
    "Takes a role from the member, and with it from every key that assumed it. The last admin stays one."
  )
)

/** The operations of members. */
export class MembersGroup extends HttpApiGroup.make("members")
  .add(list, invite, createServiceAccount, remove, listRoles, assignRole, unassignRole)
  .middleware(SchemaErrors)
  .middleware(Authentication)
  .prefix("/v2/members")
  .annotateEndpointsMerge(reportingInput)
  .annotateMerge(OpenApi.annotations({ title: "Members", description: "People and service accounts" })) {}
