/**
 * A change by the names of its author and of those who approved it, as the rules read it.
 */
import type { Reviewed } from "@castellan/core/change/ApprovalPolicy"
import { Attribution } from "@castellan/core/change/Change"
import * as LibraryPath from "@castellan/core/library/LibraryPath"
import * as Result from "effect/Result"
import * as Name from "./Name.ts"

/** What a change is to be. */
export interface ChangeOptions {
  /** Its author; absent: nobody knows. */
  readonly by?: string
  /** The roles that the author held when it was created; none unless said. */
  readonly rolesThen?: ReadonlyArray<string>
  /** Who pushed the latest changeset, where that was not the author; `"unknown"` where nobody knows. */
  readonly pushedBy?: string
  readonly paths: ReadonlyArray<string>
  /** Who approved the latest changeset. */
  readonly approvedBy?: ReadonlyArray<string>
  /** Who approved an earlier one. */
  readonly onceApprovedBy?: ReadonlyArray<string>
}

const attribution = (name: string | undefined, roles: ReadonlyArray<string>): Attribution =>
  name === undefined || name === "unknown"
    ? Attribution.cases.Unattributed.make({})
    : Attribution.cases.Member.make({ memberId: Name.memberId(name), roles: roles.map(Name.roleId) })

/** A change under review. */
export const change = (options: ChangeOptions): Reviewed => {
  const rolesThen = options.rolesThen ?? []
  const gitRef = Name.gitRef("latest")
  return {
    author: attribution(options.by, rolesThen),
    pusher: options.pushedBy === undefined ? attribution(options.by, rolesThen) : attribution(options.pushedBy, []),
    gitRef,
    paths: options.paths.map((path) => Result.getOrThrow(LibraryPath.parse(path))),
    approvals: [
      ...(options.onceApprovedBy ?? []).map((name) => ({
        memberId: Name.memberId(name),
        gitRef: Name.gitRef("earlier")
      })),
      ...(options.approvedBy ?? []).map((name) => ({ memberId: Name.memberId(name), gitRef }))
    ]
  }
}
