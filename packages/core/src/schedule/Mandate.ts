/**
 * A mandate: the authority that somebody left behind for work that is done later without them. It is what they had at
 * that moment, and never more than their member has when the work is done.
 *
 * Source: architecture.md §2 ("Background work runs as a stated principal too"); api-v2.md "Key model" (a snapshot,
 * intersected with the owner's live roles), which holds for this in the same way.
 */
import * as Schema from "effect/Schema"
import { ClientMetadata } from "../access/ClientMetadata.ts"
import { Credential, KeyLineage, Principal } from "../access/Principal.ts"
import type { Member } from "../member/Member.ts"
import { MemberId } from "../member/Member.ts"
import { type Role, RoleId } from "../role/Role.ts"

/** The authority that somebody left behind. */
export const Mandate = Schema.Struct({
  memberId: MemberId,
  /** The roles that were effective. */
  roles: Schema.Array(RoleId),
  restricted: Schema.Boolean,
  clientMetadata: Schema.optionalKey(ClientMetadata),
  /** The key by which they came, where they came by one. */
  key: Schema.optionalKey(KeyLineage)
})
export type Mandate = typeof Mandate.Type

/** What a principal leaves behind. */
export const mandateOf = (principal: Principal): Mandate => ({
  memberId: principal.memberId,
  roles: principal.roles.map((role) => role.id),
  restricted: principal.restricted,
  ...(principal.clientMetadata === undefined ? {} : { clientMetadata: principal.clientMetadata }),
  ...(principal.key === undefined ? {} : { key: principal.key })
})

/** The credential of background work, with the key behind it. */
export const systemCredential = (name: string, key: KeyLineage | undefined): Credential =>
  Credential.cases.System.make({
    name,
    ...(key === undefined ? {} : { key: { id: key.id, rotatedFrom: key.rotatedFrom } })
  })

/**
 * Who carries a mandate out now: its roles as far as its member still holds them and they still exist. A member who
 * is not active any more has none.
 */
export const principalOf = (
  name: string,
  mandate: Mandate,
  member: Pick<Member, "organizationId" | "roles" | "status">,
  existing: ReadonlyArray<Role>
): Principal => {
  const held = new Set(member.status._tag === "Active" ? member.roles : [])
  const left = new Set(mandate.roles)
  return new Principal({
    organizationId: member.organizationId,
    memberId: mandate.memberId,
    roles: existing.filter((role) => held.has(role.id) && left.has(role.id)),
    ...(mandate.clientMetadata === undefined ? {} : { clientMetadata: mandate.clientMetadata }),
    restricted: mandate.restricted,
    credential: systemCredential(name, mandate.key)
  })
}
