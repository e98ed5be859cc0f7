/**
 * What is wrong with a folder policy, said when it is saved: problems, for which it is refused, and warnings, with
 * which it stands: that a rule can never be met, or by nobody but administrators.
 *
 * Source: decisions.md §8; policy-cases A19, A21, A22, O11, O12.
 */
import * as Schema from "effect/Schema"
import * as PathGlob from "../library/PathGlob.ts"
import { MemberId } from "../member/Member.ts"
import { RoleId } from "../role/Role.ts"
import { count } from "../text/Count.ts"
import { FolderPath, shown } from "./FolderPath.ts"
import type { FolderPolicyTerms } from "./FolderPolicy.ts"
import type { GoverningFolder, PolicyTree } from "./PolicyTree.ts"
import { approversOf, isOrphaned, type Population } from "./Population.ts"

/** Why a policy is refused. */
export const FolderPolicyProblem = Schema.TaggedUnion({
  /** An owner is no active member of the organization. */
  UnknownMember: { id: MemberId },
  /** A role does not exist; a rule that named it would be broken. */
  UnknownRole: { field: Schema.Literals(["owners", "author_role_ids", "auto_approve"]), id: RoleId },
  /** A pattern of an exception cannot be read. */
  BadGlob: { glob: Schema.String, because: Schema.String }
})
export type FolderPolicyProblem = typeof FolderPolicyProblem.Type

/** What a policy, or one below it, means that its author may not have meant. */
export const FolderPolicyWarning = Schema.TaggedUnion({
  /** More approvals than there are members who could give one: no change there is ever merged. */
  Unsatisfiable: { folder: FolderPath, required: Schema.Int, population: Schema.Int },
  /** Enough for a change by somebody else, too few for one by a member of the population themselves. */
  UnsatisfiableForOwners: { folder: FolderPath, required: Schema.Int, population: Schema.Int },
  /** The policy names owners, and none of them is left. */
  Orphaned: { folder: FolderPath },
  /** Nobody but administrators owns the folder. */
  AdministratorsOnly: { folder: FolderPath },
  /** An exception names no path, and approves nothing. */
  EmptyException: { folder: FolderPath }
})
export type FolderPolicyWarning = typeof FolderPolicyWarning.Type

/** A problem as a sentence that names the field. */
export const problemMessage = (problem: FolderPolicyProblem): string =>
  FolderPolicyProblem.match(problem, {
    UnknownMember: ({ id }) => `owners: ${id} is no active member of the organization`,
    UnknownRole: ({ field, id }) => `${field}: there is no role ${id}`,
    BadGlob: ({ because, glob }) => `auto_approve: path_globs: ${JSON.stringify(glob)} ${because}`
  })

/** A warning as a sentence. */
export const warningMessage = (warning: FolderPolicyWarning): string =>
  FolderPolicyWarning.match(warning, {
    Unsatisfiable: ({ folder, population, required }) =>
      `${shown(folder)} asks for ${count(required, "approval")}, and only ${count(population, "member")} could give one: no change there is ever merged`,
    UnsatisfiableForOwners: ({ folder, population, required }) =>
      `${shown(folder)} asks for ${count(required, "approval")} by others than the author, and only ${count(population, "member")} could give one: a change by one of them is never merged`,
    Orphaned: ({ folder }) =>
      `${shown(folder)} names owners of whom none is left: administrators alone own it by its policy`,
    AdministratorsOnly: ({ folder }) => `${shown(folder)} is owned by administrators alone`,
    EmptyException: ({ folder }) => `${shown(folder)} has an exception that names no path, and approves nothing`
  })

/** Why terms are refused; empty where they are not. */
export const problemsOf = (terms: FolderPolicyTerms, population: Population): ReadonlyArray<FolderPolicyProblem> => {
  const { BadGlob, UnknownMember, UnknownRole } = FolderPolicyProblem.cases
  const problems: Array<FolderPolicyProblem> = []
  const known = (field: (typeof UnknownRole.Type)["field"], ids: ReadonlyArray<RoleId>): void => {
    for (const id of new Set(ids)) if (!population.hasRole(id)) problems.push(UnknownRole.make({ field, id }))
  }
  for (const owner of terms.owners) {
    if (owner._tag === "Role") known("owners", [owner.id])
    else if (population.member(owner.id) === undefined) problems.push(UnknownMember.make({ id: owner.id }))
  }
  known("author_role_ids", terms.authorRoles)
  known(
    "auto_approve",
    terms.autoApprove.flatMap(({ authorRoles }) => authorRoles)
  )
  for (const glob of terms.autoApprove.flatMap(({ pathGlobs }) => pathGlobs)) {
    const because = PathGlob.problem(glob)
    if (because !== undefined) problems.push(BadGlob.make({ glob, because }))
  }
  return problems
}

const warningsOf = (folder: GoverningFolder, population: Population): ReadonlyArray<FolderPolicyWarning> => {
  const { AdministratorsOnly, EmptyException, Orphaned, Unsatisfiable, UnsatisfiableForOwners } =
    FolderPolicyWarning.cases
  const warnings: Array<FolderPolicyWarning> = []
  const { path: at, terms } = folder
  const approvers = approversOf(population, folder)
  const numbers = { folder: at, required: terms.requiredApprovals, population: approvers.size }
  if (approvers.size < terms.requiredApprovals) warnings.push(Unsatisfiable.make(numbers))
  else if (terms.distinctApprovers && approvers.size - 1 < terms.requiredApprovals) {
    warnings.push(UnsatisfiableForOwners.make(numbers))
  }
  if (isOrphaned(population, folder)) warnings.push(Orphaned.make({ folder: at }))
  // The root belongs to administrators from the start; elsewhere it deserves a word.
  else if (at !== "" && approvers.size === population.administrators.size) {
    warnings.push(AdministratorsOnly.make({ folder: at }))
  }
  if (terms.autoApprove.some(({ pathGlobs }) => pathGlobs.length === 0))
    warnings.push(EmptyException.make({ folder: at }))
  return warnings
}

/** Whether what a folder means depends on the policy of a path: it is that path's, or inherits its owners. */
const dependsOn = (folder: GoverningFolder, path: FolderPath): boolean => {
  for (let at: GoverningFolder | undefined = folder; at !== undefined; at = at.inherits) {
    if (at.path === path) return true
  }
  return false
}

/** What the policies of a tree mean that may not be meant; given a path, only those that its policy has a part in. */
export const warnings = (
  tree: PolicyTree,
  population: Population,
  concerning?: FolderPath
): ReadonlyArray<FolderPolicyWarning> =>
  tree.folders
    .filter((folder) => concerning === undefined || dependsOn(folder, concerning))
    .flatMap((folder) => warningsOf(folder, population))
