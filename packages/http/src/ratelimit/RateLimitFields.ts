/**
 * What an answer says of the rate limit: the fields of the IETF draft "RateLimit header fields for HTTP".
 *
 * The draft knows a quota and its window. The policy's are the tokens that come back in a minute; the bucket's size is a
 * parameter of ours beside them, `burst`, which the draft has clients ignore that do not know it. `r` is how many
 * requests may come at once now, `t` in how many seconds the bucket is full.
 *
 * Source: decisions.md §3 ("`RateLimit-Policy` and `RateLimit` fields"); draft-ietf-httpapi-ratelimit-headers-10.
 */
import type { RateLimitStanding } from "@castellan/core/ratelimit/RateLimits"

/** Sets the fields among the headers of an answer, which go by their names in lower case. */
export const setFields = (
  headers: Record<string, string>,
  { limit, remaining, resetSeconds }: RateLimitStanding
): void => {
  headers["ratelimit-policy"] = `"organization";q=${limit.requestsPerMinute};w=60;burst=${limit.burst}`
  headers["ratelimit"] = `"organization";r=${remaining};t=${resetSeconds}`
}
