/**
 * The roles that a credential has at a moment.
 *
 * Source: api-v2.md "Key model"; decisions.md §3 ("Effective roles of a key"); policy-cases K1 to K9, laws L5 and L6.
 */
import type { AssumedRoles } from "../apikey/ApiKey.ts"
import type { Role, RoleId } from "../role/Role.ts"

/**
 * The roles of a key: its snapshot, as far as its owner still holds them and they still exist; for a legacy key, all
 * that its owner holds. Never more than the owner's live roles.
 */
export const ofKey = (
  assumed: AssumedRoles,
  liveRoles: ReadonlyArray<RoleId>,
  existing: ReadonlyArray<Role>
): ReadonlyArray<Role> => {
  const live = new Set(liveRoles)
  const snapshot = assumed._tag === "Live" ? live : new Set(assumed.roles)
  return existing.filter((role) => live.has(role.id) && snapshot.has(role.id))
}
