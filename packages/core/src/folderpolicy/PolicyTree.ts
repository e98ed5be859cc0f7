/**
 * The folder policies of an organization as a tree of folders: an immutable index, built once for a set of policies, so
 * that finding the policy that governs a path costs as many steps as the path is deep, however many policies there are.
 * It holds policies, never decisions.
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
  /** The roles that the policy itself names as owners, each once. */
  readonly roles: ReadonlyArray<RoleId>
  /** The nearest folder above whose owners count here too; absent: they do not, or there is none. */
  readonly inherits: GoverningFolder | undefined
  /** What could not be read of the policy as it is kept. */
  readonly malformations: ReadonlyArray<string>
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

const noMembers: ReadonlySet<MemberId> = new Set()

/** Lists of roles by what they hold. */
type SharedRoles = Map<string, ReadonlyArray<RoleId>>

/**
 * One list for all that hold the same roles: policies by the thousand name few of them, and what every decision reads
 * stays in the processor's cache.
 */
const shared = (lists: SharedRoles, roles: ReadonlyArray<RoleId>): ReadonlyArray<RoleId> => {
  const key = roles.join()
  const known = lists.get(key)
  if (known !== undefined) return known
  lists.set(key, roles)
  return roles
}

const folderOf = (kept: KeptTerms, above: GoverningFolder | undefined, lists: SharedRoles): GoverningFolder => {
  const members = new Set<MemberId>()
  const roles = new Set<RoleId>()
  for (const owner of kept.owners) {
    if (owner._tag === "Member") members.add(owner.id)
    else roles.add(owner.id)
  }
  return {
    path: kept.path,
    terms: kept,
    members: members.size === 0 ? noMembers : members,
    roles: shared(lists, [...roles]),
    inherits: kept.inheritOwners ? above : undefined,
    malformations: kept.malformations ?? []
  }
}

/** Where the first `count` segments of a path end. */
const endOf = (path: string, count: number): number => {
  let end = -1
  for (let segment = 0; segment < count; segment += 1) {
    end = path.indexOf("/", end + 1)
    if (end === -1) return path.length
  }
  return end
}

const depthOf = (path: string): number => {
  let depth = path === root ? 0 : 1
  for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) depth += 1
  return depth
}

/** A tree of policies. Of several for one path, the last one stands. */
export const make = (policies: ReadonlyArray<KeptTerms>): PolicyTree => {
  const terms = new Map<string, KeptTerms>([[root, unsaid]])
  for (const policy of policies) terms.set(policy.path, policy)

  const byPath = new Map<string, GoverningFolder>()
  const lists: SharedRoles = new Map()
  const rootFolder = folderOf(terms.get(root) ?? unsaid, undefined, lists)
  let deepest = 0

  /** The nearest policy of a path: no folder below the deepest policy needs to be looked for. */
  const governing = (path: string): GoverningFolder => {
    for (let end = endOf(path, deepest); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const found = byPath.get(path.slice(0, end))
      if (found !== undefined) return found
    }
    return rootFolder
  }

  // A path sorts after every path above it, so that what is above is there when it is looked for.
  const sorted = [...terms.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1))
  const folders = sorted.map((policy) => {
    const folder = policy.path === root ? rootFolder : folderOf(policy, governing(policy.path), lists)
    byPath.set(policy.path, folder)
    deepest = Math.max(deepest, depthOf(policy.path))
    return folder
  })

  return { folders, governing }
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
