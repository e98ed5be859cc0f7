/**
 * Who acts: every use case takes its principal from the context, and background work runs as a stated one too.
 *
 * Source: decisions.md §3 ("A principal is …").
 */
import * as Context from "effect/Context"
import * as Schema from "effect/Schema"
import { ApiKeyId } from "../apikey/ApiKey.ts"
import { MemberId } from "../member/Member.ts"
import { OrganizationId } from "../organization/Organization.ts"
import type { Permission } from "../role/Permission.ts"
import { Role } from "../role/Role.ts"
import { ClientMetadata } from "./ClientMetadata.ts"

/** What a principal proved itself by. */
export const Credential = Schema.TaggedUnion({
  ApiKey: {
    id: ApiKeyId,
    /** The keys that this one replaced by rotation. */
    rotatedFrom: Schema.Array(ApiKeyId)
  }
})
export type Credential = typeof Credential.Type

/** Who acts, with what authority. */
export class Principal extends Schema.Class<Principal>("@castellan/core/access/Principal")({
  organizationId: OrganizationId,
  /** The owner: decides ownership, shares and the attribution of what it does. */
  memberId: MemberId,
  /** The effective roles: decide permissions. */
  roles: Schema.Array(Role),
  clientMetadata: Schema.optionalKey(ClientMetadata),
  /** True for a key without full member access: the owner's own items and direct shares do not count. */
  restricted: Schema.Boolean,
  credential: Credential
}) {
  /** Whether any effective role grants the permission. */
  holds(permission: Permission): boolean {
    return this.roles.some((role) => role.permissions.includes(permission))
  }

  /** Whether the system role `admin` is among the effective roles. */
  get isAdmin(): boolean {
    return this.roles.some((role) => role.isAdmin)
  }
}

/**
 * The principal of the use case that is running. It is handed over with every request.
 *
 * @effect-leakable-service
 */
export class CurrentPrincipal extends Context.Service<CurrentPrincipal, Principal>()(
  "@castellan/core/access/Principal/CurrentPrincipal"
) {}
