/**
 * The organization and its settings on the wire.
 *
 * Source: decisions.md §3 ("Key expiry", "Rate limit", "Model configuration").
 */
import { ModelNumber } from "@castellan/core/model/Model"
import { KeyExpiry, type Organization, OrganizationId } from "@castellan/core/organization/Organization"
import type { OrganizationPatch } from "@castellan/core/organization/OrganizationPatch"
import * as Schema from "effect/Schema"
import { boundedText, count, integerBetween, modelNumberOrNone, text, timestamp, uuid } from "../wire/WireValue.ts"

/** How many requests an organization may send. */
export const RateLimitWire = Schema.Struct({
  requests_per_minute: count("Requests in a minute, in the long run"),
  burst: count("Requests that may come at once")
}).annotate({ identifier: "RateLimit", description: "How many requests the organization may send" })
export type RateLimitWire = typeof RateLimitWire.Type

/** An organization. */
export const OrganizationWire = Schema.Struct({
  id: uuid(OrganizationId, "The organization's id"),
  name: text("The organization's name"),
  default_model_id: Schema.optionalKey(
    ModelNumber.annotate({ description: "The model of those whose roles set none, by its `model_id`" })
  ),
  rate_limit: RateLimitWire,
  key_expiry_seconds: Schema.optionalKey(
    count("How long a key lives whose maker names no expiry; absent, such a key never expires")
  ),
  created_at: timestamp("When the organization was made")
}).annotate({ identifier: "Organization", description: "The organization and its settings" })
export type OrganizationWire = typeof OrganizationWire.Type

/** What to change of a rate limit; what is absent stays. */
export const RateLimitRequest = Schema.Struct({
  requests_per_minute: Schema.optionalKey(integerBetween(1, 1_000_000, "Requests in a minute, in the long run")),
  burst: Schema.optionalKey(integerBetween(1, 100_000, "Requests that may come at once"))
}).annotate({
  identifier: "RateLimitRequest",
  description: "How many requests the organization may send",
  message: "must be a JSON object"
})
export type RateLimitRequest = typeof RateLimitRequest.Type

const keyExpiryRule = "must be 0, or an integer between 60 and 31536000"

/** What to change of an organization; what is absent stays. */
export const UpdateOrganizationRequest = Schema.Struct({
  name: Schema.optionalKey(boundedText({ minimum: 1, maximum: 200 }, "The organization's name")),
  default_model_id: Schema.optionalKey(
    integerBetween(0, 2_147_483_647, "The model of those whose roles set none, by its `model_id`; 0 clears it")
  ),
  rate_limit: Schema.optionalKey(RateLimitRequest),
  key_expiry_seconds: Schema.optionalKey(
    Schema.Number.annotate({ message: keyExpiryRule }).check(
      Schema.isInt({ message: keyExpiryRule }),
      Schema.makeFilter((seconds: number) => seconds === 0 || seconds >= 60, { message: keyExpiryRule }),
      Schema.isBetween(
        { minimum: 0, maximum: 31_536_000 },
        {
          message: keyExpiryRule,
          description: "How long a key lives whose maker names no expiry, at least 60; 0 lets such a key never expire"
        }
      )
    )
  )
}).annotate({
  identifier: "UpdateOrganizationRequest",
  description: "What to change of the organization; what is absent stays",
  message: "must be a JSON object"
})
export type UpdateOrganizationRequest = typeof UpdateOrganizationRequest.Type

/** The change of a request, in the domain's terms. */
export const toOrganizationPatch = (request: UpdateOrganizationRequest): OrganizationPatch => {
  const { default_model_id, key_expiry_seconds, name, rate_limit } = request
  return {
    ...(name === undefined ? {} : { name }),
    ...(default_model_id === undefined ? {} : { defaultModel: modelNumberOrNone(default_model_id) }),
    ...(rate_limit === undefined
      ? {}
      : {
          rateLimit: {
            ...(rate_limit.requests_per_minute === undefined
              ? {}
              : { requestsPerMinute: rate_limit.requests_per_minute }),
            ...(rate_limit.burst === undefined ? {} : { burst: rate_limit.burst })
          }
        }),
    ...(key_expiry_seconds === undefined ? {} : { keyExpiry: toKeyExpiry(key_expiry_seconds) })
  }
}

const toKeyExpiry = (seconds: number): KeyExpiry =>
  seconds === 0 ? KeyExpiry.cases.Never.make({}) : KeyExpiry.cases.After.make({ seconds })

/** An organization as the wire shows it. */
export const ofOrganization = (organization: Organization): OrganizationWire => ({
  id: organization.id,
  name: organization.name,
  ...(organization.defaultModel === undefined ? {} : { default_model_id: organization.defaultModel }),
  rate_limit: {
    requests_per_minute: organization.rateLimit.requestsPerMinute,
    burst: organization.rateLimit.burst
  },
  ...(organization.keyExpiry._tag === "Never" ? {} : { key_expiry_seconds: organization.keyExpiry.seconds }),
  created_at: organization.createdAt
})
