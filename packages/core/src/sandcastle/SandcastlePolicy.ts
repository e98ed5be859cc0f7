/**
 * Who may do what with a sandcastle. It holds what its maker's queries answered and what its maker's files say: nobody
 * else reaches it, and administrators of the organization can only stop it.
 *
 * Sources: decisions.md §3 (`fullMemberAccess`) and §7; policy-cases K20 to K22.
 */
import { reach } from "../access/AccessPolicy.ts"
import { allow, type Decision, deny } from "../access/Decision.ts"
import { requires } from "../access/PermissionPolicy.ts"
import type { Principal } from "../access/Principal.ts"
import type { Permission } from "../role/Permission.ts"
import { shownTo } from "../rowpolicy/RowVisibility.ts"
import type { Sandcastle } from "./Sandcastle.ts"

/** What can be done with a sandcastle. */
export type SandcastleAction = "read" | "execute" | "stop"

const needed: { readonly [Action in SandcastleAction]: Permission } = {
  read: "sandcastle:read",
  execute: "sandcastle:execute",
  stop: "sandcastle:execute"
}

/** Whether a sandcastle is the principal's own: made by it, and for the same end user. */
export const owns = (principal: Principal, sandcastle: Pick<Sandcastle, "creator" | "createdAt">): boolean => {
  const access = { isPublic: false, grants: [], creator: sandcastle.creator }
  // Without grants, the moment at which they are judged is no matter.
  return reach(principal, access, sandcastle.createdAt) === "owner" && shownTo(principal, sandcastle.creator)
}

/** Whether a principal may do something with a sandcastle of its organization. */
export const decide = (
  principal: Principal,
  sandcastle: Pick<Sandcastle, "creator" | "createdAt">,
  action: SandcastleAction
): Decision => {
  if (owns(principal, sandcastle)) {
    const permission = requires(principal, needed[action])
    return permission._tag === "Deny"
      ? permission
      : allow("own", `${needed[action]}, and the sandcastle is the caller's own`, permission.facts)
  }
  if (action === "stop" && principal.holds("organization:write")) {
    return allow("administrator", "organization:write stops any sandcastle", { permission: "organization:write" })
  }
  return deny("hidden", "sandcastle not found", { action })
}
