/**
 * Counts requests against the rate limit of their organization, over all servers of a deployment.
 *
 * A server does not ask the store for every request: it takes as many tokens at once as it has just needed in the life
 * of a lease, and spends them within the next one. What it has not spent by then is lost. So an organization with few
 * requests costs one statement a request, and one with many costs two a second and server.
 *
 * What that does to the limit can be said exactly. Tokens that are spent within a window were taken within the window or
 * one lease before it, and in no time does a bucket give more than its burst and what came back meanwhile. So in a
 * window of a minute, whatever the number of servers, no more than `burst + requestsPerMinute × (1 + lease / 60 s)` pass:
 * with a lease of half a second, less than 1 % above the limit. A lease begins when the store has answered; the time that
 * it takes to answer counts like a part of the lease. Nothing passes that found the bucket empty: until a token can have
 * come back, requests are refused without asking.
 *
 * Source: decisions.md §3 ("Rate limit").
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { RateLimitExceeded } from "../error/Failure.ts"
import { defaultRateLimit, type OrganizationId, type RateLimit } from "../organization/Organization.ts"
import { StorageUnavailable } from "../error/StorageUnavailable.ts"
import { OrganizationStore } from "../organization/OrganizationStore.ts"
import { RateLimitStore } from "./RateLimitStore.ts"
import * as TokenBucket from "./TokenBucket.ts"

/** Where an organization stands with its limit, after a request was counted. */
export interface RateLimitStanding {
  readonly limit: RateLimit
  /** Requests that may come at once now. */
  readonly remaining: number
  /** Seconds until the bucket is full again, if nothing comes meanwhile. */
  readonly resetSeconds: number
  /** Why this request may not go on; absent when it may. */
  readonly exceeded?: RateLimitExceeded
}

/** Counts requests. */
export class RateLimits extends Context.Service<
  RateLimits,
  {
    /** Counts a request of an organization, and says whether it may go on. */
    readonly count: (organizationId: OrganizationId) => Effect.Effect<RateLimitStanding>
  }
>()("@castellan/core/ratelimit/RateLimits") {}

/** How long tokens that a server has taken may be spent, in milliseconds. */
const lease = Duration.toMillis(Duration.millis(500))

/** How long a server goes by a limit that it has read: one that was changed is in force everywhere after this. */
const limitLife = Duration.toMillis(Duration.seconds(10))

/** How long an organization is remembered that sends nothing, in milliseconds. */
const idleLife = Duration.toMillis(Duration.minutes(5))

/** How long the store may take: nobody else of the organization gets through on this server meanwhile. */
const patience = Duration.seconds(5)

/** The store has not answered. */
const silent = new StorageUnavailable({ cause: `the rate limits did not answer within ${Duration.format(patience)}` })

/** What a server knows of an organization's bucket. */
class Purse {
  limit: RateLimit = defaultRateLimit
  /** When the limit was read; long ago at first. */
  limitReadAt = Number.NEGATIVE_INFINITY
  /** Tokens to spend, when they were asked for, and when they were there. */
  tokens = 0
  takenAt = Number.NEGATIVE_INFINITY
  givenAt = Number.NEGATIVE_INFINITY
  /** What was left in the bucket then. */
  level = 0
  /** Requests that asked since tokens were taken last, and those that ask now. */
  asked = 0
  waiting = 0
  /** Done when the store has answered; absent while nobody asks it. */
  taking: Deferred.Deferred<void> | undefined
  usedAt = 0

  /** Whether the tokens may still be spent. */
  isInForce(now: number): boolean {
    return now - this.givenAt < lease
  }

  /** What the bucket holds by now, as far as is known here. */
  levelAt(now: number): number {
    return TokenBucket.refilled({ level: this.level, at: this.takenAt }, this.limit, now).level
  }

  /** Whether no token can have come back since the bucket was found empty. */
  isEmpty(now: number): boolean {
    return this.level < 1 && this.takenAt > Number.NEGATIVE_INFINITY && this.levelAt(now) < 1
  }

  /**
   * How many requests a lease is likely to see: as many as have come since tokens were taken last, made up to a lease,
   * and at most twice as many, so that a few that came at once do not pass for a crowd.
   */
  expected(now: number): number {
    const elapsed = now - this.takenAt
    return elapsed < 2 * lease ? Math.floor(this.asked * Math.min(2, lease / elapsed)) : 0
  }

  standing(now: number): Omit<RateLimitStanding, "exceeded"> {
    const there = this.levelAt(now) + (this.isInForce(now) ? this.tokens : 0)
    return {
      limit: this.limit,
      // What is at hand here comes back to the bucket meanwhile, which never holds more than its burst.
      remaining: Math.max(0, Math.min(this.limit.burst, Math.floor(there))),
      resetSeconds: Math.ceil(TokenBucket.millisecondsUntil(there, this.limit, this.limit.burst) / 1000)
    }
  }
}

