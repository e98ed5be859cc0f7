/**
 * A member as administrators see it, with the roles behind the ids.
 *
 * Source: decisions.md §3 (`GET /v2/members`).
 */
import type * as Schema from "effect/Schema"
import type { Role } from "../role/Role.ts"
import type { Member } from "./Member.ts"

/** A member with the roles that it holds. */
export interface MemberView {
  readonly member: Member
  /** The roles that exist still, in the order of their creation. */
  readonly roles: ReadonlyArray<Role>
  readonly isAdmin: boolean
}

/** A member among the roles of its organization. */
export const viewOf = (member: Member, existing: ReadonlyArray<Role>): MemberView => {
  const roles = existing.filter((role) => member.roles.includes(role.id))
  return { member, roles, isAdmin: roles.some((role) => role.isAdmin) }
}

/** A member as the audit log has it: what can change of it. */
export const recordOf = (member: Member): Schema.JsonObject => ({
  email: member.email,
  ...(member.name === undefined ? {} : { name: member.name }),
  roles: member.roles,
  status: member.status._tag.toLowerCase()
})
