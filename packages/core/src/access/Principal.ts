/**
 * Who acts: every use case takes its principal from the context, and background work runs as a stated one too.
 *
 * Source: decisions.md §3 ("A principal is …").
 */
import * as Context from "effect/Context"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import { ApiKeyId } from "../apikey/ApiKey.ts"
import { MemberId } from "../member/Member.ts"
import { OrganizationId } from "../organization/Organization.ts"
import type { Permission } from "../role/Permission.ts"
import { Role, RoleId } from "../role/Role.ts"
import { SessionId } from "../session/SessionId.ts"
import { ClientMetadata } from "./ClientMetadata.ts"

/** A key, with the keys that it replaced by rotation, nearest first: what one made, the next may reach. */
export const KeyLineage = Schema.Struct({ id: ApiKeyId, rotatedFrom: Schema.Array(ApiKeyId) })
export type KeyLineage = typeof KeyLineage.Type

/** What a principal proved itself by. */
export const Credential = Schema.TaggedUnion({
  ApiKey: KeyLineage.fields,
  /**
   * A session token of ours; `key` is the key that minted it, where one did. `ceiling` is what a session that is
   * minted by it cannot exceed; absent: what the member holds. `authenticatedAt` is when the member came by a token of
   * their own, where no key is behind it.
   */
  Session: {
    id: SessionId,
    key: Schema.optionalKey(KeyLineage),
    ceiling: Schema.optionalKey(Schema.Array(RoleId)),
    authenticatedAt: Schema.optionalKey(Schema.DateTimeUtc)
  },
  /** A token of the host's own identity provider; `ceiling` are the roles that it names, where it names any. */
  Token: { ceiling: Schema.optionalKey(Schema.Array(RoleId)) },
  /**
   * Background work, by its name: a schedule, retention. It acts as a stated member all the same; `key` is the key
   * that had it done, where one did, so that what it makes is within that key's reach.
   */
  System: { name: Schema.NonEmptyString, key: Schema.optionalKey(KeyLineage) }
})
export type Credential = typeof Credential.Type

/** What a principal is made of. */
const Fields = Schema.Struct({
  organizationId: OrganizationId,
  /** The owner: decides ownership, shares and the attribution of what it does. */
  memberId: MemberId,
  /** The effective roles: decide permissions. */
  roles: Schema.Array(Role),
  clientMetadata: Schema.optionalKey(ClientMetadata),
  /** True for a key without full member access: the owner's own items and direct shares do not count. */
  restricted: Schema.Boolean,
  /** Whether the member runs the platform itself: it alone sees the keys of staff (policy-cases K35, K36). Absent: no. */
  isSuperadmin: Schema.optionalKey(Schema.Boolean),
  credential: Credential
})
export type PrincipalFields = typeof Fields.Type

/** What a principal is made of, where what it lacks may be said to be undefined. */
export interface PrincipalParts extends Omit<PrincipalFields, "clientMetadata"> {
  readonly clientMetadata?: ClientMetadata | undefined
}

/**
 * Who acts, with what authority. It is made for every request, of parts that were checked when they came in: so it is a
 * plain class, whose making checks nothing once more. What acts later on its behalf keeps it as `KeptPrincipal`.
 */
export class Principal implements PrincipalFields {
  readonly organizationId: OrganizationId
  readonly memberId: MemberId
  readonly roles: ReadonlyArray<Role>
  declare readonly clientMetadata?: ClientMetadata
  readonly restricted: boolean
  readonly isSuperadmin: boolean
  readonly credential: Credential

  constructor(fields: PrincipalParts) {
    this.organizationId = fields.organizationId
    this.memberId = fields.memberId
    this.roles = fields.roles
    if (fields.clientMetadata !== undefined) this.clientMetadata = fields.clientMetadata
    this.restricted = fields.restricted
    this.isSuperadmin = fields.isSuperadmin ?? false
    this.credential = fields.credential
  }

  /** Whether any effective role grants the permission. */
  holds(permission: Permission): boolean {
    return this.roles.some((role) => role.permissions.includes(permission))
  }

  /** The key that the principal came by, also where it stands behind a session. */
  get key(): KeyLineage | undefined {
    switch (this.credential._tag) {
      case "ApiKey":
        return this.credential
      case "Session":
      case "System":
        return this.credential.key
      default:
        return undefined
    }
  }

  /** Whether the system role `admin` is among the effective roles. */
  get isAdmin(): boolean {
    return this.roles.some((role) => role.isAdmin)
  }
}

const ofFields = SchemaTransformation.transform({
  decode: (fields: PrincipalFields) => new Principal(fields),
  encode: (principal: Principal): PrincipalFields => ({ ...principal })
})

/** A principal as it is kept, its parts checked again when it is read. */
export const KeptPrincipal = Fields.pipe(
  Schema.decodeTo(
    // What is made at random for tests is made of parts as well.
    Schema.instanceOf(Principal, { toCodec: () => Schema.link<Principal>()(Schema.toType(Fields), ofFields) }),
    ofFields
  )
)

/**
 * The principal of the use case that is running. It is handed over with every request.
 *
 * @effect-leakable-service
 */
export class CurrentPrincipal extends Context.Service<CurrentPrincipal, Principal>()(
  "@castellan/core/access/Principal/CurrentPrincipal"
) {}
