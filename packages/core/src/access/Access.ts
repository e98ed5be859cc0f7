/**
 * Who an object is shared with, and who made it.
 *
 * Source: decisions.md §3 ("Objects that carry access").
 */
import * as Schema from "effect/Schema"
import { ApiKeyId } from "../apikey/ApiKey.ts"
import { MemberId } from "../member/Member.ts"
import { RoleId } from "../role/Role.ts"
import { ClientMetadata } from "./ClientMetadata.ts"
import type { Principal } from "./Principal.ts"

/** What a grant lets its holder do, weakest first. */
export const AccessType = Schema.Literals(["viewer", "editor", "owner"])
export type AccessType = typeof AccessType.Type

/** Whom a grant is for. */
export const Grantee = Schema.TaggedUnion({
  Member: { id: MemberId },
  Role: { id: RoleId }
})
export type Grantee = typeof Grantee.Type

/** One share of an object. */
export const Grant = Schema.Struct({
  grantee: Grantee,
  accessType: AccessType,
  grantedBy: Schema.optionalKey(MemberId),
  expiresAt: Schema.optionalKey(Schema.DateTimeUtc)
})
export type Grant = typeof Grant.Type

/** Who made an object: the member, and the key and end user that acted for it. */
export const Creator = Schema.Struct({
  memberId: MemberId,
  apiKeyId: Schema.optionalKey(ApiKeyId),
  clientMetadata: Schema.optionalKey(ClientMetadata)
})
export type Creator = typeof Creator.Type

/** Everything that decides who reaches an object. */
export const Access = Schema.Struct({
  isPublic: Schema.Boolean,
  grants: Schema.Array(Grant),
  creator: Schema.optionalKey(Creator)
})
export type Access = typeof Access.Type

/** The principal as the maker of a new object. */
export const creatorOf = (principal: Principal): Creator => ({
  memberId: principal.memberId,
  ...(principal.key === undefined ? {} : { apiKeyId: principal.key.id }),
  ...(principal.clientMetadata === undefined ? {} : { clientMetadata: principal.clientMetadata })
})
