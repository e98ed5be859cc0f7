/**
 * Whether a principal holds a permission that no object narrows.
 */
import type { Permission } from "../role/Permission.ts"
import { allow, type Decision, deny } from "./Decision.ts"
import type { Principal } from "./Principal.ts"

/** The names of roles, sorted and each once, so that a decision does not depend on their order (law L3). */
const names = (principal: Principal): ReadonlyArray<string> =>
  [...new Set(principal.roles.map((role) => role.name))].toSorted()

/** Allows when an effective role grants the permission, naming the first such role by name; denies by default. */
export const requires = (principal: Principal, permission: Permission): Decision => {
  let by: string | undefined
  for (const role of principal.roles) {
    if ((by === undefined || role.name < by) && role.permissions.includes(permission)) by = role.name
  }
  return by === undefined
    ? deny("permission", `permission denied: ${permission} is required`, { permission, roles: names(principal) })
    : allow("permission", `${permission} by the role ${by}`, { permission, role: by })
}

/** Allows the holders of the system role `admin` alone. Source: decisions.md §3; policy-cases K23. */
export const requiresAdmin = (principal: Principal): Decision =>
  principal.isAdmin
    ? allow("administrator", "the admin role")
    : deny("admin_required", "admin role required", { roles: names(principal) })
