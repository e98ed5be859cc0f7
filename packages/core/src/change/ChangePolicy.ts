/**
 * Who may see a change, and who may do what to it.
 *
 * A change is there for its author and for those who own a path that it touches; for others it does not exist. They
 * are shown what it does to the paths that they own, and no more. Approving is decided in `ApprovalPolicy`.
 *
 * Source: api-v2.md "Changes"; decisions.md §8; policy-cases A12, A31, A32, A44, L2.
 */
import type * as DateTime from "effect/DateTime"
import * as Result from "effect/Result"
import { isEmpty, sameClient } from "../access/ClientMetadata.ts"
import { allow, type Decision, deny } from "../access/Decision.ts"
import { requires } from "../access/PermissionPolicy.ts"
import type { Principal } from "../access/Principal.ts"
import { decideAll, type Holder, holderOf, owns } from "../folderpolicy/OwnersPolicy.ts"
import type { PolicyTree } from "../folderpolicy/PolicyTree.ts"
import type { MemberId } from "../member/Member.ts"
import type { Permission } from "../role/Permission.ts"
import { decideApproval, type Reviewed, type Situation } from "./ApprovalPolicy.ts"
import type { Change, ChangeConflict, Changeset, FilePatch } from "./Change.ts"
import { ChangeEvent, transition } from "./ChangeState.ts"

/** What the rules read of a change. */
export interface Concerned {
  readonly author: Change["author"]
  readonly paths: ReadonlyArray<string>
}

/**
 * Whether a principal is the author. A key that speaks for an end user is not the author of what its member wrote for
 * another one.
 */
export const isAuthor = (
  principal: Pick<Principal, "memberId" | "restricted" | "clientMetadata">,
  { author }: Concerned
): boolean =>
  author._tag === "Member" &&
  author.memberId === principal.memberId &&
  (!principal.restricted ||
    author.clientMetadata === undefined ||
    isEmpty(author.clientMetadata) ||
    sameClient(author.clientMetadata, principal.clientMetadata))

/** Whether a change is there at all for a principal: one of its paths is theirs, or they wrote it. What lists contain. */
export const visible = (tree: PolicyTree, principal: Principal, change: Concerned): boolean => {
  if (principal.isAdmin || isAuthor(principal, change)) return true
  const holder = holderOf(principal)
  return change.paths.some((path) => owns(tree.governing(path), holder))
}

/** The paths that one file of a changeset is about: both ends of a rename. */
const pathsOf = ({ diff }: FilePatch): ReadonlyArray<string> =>
  [diff.oldPath, diff.newPath].filter((path) => path !== "")

/** What somebody is shown of a changeset: what it does to the paths they own, and all of it where they pushed it. */
export const shownFiles = (
  tree: PolicyTree,
  principal: Principal,
  { files, pusher }: Pick<Changeset, "pusher" | "files">
): ReadonlyArray<FilePatch> => {
  if (principal.isAdmin || isAuthor(principal, { author: pusher, paths: [] })) return files
  const holder = holderOf(principal)
  return files.filter((file) => pathsOf(file).every((path) => owns(tree.governing(path), holder)))
}

/** What a holder is shown of conflicts: what both sides have, on the paths they own; elsewhere that there is one. */
export const shownConflicts = (
  tree: PolicyTree,
  holder: Holder,
  conflicts: ReadonlyArray<ChangeConflict>
): ReadonlyArray<ChangeConflict> =>
  conflicts.map(({ path, view }) =>
    holder.isAdmin || owns(tree.governing(path), holder)
      ? { path, view }
      : { path, view: `${path}: this change and the library contradict each other\n` }
  )

/** Whether a principal may see a change: it must be there for it, and reading needs its permission. */
export const decideRead = (tree: PolicyTree, principal: Principal, change: Concerned): Decision => {
  if (!visible(tree, principal, change)) return deny("hidden", "change not found")
  return requires(principal, "library:read")
}

