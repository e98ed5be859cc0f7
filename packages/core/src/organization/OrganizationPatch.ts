/**
 * A partial change of an organization's settings, as a caller asks for it.
 *
 * Source: decisions.md §3 ("settable per organization").
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { InvalidRequest } from "../error/Failure.ts"
import type { ModelNumber } from "../model/Model.ts"
import { KeyExpiry, Organization, RateLimit } from "./Organization.ts"

/** What to change; what is absent stays. */
export interface OrganizationPatch {
  readonly name?: string
  /** The default model; 0 clears it. */
  readonly defaultModel?: ModelNumber | 0
  readonly rateLimit?: Partial<RateLimit>
  readonly keyExpiry?: KeyExpiry
}

const OrganizationName = Schema.Trimmed.check(Schema.isNonEmpty(), Schema.isMaxLength(200))

const isOrganizationName = Schema.is(OrganizationName)
const isRateLimit = Schema.is(RateLimit)
const isKeyExpiry = Schema.is(KeyExpiry)

/** The organization with a patch applied, or which field cannot be what it is to be. */
export const apply = (
  organization: Organization,
  patch: OrganizationPatch
): Result.Result<Organization, InvalidRequest> => {
  const { defaultModel: presetModel, ...rest } = organization
  const name = patch.name?.trim() ?? organization.name
  const rateLimit = { ...organization.rateLimit, ...patch.rateLimit }
  const keyExpiry = patch.keyExpiry ?? organization.keyExpiry
  const defaultModel = patch.defaultModel ?? presetModel
  if (patch.name !== undefined && !isOrganizationName(name)) {
    return Result.fail(new InvalidRequest({ message: "name: must have 1 to 200 characters" }))
  }
  if (!isRateLimit(rateLimit)) {
    return Result.fail(
      new InvalidRequest({
        message: "rate_limit: requests_per_minute must be 1 to 1,000,000 and burst 1 to 100,000, in whole numbers"
      })
    )
  }
  if (!isKeyExpiry(keyExpiry)) {
    return Result.fail(
      new InvalidRequest({ message: "key_expiry: must be never, or 60 to 31,536,000 seconds in whole numbers" })
    )
  }
  return Result.succeed(
    new Organization({
      ...rest,
      name,
      rateLimit,
      keyExpiry,
      ...(defaultModel === undefined || defaultModel === 0 ? {} : { defaultModel })
    })
  )
}
