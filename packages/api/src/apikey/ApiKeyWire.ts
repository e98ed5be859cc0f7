/**
 * API keys on the wire. A key's value is in the one answer of its making, and nowhere else.
 *
 * Source: api-v2.md "API key record", "API keys"; decisions.md §3.
 */
import { type ApiKey, ApiKeyId } from "@castellan/core/apikey/ApiKey"
import type { IssuedApiKey, RotatedApiKey } from "@castellan/core/apikey/ApiKeys"
import { statusAt } from "@castellan/core/apikey/ApiKeyState"
import { MemberId } from "@castellan/core/member/Member"
import type { Slice } from "@castellan/core/page/Page"
import { RoleId } from "@castellan/core/role/Role"
import type * as DateTime from "effect/DateTime"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { nextPageToken, pageFields, type SealPosition } from "../wire/PageWire.ts"
import { boundedText, flag, integerBetween, listOf, oneOf, text, timestamp, uuid } from "../wire/WireValue.ts"

/** Whether a key works, in the wire's words. Expiry follows from the clock. */
export const ApiKeyStatusWire = Schema.Literals(["active", "expired", "revoked"]).annotate({
  description: "Whether the key works"
})
export type ApiKeyStatusWire = typeof ApiKeyStatusWire.Type

/** An API key without its value. */
export const ApiKeyWire = Schema.Struct({
  id: uuid(ApiKeyId, "The key's id"),
  member_id: uuid(MemberId, "The member that the key authenticates as"),
  name: Schema.optionalKey(text("The name to show")),
  client_id: Schema.optionalKey(text("The client metadata, as they were sent")),
  assumed_roles: Schema.Array(uuid(RoleId, "A role's id")).annotate({
    description: "The roles that were chosen when the key was made; empty for a legacy key of all roles"
  }),
  all_roles: flag("Whether the key is a legacy one, which has whatever roles its owner has now"),
  full_member_access: flag("Whether what the owner may reach beside the roles counts"),
  status: ApiKeyStatusWire,
  created_at: timestamp("When the key was made"),
  expires_at: Schema.optionalKey(timestamp("When the key stops working; absent, never")),
  revoked_at: Schema.optionalKey(timestamp("When the key was revoked")),
  last_used_at: Schema.optionalKey(timestamp("When the key was last used, to the minute; absent, never yet"))
}).annotate({ identifier: "ApiKey", description: "An API key without its value" })
export type ApiKeyWire = typeof ApiKeyWire.Type

const key = text("The key itself, to be sent as it is. It is shown this once, and cannot be had again")

/** A key that was just made. */
export const MintedApiKeyWire = Schema.Struct({ key, api_key: ApiKeyWire }).annotate({
  identifier: "MintedApiKey",
  description: "A key that was just made, with its value"
})
export type MintedApiKeyWire = typeof MintedApiKeyWire.Type

/** A key that takes the place of another. */
export const RotatedApiKeyWire = Schema.Struct({
  key,
  api_key: ApiKeyWire,
  revoked_api_key_id: uuid(ApiKeyId, "The key that was replaced")
}).annotate({ identifier: "RotatedApiKey", description: "A key that takes the place of another, with its value" })
export type RotatedApiKeyWire = typeof RotatedApiKeyWire.Type

/** A page of keys. */
export const ApiKeyListWire = Schema.Struct({
  api_keys: Schema.Array(ApiKeyWire).annotate({ description: "The keys of this page, newest first" }),
  next_page_token: nextPageToken
}).annotate({ identifier: "ApiKeyList", description: "A page of keys" })
export type ApiKeyListWire = typeof ApiKeyListWire.Type

/** A key was revoked. */
export const ApiKeyRevocationWire = Schema.Struct({
  id: uuid(ApiKeyId, "The key that was revoked"),
  success: flag("Always true")
}).annotate({ identifier: "ApiKeyRevocation", description: "A key was revoked" })
export type ApiKeyRevocationWire = typeof ApiKeyRevocationWire.Type

