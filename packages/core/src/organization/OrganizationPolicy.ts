/**
 * Who may see and change the settings of the organization.
 *
 * Source: decisions.md §3 (`organization:read`, `organization:write`).
 */
import type { Decision } from "../access/Decision.ts"
import { requires } from "../access/PermissionPolicy.ts"
import type { Principal } from "../access/Principal.ts"

/** Whether the principal may see the settings. */
export const read = (principal: Principal): Decision => requires(principal, "organization:read")

/** Whether the principal may change the settings. */
export const change = (principal: Principal): Decision => requires(principal, "organization:write")
