/**
 * The roles that a credential has at a moment.
 *
 * Source: api-v2.md "Key model"; decisions.md §3 ("Effective roles of a key"); policy-cases K1 to K9, laws L5 and L6.
 */
import type { AssumedRoles } from "../apikey/ApiKey.ts"
import type { Role, RoleId } from "../role/Role.ts"

/** What a key assumes, and what its owner holds now. */
export interface Holding {
  readonly assumed: AssumedRoles
  readonly liveRoles: ReadonlyArray<RoleId>
}

/**
 * The roles of a key: its snapshot, as far as its owner still holds them and they still exist; for a legacy key, all
 * that its owner holds. Never more than the owner's live roles.
 */
export const ofKey = (
  assumed: AssumedRoles,
  liveRoles: ReadonlyArray<RoleId>,
  existing: ReadonlyArray<Role>
): ReadonlyArray<Role> => {
  // Both are a few roles, which takes less to look through than a set takes to make.
  const has = ({ id }: Role) => liveRoles.includes(id) && (assumed._tag === "Live" || assumed.roles.includes(id))
  return existing.every(has) ? existing : existing.filter(has)
}

/**
 * The roles of a key that was minted by keys: what it and every one of them has now. So a key never has a role that
 * the key before it lacks, whatever became of either's owner since (law L5).
 */
export const ofLine = (
  key: Holding,
  ancestors: ReadonlyArray<Holding>,
  existing: ReadonlyArray<Role>
): ReadonlyArray<Role> =>
  ancestors.reduce(
    (roles, ancestor) => ofKey(ancestor.assumed, ancestor.liveRoles, roles),
    ofKey(key.assumed, key.liveRoles, existing)
  )

/** The roles of a token that names roles, or names none: what its member holds now, as far as it names them. */
export const ofCeiling = (
  ceiling: ReadonlyArray<RoleId> | undefined,
  liveRoles: ReadonlyArray<RoleId>,
  existing: ReadonlyArray<Role>
): ReadonlyArray<Role> =>
  ofKey(ceiling === undefined ? { _tag: "Live" } : { _tag: "Snapshot", roles: ceiling }, liveRoles, existing)

/** The roles of a session: those of its snapshot that still exist. They are not read live (policy-cases K40). */
export const ofSnapshot = (snapshot: ReadonlyArray<RoleId>, existing: ReadonlyArray<Role>): ReadonlyArray<Role> => {
  const taken = new Set(snapshot)
  return existing.filter((role) => taken.has(role.id))
}
