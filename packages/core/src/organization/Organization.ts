/**
 * An organization: the tenant that owns everything else, with its settings. Nothing crosses from one to another.
 *
 * Source: decisions.md §3 ("Key expiry", "Rate limit", "Model configuration").
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Uuid } from "../identifier/Uuid.ts"
import { ModelNumber } from "../model/Model.ts"

/** An organization's id. */
export const OrganizationId = Uuid.pipe(Schema.brand("OrganizationId"))
export type OrganizationId = typeof OrganizationId.Type

/** How many requests an organization may send: a token bucket. */
export const RateLimit = Schema.Struct({
  /** Tokens that come back in a minute. */
  requestsPerMinute: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 })),
  /** Tokens that the bucket holds: requests that may come at once. */
  burst: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100_000 }))
})
export type RateLimit = typeof RateLimit.Type

/** The rate limit where an organization has set none. */
export const defaultRateLimit: RateLimit = { requestsPerMinute: 600, burst: 100 }

/** How long a key lives whose minter names no expiry. */
export const KeyExpiry = Schema.TaggedUnion({
  Never: {},
  /** The same bounds as `expirySeconds` of a key. */
  After: { seconds: Schema.Int.check(Schema.isBetween({ minimum: 60, maximum: 31_536_000 })) }
})
export type KeyExpiry = typeof KeyExpiry.Type

/** 90 days, where an organization has set nothing else. */
export const defaultKeyExpiry: KeyExpiry = { _tag: "After", seconds: 90 * 24 * 60 * 60 }

/** A tenant. */
export class Organization extends Schema.Class<Organization>("@castellan/core/organization/Organization")({
  id: OrganizationId,
  name: Schema.NonEmptyString,
  /** The model of a chat whose caller names none and whose roles set none. */
  defaultModel: Schema.optionalKey(ModelNumber),
  rateLimit: RateLimit.pipe(Schema.withConstructorDefault(Effect.succeed(defaultRateLimit))),
  keyExpiry: KeyExpiry.pipe(Schema.withConstructorDefault(Effect.succeed(defaultKeyExpiry))),
  createdAt: Schema.DateTimeUtc
}) {}
