/**
 * What a token of an identity provider has to say: who issued it and for whom, the member and the organization, and
 * until when. Whose roles it names is its own to say; without any, they are read live.
 *
 * Source: decisions.md §3 ("`iss`, `aud`, `exp`, `sub` (member id) and `org` (organization id)"); RFC 7519 §4.1.
 */
import { MemberId } from "@castellan/core/member/Member"
import { OrganizationId } from "@castellan/core/organization/Organization"
import { RoleId } from "@castellan/core/role/Role"
import type { Identity } from "@castellan/core/session/IdentityTokens"
import * as DateTime from "effect/DateTime"
import * as Schema from "effect/Schema"

/** Seconds of the epoch, with a fraction; up to the latest moment that a date can have. */
const NumericDate = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 8_640_000_000_000 }))

/** The claims that are read. Others are the identity provider's own affair. */
export const IdentityClaims = Schema.Struct({
  iss: Schema.String,
  aud: Schema.Union([Schema.String, Schema.Array(Schema.String)]),
  sub: MemberId,
  org: OrganizationId,
  exp: NumericDate,
  nbf: Schema.optionalKey(NumericDate),
  /** The roles that the token is limited to. */
  roles: Schema.optionalKey(Schema.Array(RoleId))
})
export type IdentityClaims = typeof IdentityClaims.Type

/** Whether a token is meant for us. */
export const isFor = ({ aud }: IdentityClaims, audience: string): boolean =>
  typeof aud === "string" ? aud === audience : aud.includes(audience)

const ofNumericDate = (seconds: number): DateTime.Utc => DateTime.makeUnsafe(Math.floor(seconds * 1000))

/** Who the claims name. */
export const toIdentity = ({ exp, nbf, org, roles, sub }: IdentityClaims): Identity => ({
  organizationId: org,
  memberId: sub,
  expiresAt: ofNumericDate(exp),
  ...(nbf === undefined ? {} : { notBefore: ofNumericDate(nbf) }),
  ...(roles === undefined ? {} : { roles })
})
