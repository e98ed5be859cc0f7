/**
 * The folder policies of an organization as a tree by path segment: an immutable index, built once for a set of
 * policies, so that finding the policy that governs a path costs as many steps as the path is deep, however many
 * policies there are. It holds policies, never decisions.
 *
 * Source: decisions.md §8 ("The nearest ancestor's policy governs a path; owners of ancestors count unless
 * `inherit_owners` is false").
 */
import type { MemberId } from "../member/Member.ts"
import type { RoleId } from "../role/Role.ts"
import { root } from "./FolderPath.ts"
import type { FolderPolicy, FolderPolicyTerms } from "./FolderPolicy.ts"

/** A folder with a policy of its own, as the rules read it. */
export interface GoverningFolder {
  readonly path: FolderPolicy["path"]
  readonly terms: FolderPolicyTerms
  /** The members that the policy itself names as owners. */
  readonly members: ReadonlySet<MemberId>
  /** The roles that the policy itself names as owners. */
  readonly roles: ReadonlySet<RoleId>
  /** The nearest folder above whose owners count here too; absent: they do not, or there is none. */
  readonly inherits: GoverningFolder | undefined
  /** What could not be read of the policy as it is kept. */
  readonly malformations: ReadonlyArray<string>
}

/** A place of the tree: a folder that has a policy, or one on the way to such a folder. */
interface Place {
  readonly below: Map<string, Place>
  governing: GoverningFolder | undefined
}

/** Finds the policy that governs a path. */
export interface PolicyTree {
  /** The folder whose policy governs a path; the root governs what no other does. */
  readonly governing: (path: string) => GoverningFolder
  /** Every folder with a policy, the root among them, those above before those below. */
  readonly folders: ReadonlyArray<GoverningFolder>
}

/** The root where no policy is kept for it: administrators own it, one of them approves, and not their own. */
const unsaid: FolderPolicyTerms = {
  path: root,
  owners: [],
  inheritOwners: true,
  requiredApprovals: 1,
  distinctApprovers: true,
  authorRoles: [],
  autoApprove: []
}

/** Terms with what could not be read of them, where they were kept and not made here. */
export type KeptTerms = FolderPolicyTerms & { readonly malformations?: ReadonlyArray<string> }

const folderOf = (kept: KeptTerms, above: GoverningFolder | undefined): GoverningFolder => {
  const members = new Set<MemberId>()
  const roles = new Set<RoleId>()
  for (const owner of kept.owners) {
    if (owner._tag === "Member") members.add(owner.id)
    else roles.add(owner.id)
  }
  return {
    path: kept.path,
    terms: kept,
    members,
    roles,
    inherits: kept.inheritOwners ? above : undefined,
    malformations: kept.malformations ?? []
  }
}

/** A tree of policies. Of several for one path, the last one stands. */
export const make = (policies: ReadonlyArray<KeptTerms>): PolicyTree => {
  const byPath = new Map<string, KeptTerms>([[root, unsaid]])
  for (const policy of policies) byPath.set(policy.path, policy)
  // A path sorts after every path above it.
  const sorted = [...byPath.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1))

  const top: Place = { below: new Map(), governing: undefined }
  const folders: Array<GoverningFolder> = []
  for (const policy of sorted) {
    let place = top
    let above = top.governing
    if (policy.path !== root) {
      for (const segment of policy.path.split("/")) {
        let next = place.below.get(segment)
        if (next === undefined) {
          next = { below: new Map(), governing: undefined }
          place.below.set(segment, next)
        }
        place = next
        above = place.governing ?? above
      }
    }
    place.governing = folderOf(policy, above)
    folders.push(place.governing)
  }
  const rootFolder = top.governing ?? folderOf(unsaid, undefined)

  return {
    folders,
    governing: (path) => {
      let found = rootFolder
      let place: Place | undefined = top
      let from = 0
      while (from <= path.length) {
        const slash = path.indexOf("/", from)
        const end = slash === -1 ? path.length : slash
        place = place.below.get(path.slice(from, end))
        if (place === undefined) break
        found = place.governing ?? found
        from = end + 1
      }
      return found
    }
  }
}

/** The paths of a change, each once, by the folder that governs them, in the order of the folders' paths. */
export const byFolder = <Path extends string>(
  tree: PolicyTree,
  paths: Iterable<Path>
): ReadonlyArray<readonly [folder: GoverningFolder, paths: ReadonlyArray<Path>]> => {
  const groups = new Map<GoverningFolder, Array<Path>>()
  for (const path of new Set(paths)) {
    const folder = tree.governing(path)
    const group = groups.get(folder)
    if (group === undefined) groups.set(folder, [path])
    else group.push(path)
  }
  return [...groups].toSorted(([a], [b]) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
}