/** Counts requests by the buckets of the store, and the limits of the organizations. */
export const layer: Layer.Layer<RateLimits, never, OrganizationStore | RateLimitStore> = Layer.effect(
  RateLimits,
  Effect.gen(function* () {
    const store = yield* RateLimitStore
    const organizations = yield* OrganizationStore
    const purses = new Map<OrganizationId, Purse>()
    let tidiedAt = 0

    const purseOf = (id: OrganizationId, now: number): Purse => {
      if (now - tidiedAt > idleLife) {
        tidiedAt = now
        for (const [other, { taking, usedAt }] of purses) {
          if (taking === undefined && now - usedAt > idleLife) purses.delete(other)
        }
      }
      const found = purses.get(id)
      const purse = found ?? new Purse()
      if (found === undefined) purses.set(id, purse)
      purse.usedAt = now
      return purse
    }

    const readLimit = Effect.fnUntraced(function* (id: OrganizationId, purse: Purse, now: number) {
      if (now - purse.limitReadAt < limitLife) return
      const organization = yield* organizations.get(id)
      purse.limit = Option.match(organization, {
        onNone: () => defaultRateLimit,
        onSome: ({ rateLimit }) => rateLimit
      })
      purse.limitReadAt = now
    })

    /** Takes tokens for all that wait, and for as many as are likely to come within the lease. */
    const refill = Effect.fnUntraced(function* (id: OrganizationId, purse: Purse, now: number) {
      yield* readLimit(id, purse, now)
      const most = Math.max(purse.waiting, Math.min(purse.expected(now), Math.ceil(purse.limit.burst / 2)))
      const { granted, level } = yield* store.take(id, purse.limit, most, DateTime.makeUnsafe(now))
      purse.tokens = granted
      purse.level = level
      purse.takenAt = now
      // However long the store took: whoever waited for them is there to spend them.
      purse.givenAt = yield* Clock.currentTimeMillis
      purse.asked = 0
    })

    /** Has one fiber ask the store; whoever comes meanwhile waits for its answer. */
    const refillOnce = (id: OrganizationId, purse: Purse, now: number): Effect.Effect<void> =>
      // What others wait for must be on its way once it is announced.
      Effect.uninterruptibleMask((restore) => {
        if (purse.taking !== undefined) return restore(Deferred.await(purse.taking))
        const taking = Deferred.makeUnsafe<void>()
        purse.taking = taking
        const inTime = Effect.timeoutOrElse(refill(id, purse, now), {
          duration: patience,
          orElse: () => Effect.die(silent)
        })
        const refilling = Effect.onExit(inTime, (exit) => {
          purse.taking = undefined
          return Deferred.done(taking, Exit.asVoid(exit))
        })
        // In a fiber of its own: a client that leaves, or whose time is up, must not leave the others without an answer.
        return Effect.andThen(Effect.forkDetach(Effect.interruptible(refilling)), restore(Deferred.await(taking)))
      })

    /** Where a request stands by what is known here; nothing where the store has to be asked. */
    const decide = (purse: Purse, now: number): RateLimitStanding | undefined => {
      if (purse.tokens > 0 && purse.isInForce(now)) {
        purse.tokens -= 1
        return purse.standing(now)
      }
      if (!purse.isEmpty(now) || now - purse.limitReadAt >= limitLife) return undefined
      const wait = TokenBucket.millisecondsUntil(purse.levelAt(now), purse.limit, 1)
      return {
        ...purse.standing(now),
        exceeded: new RateLimitExceeded({
          message: "Rate limit exceeded",
          retryAfterSeconds: Math.max(1, Math.ceil(wait / 1000))
        })
      }
    }

    /** Asks the store, as often as it takes: others may be quicker to take what it gives. */
    const ask = Effect.fnUntraced(function* (id: OrganizationId, purse: Purse) {
      for (;;) {
        const now = yield* Clock.currentTimeMillis
        const standing = decide(purse, now)
        if (standing !== undefined) return standing
        yield* refillOnce(id, purse, now)
      }
    })

    // Most requests are decided here and now, which is a matter of two microseconds.
    const count = (id: OrganizationId): Effect.Effect<RateLimitStanding> =>
      Effect.clockWith((clock) => {
        const now = clock.currentTimeMillisUnsafe()
        const purse = purseOf(id, now)
        purse.asked += 1
        const standing = decide(purse, now)
        if (standing !== undefined) return Effect.succeed(standing)
        return Effect.uninterruptibleMask((restore) => {
          purse.waiting += 1
          return Effect.ensuring(
            restore(ask(id, purse)),
            Effect.sync(() => {
              purse.waiting -= 1
            })
          )
        })
      })

    return RateLimits.of({ count })
  })
)
