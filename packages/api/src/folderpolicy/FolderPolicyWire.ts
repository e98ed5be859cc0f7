/**
 * Folder policies on the wire.
 *
 * Source: decisions.md §8 ("Folder policies").
 */
import * as FolderPath from "@castellan/core/folderpolicy/FolderPath"
import { type FolderPolicy, type FolderPolicyTerms, Owner } from "@castellan/core/folderpolicy/FolderPolicy"
import type { FolderPolicyList, SavedFolderPolicy } from "@castellan/core/folderpolicy/FolderPolicies"
import { warningMessage } from "@castellan/core/folderpolicy/FolderPolicyReview"
import { MemberId } from "@castellan/core/member/Member"
import { RoleId } from "@castellan/core/role/Role"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaTransformation from "effect/SchemaTransformation"
import { boundedText, flag, integerBetween, listOf, text, timestamp, uuid } from "../wire/WireValue.ts"

const pathRule = "must be a folder of the library, such as `docs/finance`; empty is the library itself"

/** A folder of a request. */
export const folderPath = Schema.String.annotate({
  message: pathRule,
  description: "The folder; empty is the library"
}).pipe(
  Schema.decodeTo(
    Schema.toType(FolderPath.FolderPath).annotate({ message: pathRule }),
    SchemaTransformation.transformEffect<FolderPath.FolderPath, string, never, never>({
      decode: (sent) =>
        Result.match(FolderPath.parse(sent), {
          onSuccess: (path) => Effect.succeed(path),
          onFailure: ({ message }) => Effect.fail(new SchemaIssue.InvalidValue({ message }))
        }),
      encode: (path) => Effect.succeed(path)
    })
  )
)

const memberId = Schema.optionalKey(uuid(MemberId, "The member; or `role_id`"))
const roleId = Schema.optionalKey(uuid(RoleId, "The role, whose holders own it; or `member_id`"))

/** Who owns a folder. */
export const OwnerWire = Schema.Struct({ member_id: memberId, role_id: roleId }).annotate({
  identifier: "Owner",
  description: "Who owns a folder: a member, or whoever holds a role"
})
export type OwnerWire = typeof OwnerWire.Type

/** A folder's own exception. */
export const AutoApprovalWire = Schema.Struct({
  author_role_ids: Schema.Array(uuid(RoleId, "A role's id")).annotate({
    description: "The author holds one of these; none, every author"
  }),
  path_globs: Schema.Array(Schema.String).annotate({
    description: "Every path of the change in this folder matches one of these"
  })
}).annotate({ identifier: "AutoApproval", description: "Changes that are live without an approver" })
export type AutoApprovalWire = typeof AutoApprovalWire.Type

/** The policy of a folder. */
export const FolderPolicyWire = Schema.Struct({
  path: text("The folder; empty is the library itself"),
  owners: Schema.Array(OwnerWire).annotate({ description: "Who owns what lies in it" }),
  inherit_owners: flag("Whether the owners of the nearest policy above count here as well"),
  required_approvals: Schema.Int.annotate({ description: "How many owners must approve a change" }),
  distinct_approvers: flag("Whether neither the author nor whoever pushed the latest revision counts"),
  author_role_ids: Schema.Array(uuid(RoleId, "A role's id")).annotate({
    description: "The rule governs changes by authors who hold one of these; none, by every author"
  }),
  auto_approve: Schema.Array(AutoApprovalWire).annotate({ description: "Changes that are live without an approver" }),
  updated_at: timestamp("When the policy was last changed"),
  warnings: Schema.optionalKey(
    Schema.Array(Schema.String).annotate({
      description: "What is to be known of it: that nobody could ever meet it, or a part of it that cannot be read"
    })
  )
}).annotate({
  identifier: "FolderPolicy",
  description: "Who owns a folder of the library, and how many of them must approve a change there"
})
export type FolderPolicyWire = typeof FolderPolicyWire.Type

/** The folder policies of the organization. */
export const FolderPolicyListWire = Schema.Struct({
  folder_policies: Schema.Array(FolderPolicyWire).annotate({ description: "The policies, in the order of their paths" })
}).annotate({ identifier: "FolderPolicyList", description: "The folder policies of the organization" })
export type FolderPolicyListWire = typeof FolderPolicyListWire.Type

/** A folder policy was deleted. */
export const FolderPolicyDeletionWire = Schema.Struct({
  path: text("The folder, which the nearest policy above governs now"),
  success: flag("Always true")
}).annotate({ identifier: "FolderPolicyDeletion", description: "A folder policy was deleted" })
export type FolderPolicyDeletionWire = typeof FolderPolicyDeletionWire.Type

/** Which folder's policy to delete. */
export const DeleteFolderPolicyQuery = Schema.Struct({ path: folderPath })
export type DeleteFolderPolicyQuery = typeof DeleteFolderPolicyQuery.Type

const ownerRule = "must have either member_id or role_id"

