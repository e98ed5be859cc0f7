/**
 * Who an object is shared with, on the wire.
 *
 * Source: decisions.md §3 ("Objects that carry access").
 */
import { type Access, AccessType, type Grant, Grantee } from "@castellan/core/access/Access"
import type { WantedAccess } from "@castellan/core/access/AccessChange"
import { MemberId } from "@castellan/core/member/Member"
import { RoleId } from "@castellan/core/role/Role"
import * as Schema from "effect/Schema"
import { flag, listOf, moment, oneOf, timestamp, uuid } from "../wire/WireValue.ts"

const memberId = uuid(MemberId, "The member that it is shared with; or `role_id`")
const roleId = uuid(RoleId, "The role whose holders it is shared with; or `member_id`")
const accessTypeDescription = "What the holder may do: `viewer` read, `editor` change, `owner` also share and delete"

/** One share of an object. */
export const GrantWire = Schema.Struct({
  member_id: Schema.optionalKey(memberId),
  role_id: Schema.optionalKey(roleId),
  access_type: AccessType.annotate({ description: accessTypeDescription }),
  granted_by: Schema.optionalKey(uuid(MemberId, "The member that shared it")),
  expires_at: Schema.optionalKey(timestamp("Until when it is shared; absent, for good"))
}).annotate({ identifier: "Grant", description: "One share of an object, with a member or with a role" })
export type GrantWire = typeof GrantWire.Type

/** Who an object is shared with. */
export const AccessWire = Schema.Struct({
  is_public: flag("Whether everybody in the organization may read it"),
  grants: Schema.Array(GrantWire).annotate({ description: "Every share" })
}).annotate({ identifier: "Access", description: "Who an object is shared with" })
export type AccessWire = typeof AccessWire.Type

const granteeRule = "must have either member_id or role_id"

/** A share as it shall be. Who granted it is not taken from a request: it is the caller, or whoever did before. */
export const GrantRequest = Schema.Struct({
  member_id: Schema.optionalKey(memberId),
  role_id: Schema.optionalKey(roleId),
  access_type: oneOf(AccessType.literals, accessTypeDescription),
  expires_at: Schema.optionalKey(moment("Until when it is shared; absent, for good"))
})
  .annotate({ message: "must be a JSON object", description: "A share as it shall be: with either a member or a role" })
  .check(
    Schema.makeFilter(({ member_id, role_id }) => (member_id === undefined) !== (role_id === undefined), {
      message: granteeRule
    })
  )
  .annotate({ identifier: "GrantRequest" })
export type GrantRequest = typeof GrantRequest.Type

/** Everything that an object shall be shared by. */
export const ReplaceAccessRequest = Schema.Struct({
  is_public: flag("Whether everybody in the organization may read it"),
  grants: listOf(GrantRequest, { maximum: 1_000 }, "grants", "Every share; the caller's own as owner always stays")
}).annotate({
  identifier: "ReplaceAccessRequest",
  description: "Everything that the object shall be shared by",
  message: "must be a JSON object"
})
export type ReplaceAccessRequest = typeof ReplaceAccessRequest.Type

/** Whom a share of a request is for. */
export const toGrantee = ({ member_id, role_id }: GrantRequest): Grantee | undefined => {
  if (member_id !== undefined) return Grantee.cases.Member.make({ id: member_id })
  return role_id === undefined ? undefined : Grantee.cases.Role.make({ id: role_id })
}

/** The access that a request asks for. */
export const toWantedAccess = (request: ReplaceAccessRequest): WantedAccess => ({
  isPublic: request.is_public,
  grants: request.grants.flatMap((grant) => {
    const grantee = toGrantee(grant)
    if (grantee === undefined) return []
    const expiry = grant.expires_at === undefined ? {} : { expiresAt: grant.expires_at }
    return [{ grantee, accessType: grant.access_type, ...expiry }]
  })
})

/** A share as the wire shows it. */
export const ofGrant = (grant: Grant): GrantWire => ({
  ...(grant.grantee._tag === "Member" ? { member_id: grant.grantee.id } : { role_id: grant.grantee.id }),
  access_type: grant.accessType,
  ...(grant.grantedBy === undefined ? {} : { granted_by: grant.grantedBy }),
  ...(grant.expiresAt === undefined ? {} : { expires_at: grant.expiresAt })
})

/** Who an object is shared with, as the wire shows it. */
export const ofAccess = (access: Access): AccessWire => ({
  is_public: access.isPublic,
  grants: access.grants.map(ofGrant)
})
