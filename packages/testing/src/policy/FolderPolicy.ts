/**
 * A folder policy by the names of the people and roles in it.
 */
import { type FolderPolicyTerms, Owner } from "@castellan/core/folderpolicy/FolderPolicy"
import * as FolderPath from "@castellan/core/folderpolicy/FolderPath"
import * as Result from "effect/Result"
import * as Name from "./Name.ts"

/** People and roles, by name. */
export interface Owners {
  readonly members?: ReadonlyArray<string>
  readonly roles?: ReadonlyArray<string>
}

/** What a folder policy is to say, where it is not one approval by an owner other than the author. */
export interface FolderPolicyOptions {
  readonly owners?: Owners
  readonly inheritOwners?: boolean
  readonly requiredApprovals?: number
  readonly distinctApprovers?: boolean
  /** Names of roles; none: every author. */
  readonly authorRoles?: ReadonlyArray<string>
  readonly autoApprove?: ReadonlyArray<{
    readonly authorRoles?: ReadonlyArray<string>
    readonly pathGlobs: ReadonlyArray<string>
  }>
}

/** The policy of a folder; `/` is the library itself. */
export const folderPolicy = (path: string, options: FolderPolicyOptions = {}): FolderPolicyTerms => ({
  path: Result.getOrThrow(FolderPath.parse(path)),
  owners: [
    ...(options.owners?.members ?? []).map((name) => Owner.cases.Member.make({ id: Name.memberId(name) })),
    ...(options.owners?.roles ?? []).map((name) => Owner.cases.Role.make({ id: Name.roleId(name) }))
  ],
  inheritOwners: options.inheritOwners ?? true,
  requiredApprovals: options.requiredApprovals ?? 1,
  distinctApprovers: options.distinctApprovers ?? true,
  authorRoles: (options.authorRoles ?? []).map(Name.roleId),
  autoApprove: (options.autoApprove ?? []).map((exception) => ({
    authorRoles: (exception.authorRoles ?? []).map(Name.roleId),
    pathGlobs: exception.pathGlobs
  }))
})
