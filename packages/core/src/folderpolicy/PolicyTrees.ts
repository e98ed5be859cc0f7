/**
 * The policy tree of each organization, rebuilt when a policy has changed. What is kept between questions is the index
 * of the policies of one version, never a decision: the version is asked for every time.
 */
import * as Effect from "effect/Effect"
import type { OrganizationId } from "../organization/Organization.ts"
import type { FolderPolicyStore } from "./FolderPolicyStore.ts"
import * as PolicyTree from "./PolicyTree.ts"

/** For how many organizations a tree is kept at most. */
const capacity = 256

/** The current policy tree of an organization. */
export type TreeOf = (organizationId: OrganizationId) => Effect.Effect<PolicyTree.PolicyTree>

/** Trees of the policies of a store. */
export const make = (store: FolderPolicyStore["Service"]): TreeOf => {
  const kept = new Map<OrganizationId, { readonly version: number; readonly tree: PolicyTree.PolicyTree }>()
  return Effect.fnUntraced(function* (organizationId) {
    const version = yield* store.version(organizationId)
    const known = kept.get(organizationId)
    if (known?.version === version) return known.tree
    const tree = PolicyTree.make(yield* store.list(organizationId))
    kept.delete(organizationId)
    kept.set(organizationId, { version, tree })
    const [oldest] = kept.keys()
    if (kept.size > capacity && oldest !== undefined) kept.delete(oldest)
    return tree
  })
}
