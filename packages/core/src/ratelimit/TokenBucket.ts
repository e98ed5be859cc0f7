/**
 * The token bucket that an organization's requests are counted by: it holds so many tokens, of which so many come back
 * in a minute, evenly; a request takes one.
 *
 * Source: decisions.md §3 ("Rate limit").
 */
import type { RateLimit } from "../organization/Organization.ts"

/** A bucket as it was at a moment. */
export interface TokenBucket {
  /** Tokens that were in it, fractions as well. */
  readonly level: number
  /** The moment, in milliseconds since 1970. */
  readonly at: number
}

/** What was taken out of a bucket. */
export interface Taken {
  /** Whole tokens that were given, none to all of those asked for. */
  readonly granted: number
  /** Tokens that are left, fractions as well. */
  readonly level: number
}

/** Tokens that come back in a millisecond. */
const perMillisecond = ({ requestsPerMinute }: RateLimit): number => requestsPerMinute / 60_000

/** A bucket at a later moment. A clock that lags behind the one that was there before brings no tokens. */
export const refilled = (bucket: TokenBucket | undefined, limit: RateLimit, now: number): TokenBucket => {
  if (bucket === undefined) return { level: limit.burst, at: now }
  const elapsed = Math.max(0, now - bucket.at)
  return { level: Math.min(limit.burst, bucket.level + elapsed * perMillisecond(limit)), at: bucket.at + elapsed }
}

/** Takes as many whole tokens as there are, and no more than asked for. A bucket that is not there yet is full. */
export const take = (
  bucket: TokenBucket | undefined,
  limit: RateLimit,
  most: number,
  now: number
): { readonly taken: Taken; readonly bucket: TokenBucket } => {
  const full = refilled(bucket, limit, now)
  const granted = Math.min(most, Math.floor(full.level))
  const level = full.level - granted
  return { taken: { granted, level }, bucket: { level, at: full.at } }
}

/** Milliseconds until a bucket at a level holds so many tokens. */
export const millisecondsUntil = (level: number, limit: RateLimit, tokens: number): number =>
  Math.max(0, tokens - level) / perMillisecond(limit)
