/**
 * The life of an API key: active until its expiry, or until it is revoked. Nothing revives one.
 *
 * | state    | revoke                  | rotate                        | use       |
 * |----------|-------------------------|-------------------------------|-----------|
 * | active   | revoked                 | replaced, with a successor    | is noted  |
 * | replaced | revoked                 | refused                       | is noted  |
 * | expired  | revoked                 | refused                       | no change |
 * | revoked  | refused                 | refused                       | no change |
 *
 * A replaced key is an active one in the grace of its rotation: the wire calls it active, then expired.
 *
 * Source: decisions.md §3 ("Key `status`", `rotate`); policy-cases K24, K27 to K29.
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { ApiKey, type ApiKeyHash, type ApiKeyId, ApiKeyStatus, type Minter } from "./ApiKey.ts"

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
  state: Schema.Literals(["expired", "revoked", "replaced"])
}) {
  override get message(): string {
    return this.state === "replaced" ? "the API key is already replaced" : `the API key is ${this.state}`
  }
}

/** Revokes a key that is active, replaced or expired. Revoking twice is refused. */
export const revoke = (key: ApiKey, now: DateTime.Utc): Result.Result<ApiKey, ApiKeyRefusal> =>
  key.status._tag === "Revoked"
    ? Result.fail(new ApiKeyRefusal({ state: "revoked" }))
    : Result.succeed(new ApiKey({ ...key, status: ApiKeyStatus.cases.Revoked.make({ at: now }) }))

/** What a rotation makes of one key. */
export interface Rotation {
  /** The key as it goes on: revoked now, or active to the end of its grace. */
  readonly retired: ApiKey
  /** The key that takes its place. */
  readonly successor: ApiKey
}

/** What is new about the key that takes another's place. */
export interface Succession {
  readonly id: ApiKeyId
  readonly hash: ApiKeyHash
  readonly mintedBy: Minter
  /** How long the old key goes on working, unless it expires sooner. */
  readonly grace: Duration.Duration
}

const retire = (key: ApiKey, { grace, id }: Succession, now: DateTime.Utc): ApiKey => {
  const replaced = new ApiKey({ ...key, replacedBy: id })
  if (Duration.isZero(grace)) {
    return new ApiKey({ ...replaced, status: ApiKeyStatus.cases.Revoked.make({ at: now }) })
  }
  const end = DateTime.addDuration(now, grace)
  return new ApiKey({ ...replaced, expiresAt: key.expiresAt === undefined ? end : DateTime.min(key.expiresAt, end) })
}

/**
 * Replaces an active key by one of the same owner, name, roles (copied, not taken anew), metadata, flag, ancestors and
 * remaining lifetime. An expired, revoked or replaced key is not rotated: nothing is revived (K28).
 */
export const rotate = (
  key: ApiKey,
  succession: Succession,
  now: DateTime.Utc
): Result.Result<Rotation, ApiKeyRefusal> => {
  const status = statusAt(key, now)
  if (status !== "active") return Result.fail(new ApiKeyRefusal({ state: status }))
  if (key.replacedBy !== undefined) return Result.fail(new ApiKeyRefusal({ state: "replaced" }))
  const { lastUsedAt: _, ...lasting } = key
  return Result.succeed({
    retired: retire(key, succession, now),
    successor: new ApiKey({
      ...lasting,
      id: succession.id,
      hash: succession.hash,
      mintedBy: succession.mintedBy,
      rotatedFrom: [key.id, ...key.rotatedFrom],
      createdAt: now
    })
  })
}

/** Uses within this time are one, so that a busy key is not written with every request. */
export const useInterval: Duration.Duration = Duration.minutes(1)

const useMillis = Duration.toMillis(useInterval)

/** Whether a use at a moment is long enough after the last one that was noted, where one was. */
export const isUseDue = (lastUsedAt: DateTime.Utc | undefined, at: DateTime.Utc): boolean =>
  lastUsedAt === undefined || DateTime.toEpochMillis(at) - DateTime.toEpochMillis(lastUsedAt) >= useMillis

/** Whether a use at a moment is worth being noted: the key works, and the last one was noted long enough ago. */
export const isUseNoted = (key: ApiKey, now: DateTime.Utc): boolean =>
  statusAt(key, now) === "active" && isUseDue(key.lastUsedAt, now)
