/**
 * Who may read and who may set folder policies. Policies decide who has the say over the library, so administrators
 * alone set them: an owner can change what is in a folder, never who owns it (policy-cases O8, O9).
 *
 * Source: decisions.md §8 ("no change can widen it").
 */
import type { Decision } from "../access/Decision.ts"
import { requires, requiresAdmin } from "../access/PermissionPolicy.ts"
import type { Principal } from "../access/Principal.ts"
import type { FolderPolicy } from "./FolderPolicy.ts"
import { holderOf, owns } from "./OwnersPolicy.ts"
import type { PolicyTree } from "./PolicyTree.ts"

/** Whether a principal may set or remove a policy. */
export const decideWrite = (principal: Principal): Decision => requiresAdmin(principal)

/** Whether a principal may ask which policies there are. */
export const decideRead = (principal: Principal): Decision => requires(principal, "library:read")

/** The policies that a principal is shown: all of them for readers of the organization, else those of what they own. */
export const readable = (
  tree: PolicyTree,
  principal: Principal,
  policies: ReadonlyArray<FolderPolicy>
): ReadonlyArray<FolderPolicy> => {
  if (principal.isAdmin || principal.holds("organization:read")) return policies
  const holder = holderOf(principal)
  return policies.filter((policy) => owns(tree.governing(policy.path), holder))
}
