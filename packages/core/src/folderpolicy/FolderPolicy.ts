/**
 * A folder policy: who owns what lies under a path of the library, and how many of them must approve a change there.
 * Policies are kept apart from the tree, so no change of the tree can widen access.
 *
 * Source: decisions.md §8 ("Folder policies are administered apart from the tree").
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { MemberId } from "../member/Member.ts"
import { OrganizationId } from "../organization/Organization.ts"
import { RoleId } from "../role/Role.ts"
import { FolderPath, root } from "./FolderPath.ts"

/** Who owns a folder: a member, or whoever holds a role. */
export const Owner = Schema.TaggedUnion({
  Member: { id: MemberId },
  Role: { id: RoleId }
})
export type Owner = typeof Owner.Type

/** How many approvals a folder asks for: one at least (policy-cases A21). */
export const RequiredApprovals = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))

/** A folder's own exception: changes that are live without an approver. */
export const AutoApproval = Schema.Struct({
  /** The author holds one of these; empty: every author. */
  authorRoles: Schema.Array(RoleId),
  /** Every path of the change in this folder matches one of these; empty: no path does. From the library's root. */
  pathGlobs: Schema.Array(Schema.String)
})
export type AutoApproval = typeof AutoApproval.Type

/** The policy of one folder. */
export class FolderPolicy extends Schema.Class<FolderPolicy>("@castellan/core/folderpolicy/FolderPolicy")({
  organizationId: OrganizationId,
  /** The folder; the empty path is the root of the library. */
  path: FolderPath,
  owners: Schema.Array(Owner),
  /** Whether the owners of the nearest policy above count here as well. */
  inheritOwners: Schema.Boolean,
  requiredApprovals: RequiredApprovals,
  /** Whether neither the author nor whoever pushed the latest changeset counts as an approver. */
  distinctApprovers: Schema.Boolean,
  /** The rule governs changes by authors who hold one of these; empty: changes by every author. */
  authorRoles: Schema.Array(RoleId),
  autoApprove: Schema.Array(AutoApproval),
  /**
   * What could not be read of the policy as it is kept. Such a part stands at its strictest reading, and the policy
   * approves nothing by itself (policy-cases O10, A21; law L12). Empty for every policy that was saved here.
   */
  malformations: Schema.Array(Schema.String).pipe(Schema.withConstructorDefault(Effect.succeed([]))),
  updatedAt: Schema.DateTimeUtc
}) {}

/** What somebody decides about a folder; all else of a policy follows. */
export type FolderPolicyTerms = Pick<
  FolderPolicy,
  "path" | "owners" | "inheritOwners" | "requiredApprovals" | "distinctApprovers" | "authorRoles" | "autoApprove"
>

/** The terms of the root from the start: owned by the admin role, one approval, by somebody else. */
export const rootTerms = (admin: RoleId): FolderPolicyTerms => ({
  path: root,
  owners: [Owner.cases.Role.make({ id: admin })],
  inheritOwners: true,
  requiredApprovals: 1,
  distinctApprovers: true,
  authorRoles: [],
  autoApprove: []
})
