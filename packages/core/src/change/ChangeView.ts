/**
 * A change as somebody is shown it: one of its revisions as far as they own its paths, how far its approvals are, and
 * what they may do to it.
 *
 * Source: decisions.md §8 (`GET /v2/changes`).
 */
import type * as DateTime from "effect/DateTime"
import type { Principal } from "../access/Principal.ts"
import { holderOf } from "../folderpolicy/OwnersPolicy.ts"
import type { Member } from "../member/Member.ts"
import { standing, type Situation } from "./ApprovalPolicy.ts"
import type { Change, ChangeConflict, Changeset, FilePatch } from "./Change.ts"
import { type Capabilities, capabilities, reviewedOf, shownConflicts, shownFiles } from "./ChangePolicy.ts"

/** A change as somebody is shown it. */
export interface ChangeView {
  readonly change: Change
  /** Who wrote it; absent where that is not known, or the member is gone for good. */
  readonly author: Member | undefined
  /** The revision that is shown. */
  readonly changeset: Changeset
  /** What the revision does, as far as the reader owns the paths. */
  readonly files: ReadonlyArray<FilePatch>
  /** Where it contradicts the library, for people; empty where it does not. */
  readonly conflicts: ReadonlyArray<ChangeConflict>
  /** The approvals that count in the folder furthest from its number; once merged, those that did then. */
  readonly approvalCount: number
  /** That folder's number. */
  readonly requiredApprovals: number
  readonly capabilities: Capabilities
}

/** A change as a principal is shown it. */
export const viewOf = (
  situation: Situation,
  principal: Principal,
  of: { readonly change: Change; readonly changeset: Changeset; readonly author: Member | undefined },
  now: DateTime.Utc
): ChangeView => {
  const { author, change, changeset } = of
  const holder = holderOf(principal)
  const { status } = change
  const { furthest } = standing(reviewedOf(change), situation)
  const counts =
    status._tag === "Approved"
      ? { approvalCount: status.merge.approvals, requiredApprovals: status.merge.required }
      : { approvalCount: furthest.approvers.length, requiredApprovals: furthest.required }
  return {
    change,
    author,
    changeset,
    files: shownFiles(situation.tree, principal, changeset),
    conflicts: status._tag === "Reserved" ? shownConflicts(situation.tree, holder, status.conflicts) : [],
    ...counts,
    capabilities: capabilities(situation, principal, change, now)
  }
}