/** Whether a principal is the author, or owns every path and holds the permission for what others wrote. */
const authorOrOwner = (
  tree: PolicyTree,
  principal: Principal,
  change: Concerned,
  needs: { readonly author?: Permission; readonly owner: Permission }
): Decision => {
  if (isAuthor(principal, change)) {
    const permission = needs.author === undefined ? undefined : requires(principal, needs.author)
    return permission?._tag === "Deny" ? permission : allow("own", "the author of the change")
  }
  const permission = requires(principal, needs.owner)
  if (permission._tag === "Deny") return permission
  return decideAll(tree, holderOf(principal), change.paths)
}

/** Denying: the author, always; else an owner of every path (A31, A32). */
export const decideDeny = (tree: PolicyTree, principal: Principal, change: Concerned): Decision =>
  authorOrOwner(tree, principal, change, { owner: "library:approve" })

/** Restoring: the author, or an owner of every path. */
export const decideRestore = (tree: PolicyTree, principal: Principal, change: Concerned): Decision =>
  authorOrOwner(tree, principal, change, { author: "library:propose", owner: "library:approve" })

/** Revising: the author, or an owner of every path (A44). */
export const decideRevise = (tree: PolicyTree, principal: Principal, change: Concerned): Decision =>
  authorOrOwner(tree, principal, change, { author: "library:propose", owner: "library:propose" })

/** Submitting: the author alone. */
export const decideSubmit = (principal: Principal, change: Concerned): Decision => {
  const permission = requires(principal, "library:propose")
  if (permission._tag === "Deny") return permission
  return isAuthor(principal, change)
    ? allow("own", "the author of the change")
    : deny("not_author", "permission denied: only the author submits a change")
}

/** Approving: the permission, authority over every path, and another hand than the author's where that is asked. */
export const decideApprove = (situation: Situation, principal: Principal, change: Reviewed): Decision => {
  const permission = requires(principal, "library:approve")
  return permission._tag === "Deny" ? permission : decideApproval(change, situation, holderOf(principal))
}

/** What a caller may do to a change as it stands. Source: decisions.md §8 (`capabilities`). */
export interface Capabilities {
  readonly canApprove: boolean
  readonly canDeny: boolean
  readonly canRestore: boolean
  /** Whether the caller has approved the latest revision. */
  readonly callerApproved: boolean
}

/** A change as the rules about approvals read it. */
export const reviewedOf = (change: Change): Reviewed => ({
  author: change.author,
  pusher: change.changeset.pusher,
  gitRef: change.gitRef,
  paths: change.paths,
  approvals: change.approvals
})

/** Whether a member has approved the latest revision of a change. */
export const hasApproved = (change: Pick<Reviewed, "gitRef" | "approvals">, memberId: MemberId): boolean =>
  change.approvals.some((one) => one.gitRef === change.gitRef && one.memberId === memberId)

/** What a caller may do to a change: what the rules allow, as far as the change's state does too. */
export const capabilities = (
  situation: Situation,
  principal: Principal,
  change: Change,
  now: DateTime.Utc
): Capabilities => {
  const possible = (event: ChangeEvent): boolean => Result.isSuccess(transition(change.status, event, now))
  const allowed = (decision: Decision): boolean => decision._tag === "Allow"
  const callerApproved = hasApproved(change, principal.memberId)
  return {
    canApprove:
      !callerApproved &&
      possible(ChangeEvent.cases.Approve.make({})) &&
      allowed(decideApprove(situation, principal, reviewedOf(change))),
    canDeny:
      possible(ChangeEvent.cases.Deny.make({ by: principal.memberId })) &&
      allowed(decideDeny(situation.tree, principal, change)),
    canRestore:
      possible(ChangeEvent.cases.Restore.make({ conflicts: [] })) &&
      allowed(decideRestore(situation.tree, principal, change)),
    callerApproved
  }
}
