/**
 * Who there is in an organization to own folders and to approve changes, as of now: the active members with the roles
 * that they hold and that still exist. Authority of long ago counts for nothing (policy-cases A26, A27, O11).
 *
 * Source: api-v2.md "Approve" (rule 3: "its declared Owners plus every org admin"); decisions.md §8.
 */
import type { Member, MemberId } from "../member/Member.ts"
import type { Role, RoleId } from "../role/Role.ts"
import type { Holder } from "./OwnersPolicy.ts"
import type { GoverningFolder } from "./PolicyTree.ts"

/** An active member, as rules about approvals read it. */
export interface LiveMember extends Holder {
  readonly isServiceAccount: boolean
  /** The members that minted its keys, and those that minted theirs: in whose hands a service account is. */
  readonly controllers: ReadonlySet<MemberId>
}

/** Who minted keys of whom. */
export type Minters = ReadonlyMap<MemberId, Iterable<MemberId>>

/** The active members of an organization. */
export interface Population {
  readonly member: (id: MemberId) => LiveMember | undefined
  /** Every active member that holds a role. */
  readonly holding: (role: RoleId) => ReadonlySet<MemberId>
  readonly administrators: ReadonlySet<MemberId>
  readonly serviceAccounts: ReadonlyArray<LiveMember>
  readonly hasRole: (id: RoleId) => boolean
}

const nobody: ReadonlySet<MemberId> = new Set()

/** Everybody whom a member's keys lead back to; a ring of service accounts ends where it began. */
const controllersOf = (id: MemberId, minters: Minters): ReadonlySet<MemberId> => {
  const found = new Set<MemberId>()
  const waiting: Array<MemberId> = [id]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const minter of minters.get(next) ?? nobody) {
      if (found.has(minter)) continue
      found.add(minter)
      waiting.push(minter)
    }
  }
  found.delete(id)
  return found
}

/** The population of these members, roles and minted keys. Roles that do not exist are held by nobody. */
export const make = (
  members: ReadonlyArray<Pick<Member, "id" | "roles" | "status" | "isServiceAccount">>,
  roles: ReadonlyArray<Pick<Role, "id" | "isAdmin">>,
  minters: Minters = new Map()
): Population => {
  const adminOf = new Map(roles.map((role) => [role.id, role.isAdmin]))
  const live = new Map<MemberId, LiveMember>()
  const byRole = new Map<RoleId, Set<MemberId>>()
  const administrators = new Set<MemberId>()
  for (const member of members) {
    if (member.status._tag !== "Active") continue
    const held = new Set(member.roles.filter((role) => adminOf.has(role)))
    let isAdmin = false
    for (const role of held) {
      if (adminOf.get(role) === true) isAdmin = true
      const holders = byRole.get(role)
      if (holders === undefined) byRole.set(role, new Set([member.id]))
      else holders.add(member.id)
    }
    if (isAdmin) administrators.add(member.id)
    live.set(member.id, {
      memberId: member.id,
      roles: held,
      isAdmin,
      isServiceAccount: member.isServiceAccount,
      controllers: member.isServiceAccount ? controllersOf(member.id, minters) : nobody
    })
  }
  return {
    member: (id) => live.get(id),
    holding: (role) => byRole.get(role) ?? nobody,
    administrators,
    serviceAccounts: [...live.values()].filter((member) => member.isServiceAccount),
    hasRole: (id) => adminOf.has(id)
  }
}

/** The owners that a folder's own policy names, as far as they are still there. */
export const namedOwners = (population: Population, folder: GoverningFolder): ReadonlySet<MemberId> => {
  const found = new Set<MemberId>()
  for (const member of folder.members) if (population.member(member) !== undefined) found.add(member)
  for (const role of folder.roles) for (const member of population.holding(role)) found.add(member)
  return found
}

/** Everybody who could approve in a folder: its owners, those that it inherits, and every administrator. */
export const approversOf = (population: Population, folder: GoverningFolder): ReadonlySet<MemberId> => {
  const found = new Set(population.administrators)
  for (let at: GoverningFolder | undefined = folder; at !== undefined; at = at.inherits) {
    for (const member of namedOwners(population, at)) found.add(member)
  }
  return found
}

/** How many could approve in a folder, without those who are excluded. Administrators are counted, not gone through. */
export const countApprovers = (
  population: Population,
  folder: GoverningFolder,
  excluded: ReadonlySet<MemberId>
): number => {
  const { administrators } = population
  let count = administrators.size
  for (const member of excluded) if (administrators.has(member)) count -= 1
  const seen = new Set<MemberId>()
  const add = (member: MemberId): void => {
    if (administrators.has(member) || excluded.has(member) || seen.has(member)) return
    seen.add(member)
    count += 1
  }
  for (let at: GoverningFolder | undefined = folder; at !== undefined; at = at.inherits) {
    for (const member of at.members) if (population.member(member) !== undefined) add(member)
    for (const role of at.roles) population.holding(role).forEach(add)
  }
  return count
}

/**
 * Whether a folder names owners of whom nobody is left. Such a policy is broken: administrators alone own the folder
 * by it, and it approves nothing by itself (policy-cases O11).
 */
export const isOrphaned = (population: Population, folder: GoverningFolder): boolean =>
  folder.members.size + folder.roles.length > 0 && namedOwners(population, folder).size === 0
