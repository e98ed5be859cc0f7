/**
 * An access as the audit log has it, before and after a change.
 */
import * as DateTime from "effect/DateTime"
import type * as Schema from "effect/Schema"
import type { Access, Grant } from "./Access.ts"

const recordOfGrant = (grant: Grant): Schema.JsonObject => ({
  ...(grant.grantee._tag === "Member" ? { memberId: grant.grantee.id } : { roleId: grant.grantee.id }),
  accessType: grant.accessType,
  ...(grant.grantedBy === undefined ? {} : { grantedBy: grant.grantedBy }),
  ...(grant.expiresAt === undefined ? {} : { expiresAt: DateTime.formatIso(grant.expiresAt) })
})

/** What can change of an access. */
export const recordOf = (access: Access): Schema.JsonObject => ({
  isPublic: access.isPublic,
  grants: access.grants.map(recordOfGrant)
})
