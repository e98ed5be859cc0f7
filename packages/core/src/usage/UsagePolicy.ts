/**
 * Who may see what runs used up.
 *
 * Source: decisions.md §4 ("`GET /v2/usage`"); §3 (`organization:read`).
 */
import { allow, type Decision, deny } from "../access/Decision.ts"
import { requires } from "../access/PermissionPolicy.ts"
import type { Principal } from "../access/Principal.ts"
import type { UsageFilter } from "./UsageSums.ts"

/**
 * Whether the principal may have these sums: all of them with `organization:read`, its own without. A restricted key
 * is not its owner: it would see what others used up through the same owner.
 */
export const read = (principal: Principal, filter: UsageFilter): Decision => {
  const overview = requires(principal, "organization:read")
  if (overview._tag === "Allow") return overview
  return filter.memberId === principal.memberId && !principal.restricted
    ? allow("own", "one's own usage")
    : deny("permission", overview.message, overview.facts)
}

/** Whether the principal may see budgets and how far each is used up. */
export const readBudgets = (principal: Principal): Decision => requires(principal, "organization:read")

/** Whether the principal may make, change and remove budgets. */
export const changeBudgets = (principal: Principal): Decision => requires(principal, "organization:write")
