/**
 * A key as the audit log has it. Neither its value nor the hash of it is in it (policy-cases K39).
 */
import * as DateTime from "effect/DateTime"
import type * as Schema from "effect/Schema"
import type { ApiKey } from "./ApiKey.ts"

/** What a key is, its value and hash left out. */
export const recordOf = (key: ApiKey): Schema.JsonObject => ({
  id: key.id,
  owner: key.owner,
  ...(key.name === undefined ? {} : { name: key.name }),
  ...(key.clientMetadata === undefined ? {} : { clientMetadata: key.clientMetadata.text }),
  assumedRoles: key.assumedRoles._tag === "Snapshot" ? key.assumedRoles.roles : "all",
  fullMemberAccess: key.fullMemberAccess,
  ancestors: key.ancestors,
  ...(key.replacedBy === undefined ? {} : { replacedBy: key.replacedBy }),
  ...(key.expiresAt === undefined ? {} : { expiresAt: DateTime.formatIso(key.expiresAt) }),
  ...(key.status._tag === "Revoked" ? { revokedAt: DateTime.formatIso(key.status.at) } : {})
})
