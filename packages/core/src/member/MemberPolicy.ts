/**
 * Who may administer members.
 *
 * Source: decisions.md §3 ("Role and member administration", "Nobody grants a permission or role that they do not
 * hold").
 */
import { allow, type Decision } from "../access/Decision.ts"
import { requiresAdmin } from "../access/PermissionPolicy.ts"
import type { Principal } from "../access/Principal.ts"
import type { Role } from "../role/Role.ts"
import * as RolePolicy from "../role/RolePolicy.ts"
import type { Member } from "./Member.ts"

/** Whether the principal may see the members of the organization. */
export const read = (principal: Principal): Decision => RolePolicy.read(principal, "member:write")

/** Whether the principal may see the roles of a member: everybody sees their own. */
export const readRoles = (principal: Principal, member: Member): Decision =>
  member.id === principal.memberId ? allow("own", "one's own roles") : RolePolicy.read(principal)

/**
 * Whether the principal may invite somebody to a role. The built-in role `member` comes with an invitation; any other
 * is assigned, and needs what an assignment needs.
 */
export const invite = (principal: Principal, role: Role): Decision => {
  const administration = RolePolicy.administers(principal, "member:write")
  if (administration._tag === "Deny") return administration
  return role.origin._tag === "System" && role.origin.name === "member"
    ? RolePolicy.hand(principal, role)
    : RolePolicy.assign(principal, role)
}

/** Whether the principal may make a service account. It starts with no role. */
export const createServiceAccount = (principal: Principal): Decision =>
  RolePolicy.administers(principal, "member:write")

/** Whether the principal may deactivate or delete a member: an administrator only by another, or by itself. */
export const remove = (principal: Principal, member: Member, adminRole: Role | undefined): Decision => {
  const administration = RolePolicy.administers(principal, "member:write")
  return administration._tag === "Deny" || adminRole === undefined || !member.roles.includes(adminRole.id)
    ? administration
    : requiresAdmin(principal)
}
