/**
 * An API key: its owner says who it is, its roles say what it may do.
 *
 * Source: api-v2.md "Key model"; decisions.md §3.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ClientMetadata } from "../access/ClientMetadata.ts"
import { Uuid } from "../identifier/Uuid.ts"
import { MemberId } from "../member/Member.ts"
import { OrganizationId } from "../organization/Organization.ts"
import { RoleId } from "../role/Role.ts"

/** An API key's id. */
export const ApiKeyId = Uuid.pipe(Schema.brand("ApiKeyId"))
export type ApiKeyId = typeof ApiKeyId.Type

/** SHA-256 of a key's value, in lower-case hexadecimal: all that is stored of it. */
export const ApiKeyHash = Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/)).pipe(Schema.brand("ApiKeyHash"))
export type ApiKeyHash = typeof ApiKeyHash.Type

/** The roles that a key assumes. */
export const AssumedRoles = Schema.TaggedUnion({
  /** The roles chosen at creation; never added to afterwards. An empty snapshot is no role, never all (K7). */
  Snapshot: { roles: Schema.Array(RoleId) },
  /** A legacy "All roles" key: whatever its owner holds now. Imported, never minted. */
  Live: {}
})
export type AssumedRoles = typeof AssumedRoles.Type

/** What happened to a key since its creation. Expiry is no state: it follows from the clock. */
export const ApiKeyStatus = Schema.TaggedUnion({
  Active: {},
  Revoked: { at: Schema.DateTimeUtc }
})
export type ApiKeyStatus = typeof ApiKeyStatus.Type

/** Characters of a key's name at most. */
export const nameLength = 200

/** Who was shown a key's value when it was made: by minting it, or by rotating the one before it. */
export const Minter = Schema.Struct({
  memberId: MemberId,
  /** The key by which they came, where they came by one. */
  apiKeyId: Schema.optionalKey(ApiKeyId)
})
export type Minter = typeof Minter.Type

/** An API key of an organization. */
export class ApiKey extends Schema.Class<ApiKey>("@castellan/core/apikey/ApiKey")({
  id: ApiKeyId,
  organizationId: OrganizationId,
  /** The member that it authenticates as. */
  owner: MemberId,
  name: Schema.optionalKey(Schema.String),
  clientMetadata: Schema.optionalKey(ClientMetadata),
  assumedRoles: AssumedRoles,
  /** Whether the owner's own items and direct shares count; without it the key is restricted. */
  fullMemberAccess: Schema.Boolean,
  hash: ApiKeyHash,
  status: ApiKeyStatus,
  /** The keys that it replaced by rotation, nearest first. */
  rotatedFrom: Schema.Array(ApiKeyId),
  /** The key that replaced it; it is revoked then, or at the latest works until the end of its grace. */
  replacedBy: Schema.optionalKey(ApiKeyId),
  /**
   * The key that minted it, the one that minted that, and so on, nearest first; empty where a person minted it. It has
   * no role that one of them lacks, and works only while all of them do (law L5).
   */
  ancestors: Schema.Array(ApiKeyId).pipe(Schema.withConstructorDefault(Effect.succeed([]))),
  /** Absent for a key that was imported, or made by the first start. */
  mintedBy: Schema.optionalKey(Minter),
  createdAt: Schema.DateTimeUtc,
  /** When it stops working; absent: never. */
  expiresAt: Schema.optionalKey(Schema.DateTimeUtc),
  /** When it was last used, to the minute; absent: never yet. */
  lastUsedAt: Schema.optionalKey(Schema.DateTimeUtc)
}) {}