/** An owner of a request. */
export const OwnerRequest = Schema.Struct({ member_id: memberId, role_id: roleId })
  .annotate({
    message: "must be a JSON object",
    description: "Who owns a folder: either a member, or whoever holds a role"
  })
  .check(
    Schema.makeFilter(({ member_id, role_id }) => (member_id === undefined) !== (role_id === undefined), {
      message: ownerRule
    })
  )
  .annotate({ identifier: "OwnerRequest" })
export type OwnerRequest = typeof OwnerRequest.Type

const roleIds = (description: string) => listOf(uuid(RoleId, "A role's id"), { maximum: 100 }, "role ids", description)

/** A folder's own exception, of a request. */
export const AutoApprovalRequest = Schema.Struct({
  author_role_ids: Schema.optionalKey(roleIds("The author holds one of these; none, every author")),
  path_globs: listOf(
    boundedText({ minimum: 1, maximum: 1_024 }, "A pattern of paths, with `*`, `**` and `?`"),
    { minimum: 1, maximum: 100 },
    "patterns",
    "Every path of the change in this folder matches one of these"
  )
}).annotate({
  identifier: "AutoApprovalRequest",
  description: "Changes that are live without an approver",
  message: "must be a JSON object"
})
export type AutoApprovalRequest = typeof AutoApprovalRequest.Type

/** The policy that a folder shall have. */
export const SaveFolderPolicyRequest = Schema.Struct({
  path: folderPath,
  owners: listOf(OwnerRequest, { maximum: 1_000 }, "owners", "Who owns what lies in the folder"),
  inherit_owners: Schema.optionalKey(
    flag("Whether the owners of the nearest policy above count here as well")
  ).annotateKey({ default: true }),
  required_approvals: Schema.optionalKey(integerBetween(1, 1_000, "How many owners must approve a change")).annotateKey(
    { default: 1 }
  ),
  distinct_approvers: Schema.optionalKey(
    flag("Whether neither the author nor whoever pushed the latest revision counts")
  ).annotateKey({ default: true }),
  author_role_ids: Schema.optionalKey(
    roleIds("The rule governs changes by authors who hold one of these; none, by every author")
  ),
  auto_approve: Schema.optionalKey(
    listOf(AutoApprovalRequest, { maximum: 100 }, "rules", "Changes that are live without an approver")
  )
}).annotate({
  identifier: "SaveFolderPolicyRequest",
  description: "The policy that a folder shall have, in place of the one that it has",
  message: "must be a JSON object"
})
export type SaveFolderPolicyRequest = typeof SaveFolderPolicyRequest.Type

const toOwner = ({ member_id, role_id }: OwnerRequest): ReadonlyArray<Owner> => {
  if (member_id !== undefined) return [Owner.cases.Member.make({ id: member_id })]
  return role_id === undefined ? [] : [Owner.cases.Role.make({ id: role_id })]
}

/** The terms of a request, in the domain's words. */
export const toTerms = (request: SaveFolderPolicyRequest): FolderPolicyTerms => ({
  path: request.path,
  owners: request.owners.flatMap(toOwner),
  inheritOwners: request.inherit_owners ?? true,
  requiredApprovals: request.required_approvals ?? 1,
  distinctApprovers: request.distinct_approvers ?? true,
  authorRoles: request.author_role_ids ?? [],
  autoApprove: (request.auto_approve ?? []).map((rule) => ({
    authorRoles: rule.author_role_ids ?? [],
    pathGlobs: rule.path_globs
  }))
})

/** A folder's policy as the wire shows it, with what is to be known of it beside what cannot be read. */
export const ofFolderPolicy = (policy: FolderPolicy, warnings: ReadonlyArray<string> = []): FolderPolicyWire => {
  const all = [...policy.malformations, ...warnings]
  return {
    path: policy.path,
    owners: policy.owners.map((owner) => (owner._tag === "Member" ? { member_id: owner.id } : { role_id: owner.id })),
    inherit_owners: policy.inheritOwners,
    required_approvals: policy.requiredApprovals,
    distinct_approvers: policy.distinctApprovers,
    author_role_ids: policy.authorRoles,
    auto_approve: policy.autoApprove.map((rule) => ({
      author_role_ids: rule.authorRoles,
      path_globs: rule.pathGlobs
    })),
    updated_at: policy.updatedAt,
    ...(all.length === 0 ? {} : { warnings: all })
  }
}

/** A policy that was saved, as the wire shows it: with what it means for itself and for the folders below. */
export const ofSaved = ({ policy, warnings }: SavedFolderPolicy): FolderPolicyWire =>
  ofFolderPolicy(policy, warnings.map(warningMessage))

/** The folder policies as the wire shows them. */
export const ofFolderPolicies = ({ policies, warnings }: FolderPolicyList): FolderPolicyListWire => ({
  folder_policies: policies.map((policy) =>
    ofFolderPolicy(policy, warnings.filter(({ folder }) => folder === policy.path).map(warningMessage))
  )
})
