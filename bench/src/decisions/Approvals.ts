/**
 * A change of many paths, in many folders, each with a rule of its own.
 */
import type * as ApprovalPolicy from "@castellan/core/change/ApprovalPolicy"
import * as PolicyTree from "@castellan/core/folderpolicy/PolicyTree"
import * as Population from "@castellan/core/folderpolicy/Population"
import { change } from "@castellan/testing/policy/Change"
import { folderPolicy } from "@castellan/testing/policy/FolderPolicy"
import * as Name from "@castellan/testing/policy/Name"
import { roleCount, roleOf } from "./Scenario.ts"

/** A change, and what is the case now. */
export interface ManyPaths {
  readonly reviewed: ApprovalPolicy.Reviewed
  readonly situation: ApprovalPolicy.Situation
  readonly approver: Population.LiveMember
}

const memberCount = 1000

/** A change of so many paths in so many folders, with two approvals, in an organization of a thousand members. */
export const manyPaths = (paths: number, folders: number): ManyPaths => {
  const population = Population.make(
    Array.from({ length: memberCount }, (_, member) => ({
      id: Name.memberId(`member-${member}`),
      roles: [Name.roleId(roleOf(member))],
      status: { _tag: "Active" as const },
      isServiceAccount: false
    })),
    Array.from({ length: roleCount }, (_, role) => ({ id: Name.roleId(roleOf(role)), isAdmin: role === 0 }))
  )
  const tree = PolicyTree.make(
    Array.from({ length: folders }, (_, folder) =>
      folderPolicy(`folder-${folder}`, { owners: { roles: [roleOf(folder)] }, requiredApprovals: 2 })
    )
  )
  const reviewed = change({
    by: "member-1",
    paths: Array.from({ length: paths }, (_, path) => `folder-${path % folders}/pages/page-${path}.md`),
    // Two administrators, whose approvals count everywhere.
    approvedBy: ["member-0", `member-${roleCount}`]
  })
  const approver = population.member(Name.memberId(`member-${2 * roleCount}`))
  if (approver === undefined) throw new Error("the approver is no member")
  return { reviewed, situation: { tree, population }, approver }
}
