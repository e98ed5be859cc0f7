/**
 * How legacy mappings of SCIM groups, to a role's name, become mappings to a role.
 *
 * Source: decisions.md §9 ("`MigrateAllScimGroupMappings`").
 */
import type { Role } from "../role/Role.ts"
import type { ScimGroupMapping } from "./ScimGroupMapping.ts"

/** Where one legacy mapping goes. */
export interface ScimMove {
  readonly mapping: ScimGroupMapping
  /** The name of the role; it is unique, so that it says which. */
  readonly roleName: string
}

/** What a migration does. */
export interface ScimMigration {
  /** Every legacy mapping. */
  readonly moves: ReadonlyArray<ScimMove>
  /** The names that no role bears yet: a role is made for each, once. */
  readonly missing: ReadonlyArray<string>
}

/** The migration of an organization's mappings: nothing to do where no legacy mapping is left. */
export const plan = (mappings: ReadonlyArray<ScimGroupMapping>, roles: ReadonlyArray<Role>): ScimMigration => {
  const borne = new Set(roles.map((role) => role.name))
  const moves = mappings.flatMap((mapping) =>
    mapping.target._tag === "RoleName" ? [{ mapping, roleName: mapping.target.name }] : []
  )
  return {
    moves,
    missing: [...new Set(moves.map((move) => move.roleName))].filter((name) => !borne.has(name))
  }
}
