/**
 * When a change is live without an approver: every path that it touches is covered by an exception of the policy that
 * governs it, made for its author, and whoever pushed it owns every path. An exception is a grant: what cannot be
 * evaluated grants nothing (law L12), and a policy that is broken makes no exceptions (policy-cases O11, A22).
 *
 * Source: decisions.md §8 (`auto_approve`); policy-cases A37 to A41.
 */
import { allow, type Decision, deny } from "../access/Decision.ts"
import { shown } from "../folderpolicy/FolderPath.ts"
import type { AutoApproval } from "../folderpolicy/FolderPolicy.ts"
import { decideAll, type Holder } from "../folderpolicy/OwnersPolicy.ts"
import { byFolder, type GoverningFolder } from "../folderpolicy/PolicyTree.ts"
import { approversOf, isOrphaned, type Population } from "../folderpolicy/Population.ts"
import * as PathGlob from "../library/PathGlob.ts"
import type { Reviewed, Situation } from "./ApprovalPolicy.ts"

/** Why a policy makes no exceptions, or undefined where it may. */
const brokenness = (folder: GoverningFolder, population: Population): string | undefined => {
  if (folder.malformations.length > 0) return "its policy cannot be read whole"
  if (isOrphaned(population, folder)) return "none of its owners is left"
  if (approversOf(population, folder).size < folder.terms.requiredApprovals) return "its rule can never be met"
  return undefined
}

/** Whether an exception is made for somebody with these roles. */
const isFor = (exception: AutoApproval, holder: Pick<Holder, "roles">): boolean =>
  exception.authorRoles.length === 0 || exception.authorRoles.some((role) => holder.roles.has(role))

/** The first path, by name, that no exception covers. A pattern that is none matches nothing (A41). */
const uncovered = (
  exceptions: ReadonlyArray<AutoApproval>,
  paths: ReadonlyArray<Reviewed["paths"][number]>
): string | undefined => {
  const globs = exceptions.flatMap(({ pathGlobs }) => pathGlobs.flatMap(PathGlob.ifValid))
  const open = paths.filter((path) => !globs.some((glob) => PathGlob.matches(glob, path)))
  return open.toSorted()[0]
}

/**
 * Whether a change is approved by the exceptions of the folders that it touches. `pusher` is who pushed the revision,
 * with the roles of the key that they act through; what they and the author hold now counts too.
 */
export const decideAutoApproval = (reviewed: Reviewed, situation: Situation, pusher: Holder): Decision => {
  const { population, tree } = situation
  const author = reviewed.author._tag === "Member" ? population.member(reviewed.author.memberId) : undefined
  const live = reviewed.pusher._tag === "Member" ? population.member(reviewed.pusher.memberId) : undefined
  if (author === undefined || live?.memberId !== pusher.memberId) {
    return deny("unattributed", "no exception is made for a change whose author is not an active member")
  }
  for (const [folder, paths] of byFolder(tree, reviewed.paths)) {
    const facts = { folder: shown(folder.path) }
    const broken = brokenness(folder, population)
    if (broken !== undefined) {
      return deny("unsatisfiable", `${facts.folder} makes no exceptions: ${broken}`, { ...facts, because: broken })
    }
    const exceptions = folder.terms.autoApprove.filter((one) => [author, live, pusher].every((who) => isFor(one, who)))
    const path = uncovered(exceptions, paths)
    if (path !== undefined) {
      return deny("approvals_missing", `no exception of ${facts.folder} covers ${path}`, { ...facts, path })
    }
  }
  for (const holder of [pusher, live]) {
    const owned = decideAll(tree, holder, reviewed.paths)
    if (owned._tag === "Deny") return owned
  }
  return allow("auto_approved", "every folder's own exception covers the change", { paths: reviewed.paths.length })
}
