/**
 * The port that keeps one token bucket an organization, for all servers of a deployment.
 *
 * Source: decisions.md §3 ("a token bucket per organization").
 */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { RateLimiterStore } from "effect/persistence/RateLimiter"
import { StorageUnavailable } from "../error/StorageUnavailable.ts"
import type { OrganizationId, RateLimit } from "../organization/Organization.ts"
import * as TokenBucket from "./TokenBucket.ts"

/** Keeps the buckets. They may be lost with the storage: a bucket that is not there is full. */
export class RateLimitStore extends Context.Service<
  RateLimitStore,
  {
    /**
     * Takes as many tokens as the organization's bucket holds, and no more than `most` (at least 1). Atomic: no token
     * is given twice. The limit is the one in force now; it may be another one than the last time.
     */
    readonly take: (
      organizationId: OrganizationId,
      limit: RateLimit,
      most: number,
      now: DateTime.Utc
    ) => Effect.Effect<TokenBucket.Taken>
  }
>()("@castellan/core/ratelimit/RateLimitStore") {}

/** Keeps the buckets in memory, for a deployment of one server. */
export const layerMemory: Layer.Layer<RateLimitStore> = Layer.sync(RateLimitStore, () => {
  const buckets = new Map<OrganizationId, TokenBucket.TokenBucket>()
  return RateLimitStore.of({
    take: (organizationId, limit, most, now) =>
      Effect.sync(() => {
        const { bucket, taken } = TokenBucket.take(
          buckets.get(organizationId),
          limit,
          most,
          DateTime.toEpochMillis(now)
        )
        buckets.set(organizationId, bucket)
        return taken
      })
  })
})

/**
 * Keeps the buckets in a store of Effect's rate limiter, such as its Redis one. It has no word for "as many as there
 * are": where there are fewer tokens than asked for, it is asked a second time, for those.
 */
export const layerRateLimiter: Layer.Layer<RateLimitStore, never, RateLimiterStore> = Layer.effect(
  RateLimitStore,
  Effect.map(RateLimiterStore, (store) => {
    const consume = (organizationId: OrganizationId, limit: RateLimit, tokens: number) =>
      store
        .tokenBucket({
          key: `castellan/organization/${organizationId}`,
          tokens,
          limit: limit.burst,
          refillRate: Duration.millis(60_000 / limit.requestsPerMinute),
          allowOverflow: false
        })
        .pipe(
          Effect.map(([remaining]) => remaining),
          Effect.catch((cause) => Effect.die(new StorageUnavailable({ cause })))
        )

    return RateLimitStore.of({
      take: Effect.fnUntraced(function* (organizationId, limit, most) {
        const asked = Math.min(most, limit.burst)
        const remaining = yield* consume(organizationId, limit, asked)
        if (remaining >= 0) return { granted: asked, level: remaining }
        const there = Math.floor(asked + remaining)
        if (there < 1) return { granted: 0, level: asked + remaining }
        const left = yield* consume(organizationId, limit, there)
        return left >= 0 ? { granted: there, level: left } : { granted: 0, level: 0 }
      })
    })
  })
)
