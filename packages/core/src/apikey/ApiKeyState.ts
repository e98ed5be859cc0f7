/**
 * The life of an API key: active until its expiry, or until it is revoked. Nothing revives one.
 *
 * Source: decisions.md §3 ("Key `status`"); policy-cases K24, K28.
 */
import * as DateTime from "effect/DateTime"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { ApiKey, ApiKeyStatus } from "./ApiKey.ts"

/** A key's status as the wire names it. */
export type ApiKeyStatusAt = "active" | "expired" | "revoked"

/** The status at a moment. At the very moment of expiry a key has expired (K24). */
export const statusAt = (key: ApiKey, now: DateTime.Utc): ApiKeyStatusAt => {
  if (key.status._tag === "Revoked") return "revoked"
  if (key.expiresAt !== undefined && DateTime.isGreaterThanOrEqualTo(now, key.expiresAt)) return "expired"
  return "active"
}

/** A transition that the key's state does not allow. */
export class ApiKeyRefusal extends Schema.TaggedError<ApiKeyRefusal>()("ApiKeyRefusal", {
  state: Schema.Literals(["expired", "revoked"])
}) {
  override get message(): string {
    return `the API key is ${this.state}`
  }
}

/** Revokes an active or expired key. Revoking twice is refused. */
export const revoke = (key: ApiKey, now: DateTime.Utc): Result.Result<ApiKey, ApiKeyRefusal> =>
  key.status._tag === "Revoked"
    ? Result.fail(new ApiKeyRefusal({ state: "revoked" }))
    : Result.succeed(new ApiKey({ ...key, status: ApiKeyStatus.cases.Revoked.make({ at: now }) }))