/** A key to be made. */
export const MintApiKeyRequest = Schema.Struct({
  expirySeconds: Schema.optionalKey(
    integerBetween(60, 31_536_000, "Seconds until the key stops working; absent, what the organization has set")
  ),
  assumedRoles: Schema.optionalKey(
    listOf(
      uuid(RoleId, "A role's id"),
      { maximum: 100 },
      "role ids",
      "The roles of the key: only such as the caller holds. Not together with `inheritAllRoles`"
    )
  ),
  inheritAllRoles: Schema.optionalKey(
    flag("True takes every role that the owner holds now; required where `assumedRoles` is empty")
  ),
  name: Schema.optionalKey(boundedText({ minimum: 1, maximum: 200 }, "The name to show")),
  targetMemberId: Schema.optionalKey(
    uuid(MemberId, "The service account to make the key for; absent, the caller. It needs `organization:write`")
  ),
  clientId: Schema.optionalKey(
    boundedText(
      { minimum: 0, maximum: 16_384 },
      "Client metadata: a JSON object as text, whose fields row-level security reads as `_svc.client_attributes_json.<field>`"
    )
  ),
  fullMemberAccess: Schema.optionalKey(
    flag("True lets the key reach what the owner may reach beside the roles: own items and direct shares")
  )
}).annotate({ identifier: "MintApiKeyRequest", description: "A key to be made", message: "must be a JSON object" })
export type MintApiKeyRequest = typeof MintApiKeyRequest.Type

/** How to rotate a key. */
export const RotateApiKeyRequest = Schema.Struct({
  graceSeconds: Schema.optionalKey(
    integerBetween(0, 86_400, "Seconds for which the old key goes on working")
  ).annotateKey({ default: 0 })
}).annotate({ identifier: "RotateApiKeyRequest", description: "How to rotate a key", message: "must be a JSON object" })
export type RotateApiKeyRequest = typeof RotateApiKeyRequest.Type

/** Which keys to list. */
export const ListApiKeysQuery = Schema.Struct({
  ...pageFields("keys"),
  scope: Schema.optionalKey(
    oneOf(
      ["personal", "all", "service_accounts"],
      "Whose keys; absent, every one that the caller may see. `all` and `service_accounts` need `organization:read`"
    )
  ),
  include_revoked: Schema.optionalKey(flag("Whether revoked keys are listed too")).annotateKey({ default: false })
})
export type ListApiKeysQuery = typeof ListApiKeysQuery.Type

/** A key as the wire shows it at a moment. */
export const ofApiKey = (apiKey: ApiKey, now: DateTime.Utc): ApiKeyWire => ({
  id: apiKey.id,
  member_id: apiKey.owner,
  ...(apiKey.name === undefined ? {} : { name: apiKey.name }),
  ...(apiKey.clientMetadata === undefined ? {} : { client_id: apiKey.clientMetadata.text }),
  assumed_roles: apiKey.assumedRoles._tag === "Snapshot" ? apiKey.assumedRoles.roles : [],
  all_roles: apiKey.assumedRoles._tag === "Live",
  full_member_access: apiKey.fullMemberAccess,
  status: statusAt(apiKey, now),
  created_at: apiKey.createdAt,
  ...(apiKey.expiresAt === undefined ? {} : { expires_at: apiKey.expiresAt }),
  ...(apiKey.status._tag === "Revoked" ? { revoked_at: apiKey.status.at } : {}),
  ...(apiKey.lastUsedAt === undefined ? {} : { last_used_at: apiKey.lastUsedAt })
})

/** A page of keys as the wire shows it at a moment. */
export const ofApiKeys = (slice: Slice<ApiKey>, now: DateTime.Utc, seal: SealPosition): ApiKeyListWire => ({
  api_keys: slice.items.map((apiKey) => ofApiKey(apiKey, now)),
  ...(slice.next === undefined ? {} : { next_page_token: seal(slice.next) })
})

/** A key that was just made, as the wire shows it: the one time that its value is told. */
export const ofIssued = ({ apiKey, secret }: IssuedApiKey, now: DateTime.Utc): MintedApiKeyWire => ({
  key: Redacted.value(secret),
  api_key: ofApiKey(apiKey, now)
})

/** A key in place of another, as the wire shows it. */
export const ofRotated = (rotated: RotatedApiKey, now: DateTime.Utc): RotatedApiKeyWire => ({
  ...ofIssued(rotated, now),
  revoked_api_key_id: rotated.retired.id
})
