/**
 * Whether a principal holds a permission that no object narrows.
 */
import type { Permission } from "../role/Permission.ts"
import { allow, type Decision, deny } from "./Decision.ts"
import type { Principal } from "./Principal.ts"

/** Allows when an effective role grants the permission; denies otherwise, by default. */
export const requires = (principal: Principal, permission: Permission): Decision =>
  principal.holds(permission) ? allow(permission) : deny("permission", `permission denied: ${permission} is required`)
