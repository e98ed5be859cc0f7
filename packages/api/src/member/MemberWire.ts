/**
 * Members on the wire.
 *
 * Source: decisions.md §3 ("Role and member administration").
 */
import { MemberId } from "@castellan/core/member/Member"
import type { MemberView } from "@castellan/core/member/MemberView"
import { type Role, RoleId } from "@castellan/core/role/Role"
import * as Schema from "effect/Schema"
import { RoleWire, ofRole } from "../role/RoleWire.ts"
import { boundedText, emailAddress, flag, text, timestamp, uuid } from "../wire/WireValue.ts"

/** A member. */
export const MemberWire = Schema.Struct({
  id: uuid(MemberId, "The member's id"),
  email: text("The member's e-mail address"),
  name: Schema.optionalKey(text("The member's name")),
  roles: Schema.Array(Schema.String).annotate({ description: "The names of the roles that the member holds" }),
  is_admin: flag("Whether the member holds the role `admin`"),
  is_service_account: flag("Whether the member is no person: it acts by keys alone"),
  is_scim_managed: flag("Whether the organization's identity provider keeps the member"),
  created_at: timestamp("When the member came")
}).annotate({ identifier: "Member", description: "A person of the organization, or a service account" })
export type MemberWire = typeof MemberWire.Type

/** The members of the organization. */
export const MemberListWire = Schema.Struct({
  members: Schema.Array(MemberWire).annotate({ description: "The members, in the order in which they came" })
}).annotate({ identifier: "MemberList", description: "The members of the organization" })
export type MemberListWire = typeof MemberListWire.Type

/** What became of a member that was removed. */
export const MemberRemovalWire = Schema.Struct({
  id: uuid(MemberId, "The member that was removed"),
  success: flag("Always true")
}).annotate({ identifier: "MemberRemoval", description: "A member was removed" })
export type MemberRemovalWire = typeof MemberRemovalWire.Type

/** The roles of a member. */
export const MemberRolesWire = Schema.Struct({
  member_id: uuid(MemberId, "The member"),
  roles: Schema.Array(RoleWire).annotate({ description: "The roles that the member holds" })
}).annotate({ identifier: "MemberRoles", description: "The roles of a member" })
export type MemberRolesWire = typeof MemberRolesWire.Type

/** A role was assigned to a member, or taken from it. */
export const RoleAssignmentWire = Schema.Struct({
  member_id: uuid(MemberId, "The member"),
  role_id: uuid(RoleId, "The role"),
  success: flag("Always true")
}).annotate({ identifier: "RoleAssignment", description: "A role was assigned to a member, or taken from it" })
export type RoleAssignmentWire = typeof RoleAssignmentWire.Type

/** Whom to invite. */
export const InviteMemberRequest = Schema.Struct({
  email: emailAddress("Whom to invite"),
  role: Schema.optionalKey(
    boundedText(
      { minimum: 1, maximum: 100 },
      "The name or the id of the role that the member starts with; absent, `member`"
    )
  )
}).annotate({ identifier: "InviteMemberRequest", description: "Whom to invite", message: "must be a JSON object" })
export type InviteMemberRequest = typeof InviteMemberRequest.Type

/** A service account to be made. */
export const CreateServiceAccountRequest = Schema.Struct({
  name: boundedText({ minimum: 1, maximum: 100 }, "The service account's name")
}).annotate({
  identifier: "CreateServiceAccountRequest",
  description: "A service account to be made",
  message: "must be a JSON object"
})
export type CreateServiceAccountRequest = typeof CreateServiceAccountRequest.Type

/** Which role to assign. */
export const AssignRoleRequest = Schema.Struct({
  roleId: uuid(RoleId, "The role to assign")
}).annotate({ identifier: "AssignRoleRequest", description: "Which role to assign", message: "must be a JSON object" })
export type AssignRoleRequest = typeof AssignRoleRequest.Type

/** How to remove a member. */
export const RemoveMemberQuery = Schema.Struct({
  hard_delete: Schema.optionalKey(
    flag("True removes the member for good; else it is deactivated, and what it made stays its own")
  ).annotateKey({ default: false })
})
export type RemoveMemberQuery = typeof RemoveMemberQuery.Type

/** A member as the wire shows it. */
export const ofMember = ({ isAdmin, member, roles }: MemberView): MemberWire => ({
  id: member.id,
  email: member.email,
  ...(member.name === undefined ? {} : { name: member.name }),
  roles: roles.map((role) => role.name),
  is_admin: isAdmin,
  is_service_account: member.isServiceAccount,
  is_scim_managed: member.isScimManaged,
  created_at: member.createdAt
})

/** The members as the wire shows them. */
export const ofMembers = (members: ReadonlyArray<MemberView>): MemberListWire => ({ members: members.map(ofMember) })

/** The roles of a member as the wire shows them. */
export const ofMemberRoles = (memberId: MemberId, roles: ReadonlyArray<Role>): MemberRolesWire => ({
  member_id: memberId,
  roles: roles.map(ofRole)
})
