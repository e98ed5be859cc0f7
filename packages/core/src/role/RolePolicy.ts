/**
 * Who may administer roles, and hand them on.
 *
 * Source: decisions.md §3 ("Role and member administration", "System roles", "Nobody grants a permission or role that
 * they do not hold").
 */
import * as Result from "effect/Result"
import { allow, type Decision, deny } from "../access/Decision.ts"
import { requires, requiresAdmin } from "../access/PermissionPolicy.ts"
import type { Principal } from "../access/Principal.ts"
import type { Permission } from "./Permission.ts"
import type { Role } from "./Role.ts"
import { type RoleEvent, transition } from "./RoleState.ts"

/** Allows the holders of a permission that only `admin` holds at first, and denies all others in the one way. */
export const administers = (principal: Principal, permission: Permission): Decision => {
  const held = requires(principal, permission)
  return held._tag === "Allow" ? held : deny("admin_required", "admin role required", held.facts)
}

/** Whether the principal may see roles, or members, and what each may do. */
export const read = (principal: Principal, permission: "member:write" | "role:write" = "role:write"): Decision => {
  const overview = requires(principal, "organization:read")
  return overview._tag === "Allow" ? overview : administers(principal, permission)
}

/** Whether the principal may make a role. It starts with no permission. */
export const create = (principal: Principal): Decision => administers(principal, "role:write")

/** Only who holds it may add a permission to a role; taking one away needs no more than `role:write`. */
const grants = (principal: Principal, role: Role, permissions: ReadonlyArray<Permission>): Decision => {
  const missing = [...new Set(permissions)].filter(
    (permission) => !role.permissions.includes(permission) && !principal.holds(permission)
  )
  return missing.length === 0
    ? allow("permission", "every permission that is added is held", { role: role.name })
    : deny("not_held", `permission denied: you do not hold ${missing.join(", ")}`, { permissions: missing })
}

/** Whether the principal may have an event happen to a role. */
export const change = (principal: Principal, role: Role, event: RoleEvent): Decision => {
  const administration = administers(principal, "role:write")
  if (administration._tag === "Deny") return administration
  const outcome = transition(role, event, role.updatedAt)
  if (Result.isFailure(outcome)) {
    const { message, origin } = outcome.failure
    return deny(origin === "Scim" ? "scim_managed" : "system_role", `permission denied: ${message}`, {
      role: role.name,
      origin
    })
  }
  return event._tag === "SetPermissions" ? grants(principal, role, event.permissions) : administration
}

/**
 * Whether the principal may hand a role on: it holds the role itself, or the admin role, which holds all that any role
 * can give. A role that nobody holds yet could otherwise never be given to anybody.
 */
export const hand = (principal: Principal, role: Role): Decision => {
  if (principal.roles.some((held) => held.id === role.id)) {
    return allow("permission", `the role ${role.name} is held`, { role: role.name })
  }
  return principal.isAdmin
    ? allow("administrator", "the admin role", { role: role.name })
    : deny("not_held", `permission denied: you do not hold the role ${role.name}`, { role: role.name })
}

/** Whether the principal may give a role to a member. */
export const assign = (principal: Principal, role: Role): Decision => {
  const administration = administers(principal, "role:write")
  return administration._tag === "Deny" ? administration : hand(principal, role)
}

/** Whether the principal may take a role from a member: any but `admin`, which only its holders take. */
export const unassign = (principal: Principal, role: Role): Decision => {
  const administration = administers(principal, "role:write")
  return administration._tag === "Deny" || !role.isAdmin ? administration : requiresAdmin(principal)
}
