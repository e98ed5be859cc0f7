/**
 * A session as the claims of a JSON Web Token. Times are seconds of the epoch with a fraction, so that nothing is lost.
 *
 * Source: RFC 7519 §2 (`NumericDate`) and §4.1; decisions.md §3.
 */
import * as DateTime from "effect/DateTime"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { type ClientMetadata, parse } from "../access/ClientMetadata.ts"
import { ApiKeyId } from "../apikey/ApiKey.ts"
import { MemberId } from "../member/Member.ts"
import { OrganizationId } from "../organization/Organization.ts"
import { RoleId } from "../role/Role.ts"
import { Session } from "./Session.ts"
import { SessionId } from "./SessionId.ts"

/** What is in the claims `iss` and `aud`, and tells our tokens from those of an identity provider. */
export const issuer = "castellan"
export const audience = "castellan-session"

/** The latest moment that a date can have, in seconds. */
const NumericDate = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 8_640_000_000_000 }))

/** The claims of a session's token. */
export const SessionClaims = Schema.Struct({
  iss: Schema.Literal(issuer),
  aud: Schema.Literal(audience),
  jti: SessionId,
  sub: MemberId,
  org: OrganizationId,
  iat: NumericDate,
  exp: NumericDate,
  roles: Schema.Array(RoleId),
  ceiling: Schema.optionalKey(Schema.Array(RoleId)),
  /** When the person came by a token of their own (OpenID Connect Core 1.0 §2). */
  auth_time: Schema.optionalKey(NumericDate),
  /** The text of the client metadata. */
  client: Schema.optionalKey(Schema.String),
  restricted: Schema.Boolean,
  /** The key behind the session. */
  key: Schema.optionalKey(ApiKeyId),
  /** The keys that it replaced by rotation, nearest first. */
  rotated_from: Schema.optionalKey(Schema.Array(ApiKeyId))
})
export type SessionClaims = typeof SessionClaims.Type

const toNumericDate = (moment: DateTime.Utc): number => DateTime.toEpochMillis(moment) / 1000

const ofNumericDate = (seconds: number): DateTime.Utc => DateTime.makeUnsafe(Math.round(seconds * 1000))

/** The claims of a session. */
export const ofSession = (session: Session): SessionClaims => ({
  iss: issuer,
  aud: audience,
  jti: session.id,
  sub: session.memberId,
  org: session.organizationId,
  iat: toNumericDate(session.issuedAt),
  exp: toNumericDate(session.expiresAt),
  roles: session.roles,
  ...(session.ceiling === undefined ? {} : { ceiling: session.ceiling }),
  ...(session.authenticatedAt === undefined ? {} : { auth_time: toNumericDate(session.authenticatedAt) }),
  ...(session.clientMetadata === undefined ? {} : { client: session.clientMetadata.text }),
  restricted: session.restricted,
  ...(session.key === undefined ? {} : { key: session.key.id, rotated_from: session.key.rotatedFrom })
})

const clientOf = (text: string | undefined): ClientMetadata | undefined =>
  text === undefined ? undefined : Result.getOrUndefined(parse(text))

/** The session of claims; nothing where they name an end user whose metadata cannot be read. */
export const toSession = (claims: SessionClaims): Session | undefined => {
  const clientMetadata = clientOf(claims.client)
  if (claims.client !== undefined && clientMetadata === undefined) return undefined
  return new Session({
    id: claims.jti,
    organizationId: claims.org,
    memberId: claims.sub,
    roles: claims.roles,
    ...(claims.ceiling === undefined ? {} : { ceiling: claims.ceiling }),
    ...(claims.auth_time === undefined ? {} : { authenticatedAt: ofNumericDate(claims.auth_time) }),
    ...(clientMetadata === undefined ? {} : { clientMetadata }),
    restricted: claims.restricted,
    ...(claims.key === undefined ? {} : { key: { id: claims.key, rotatedFrom: claims.rotated_from ?? [] } }),
    issuedAt: ofNumericDate(claims.iat),
    expiresAt: ofNumericDate(claims.exp)
  })
}
