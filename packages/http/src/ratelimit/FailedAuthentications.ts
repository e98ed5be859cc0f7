/**
 * The limit on failed authentication of one client address. Past it, a failure is answered with 429 and not with 401.
 *
 * Only failures are counted, and only failures are refused: who has a valid credential gets in, however many others fail
 * behind the same proxy. That costs the look-up of a credential that is well-formed and was never issued; guessing one
 * is hopeless at any speed (256 random bits), so what the limit is for is to tell a client that goes round in circles
 * to stop, and to keep the audit and the log readable. A flood is for what stands in front of the service.
 *
 * It is counted in the memory of this server: a statement for every failure would help who means to do harm.
 *
 * Source: decisions.md §3 ("A separate limit per client address guards failed authentication").
 */
import { RateLimitExceeded } from "@castellan/core/error/Failure"
import * as TokenBucket from "@castellan/core/ratelimit/TokenBucket"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { HttpLimits } from "../HttpLimits.ts"
import * as ClientAddress from "../request/ClientAddress.ts"

/** Counts failures. */
export interface FailedAuthentications {
  /** Counts a failure of an address; fails when there were too many. */
  readonly count: (address: string) => Effect.Effect<void, RateLimitExceeded>
}

/** Addresses that are remembered at most; whoever failed longest ago is forgotten first. */
const maxAddresses = 10_000

/** Nothing has failed yet. */
export const make: Effect.Effect<FailedAuthentications> = Effect.map(HttpLimits, ({ failedAuthentications: limit }) => {
  const buckets = new Map<string, TokenBucket.TokenBucket>()
  return {
    count: Effect.fnUntraced(function* (address: string) {
      const now = yield* Clock.currentTimeMillis
      const holder = ClientAddress.holder(address)
      const { bucket, taken } = TokenBucket.take(buckets.get(holder), limit, 1, now)
      // Last in the order of the map: the first is the one that was seen longest ago.
      buckets.delete(holder)
      buckets.set(holder, bucket)
      const [oldest] = buckets.keys()
      if (buckets.size > maxAddresses && oldest !== undefined) buckets.delete(oldest)
      if (taken.granted > 0) return
      const wait = TokenBucket.millisecondsUntil(taken.level, limit, 1)
      return yield* new RateLimitExceeded({
        message: "Too many failed authentications from this address",
        retryAfterSeconds: Math.max(1, Math.ceil(wait / 1000))
      })
    })
  }
})
