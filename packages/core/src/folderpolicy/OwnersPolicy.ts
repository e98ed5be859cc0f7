/**
 * OWNERS authority: whether somebody may have the say over a path. Administrators own every path; others own what the
 * governing policy, or those above as far as it inherits, names them for. Nothing about the tree itself matters, so
 * no change can give anybody authority (policy-cases O8, O9).
 *
 * A key acts with its effective roles: an administrator's key without the admin role owns what its other roles and
 * its member own (policy-cases K23). Owning by name does not depend on `fullMemberAccess`, which is about objects that
 * carry access; folders carry none, and every use of the authority needs its permission from the effective roles too.
 *
 * Source: api-v2.md "Approve" (rules 1 and 3); decisions.md §8; policy-cases O1 to O16.
 */
import { allow, type Decision, deny } from "../access/Decision.ts"
import type { Principal } from "../access/Principal.ts"
import type { MemberId } from "../member/Member.ts"
import type { RoleId } from "../role/Role.ts"
import { shown } from "./FolderPath.ts"
import { byFolder, type GoverningFolder, type PolicyTree } from "./PolicyTree.ts"

/** Whoever may own a path, with the roles that count now. */
export interface Holder {
  readonly memberId: MemberId
  readonly roles: ReadonlySet<RoleId>
  /** Whether the admin role is among them. */
  readonly isAdmin: boolean
}

/** A principal as a holder, by its effective roles. */
export const holderOf = (principal: Pick<Principal, "memberId" | "roles" | "isAdmin">): Holder => ({
  memberId: principal.memberId,
  roles: new Set(principal.roles.map((role) => role.id)),
  isAdmin: principal.isAdmin
})

/** The folder whose policy names the holder as an owner of what `folder` governs, itself or one that it inherits from. */
const namedBy = (folder: GoverningFolder, holder: Holder): GoverningFolder | undefined => {
  for (let at: GoverningFolder | undefined = folder; at !== undefined; at = at.inherits) {
    if (at.members.has(holder.memberId) || at.roles.some((role) => holder.roles.has(role))) return at
  }
  return undefined
}

/** Whether a holder owns what a folder governs. */
export const owns = (folder: GoverningFolder, holder: Holder): boolean =>
  holder.isAdmin || namedBy(folder, holder) !== undefined

/** Whether a holder owns a path, and by which folder's policy. */
export const decide = (tree: PolicyTree, holder: Holder, path: string): Decision => {
  if (holder.isAdmin) return allow("administrator", "an administrator owns every path", { path })
  const folder = tree.governing(path)
  const by = namedBy(folder, holder)
  return by === undefined
    ? deny("not_owned", `permission denied: OWNERS authority on ${path} is required`, {
        path,
        folder: shown(folder.path)
      })
    : allow("ownership", `an owner of ${shown(by.path)}`, { path, folder: shown(by.path) })
}

/** How many of the paths that are missing a decision names. */
const named = 10

/** Whether a holder owns every one of the paths: one that is not owned denies the whole (policy-cases O15). */
export const decideAll = (tree: PolicyTree, holder: Holder, paths: ReadonlyArray<string>): Decision => {
  if (holder.isAdmin) return allow("administrator", "an administrator owns every path", { paths: new Set(paths).size })
  const folders: Array<string> = []
  const missing: Array<string> = []
  let count = 0
  for (const [folder, within] of byFolder(tree, paths)) {
    count += within.length
    if (owns(folder, holder)) folders.push(shown(folder.path))
    else missing.push(...within)
  }
  const first = missing.toSorted().slice(0, named)
  if (first[0] === undefined) {
    return allow("ownership", "an owner of every path", { paths: count, folders })
  }
  const others = missing.length - 1
  return deny(
    "not_owned",
    `permission denied: OWNERS authority on every path is required, and is missing on ${first[0]}${
      others === 0 ? "" : ` and ${others} more`
    }`,
    { paths: count, missing: first, missingCount: missing.length }
  )
}

/** The paths that a holder owns: what its mount of the library holds (policy-cases O16). */
export const owned = <Path extends string>(
  tree: PolicyTree,
  holder: Holder,
  paths: ReadonlyArray<Path>
): ReadonlyArray<Path> => (holder.isAdmin ? paths : paths.filter((path) => owns(tree.governing(path), holder)))
