/**
 * What a session may be, and how long it holds.
 *
 * A session is what its maker is at that moment, for a quarter of an hour. One that was minted by a key is bounded by
 * that key: it has no role that the key lacked then, is as restricted, speaks for the same end user, ends with the key,
 * and what renews it asks the key again. One that was minted by a member's own token has what the member holds then, as
 * far as the token names it, and is renewed until it is as old as sessions may be: nobody asks the member's identity
 * provider meanwhile.
 *
 * Source: decisions.md §3 (`POST /v2/sessions`); policy-cases K40; laws L2 and L5.
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import { allow, type Decision, deny } from "../access/Decision.ts"
import * as EffectiveRoles from "../access/EffectiveRoles.ts"
import type { KeyAuthority } from "../access/KeyAuthority.ts"
import type { Principal } from "../access/Principal.ts"
import type { Member } from "../member/Member.ts"
import type { Role, RoleId } from "../role/Role.ts"
import { Session } from "./Session.ts"
import type { SessionLimits } from "./SessionLimits.ts"
import type { SessionId } from "./SessionId.ts"

/** How long a session holds at most. Source: api-v2.md "Limits". */
export const lifetime: Duration.Duration = Duration.minutes(15)

/** How much later than its expiry a token is still taken, for clocks that differ. Source: decisions.md §3. */
export const leeway: Duration.Duration = Duration.seconds(30)

/** What a session without a key behind it is made of. */
export interface MemberSession {
  readonly id: SessionId
  readonly member: Member
  /** The roles that it cannot exceed; absent: what the member holds. */
  readonly ceiling: ReadonlyArray<RoleId> | undefined
  /** The roles of the organization that the member may hold. */
  readonly existing: ReadonlyArray<Role>
  /** When the member came by a token of their own. */
  readonly authenticated: DateTime.Utc
  readonly limits: SessionLimits
}

/** Who may mint a session: whoever came by a bearer value. Background work has none. */
export const mint = (principal: Principal): Decision =>
  principal.credential._tag === "System"
    ? deny("permission", "permission denied: background work has no sessions", { name: principal.credential.name })
    : allow("own", "a session of one's own")

/** Whether a token that expires at a moment, and holds from another on where it says so, is taken now. */
export const isInForce = (
  token: { readonly expiresAt: DateTime.Utc; readonly notBefore?: DateTime.Utc },
  now: DateTime.Utc
): boolean =>
  DateTime.isLessThan(now, DateTime.addDuration(token.expiresAt, leeway)) &&
  (token.notBefore === undefined || DateTime.isGreaterThanOrEqualTo(DateTime.addDuration(now, leeway), token.notBefore))

/** The roles that a token without a key behind it cannot exceed; absent: what the member holds. */
export const ceilingOf = (principal: Principal): ReadonlyArray<RoleId> | undefined =>
  principal.credential._tag === "Session" || principal.credential._tag === "Token"
    ? principal.credential.ceiling
    : undefined

/** The session of a caller who came by a key, or by a session of one. */
export const ofKey = (id: SessionId, { key, owner, roles }: KeyAuthority, now: DateTime.Utc): Session => {
  const end = DateTime.addDuration(now, lifetime)
  return new Session({
    id,
    organizationId: key.organizationId,
    memberId: owner.id,
    roles: roles.map((role) => role.id),
    ...(key.clientMetadata === undefined ? {} : { clientMetadata: key.clientMetadata }),
    restricted: !key.fullMemberAccess,
    key: { id: key.id, rotatedFrom: key.rotatedFrom },
    issuedAt: now,
    expiresAt: key.expiresAt === undefined ? end : DateTime.min(end, key.expiresAt)
  })
}

/**
 * When a caller without a key came by a token of their own: now, or when the first of the sessions was minted that the
 * caller's own came of. Absent where it cannot be told.
 */
export const authenticatedAt = (principal: Principal, now: DateTime.Utc): DateTime.Utc | undefined =>
  principal.credential._tag === "Session" ? principal.credential.authenticatedAt : now

/** The moment at which the last session ends that comes of a token. */
export const endOf = (authenticated: DateTime.Utc, { maximumAge }: SessionLimits): DateTime.Utc =>
  DateTime.addDuration(authenticated, maximumAge)

/** The session of a caller who came by a token of their own, at that moment or before; none once that is too long ago. */
export const ofMember = (
  { authenticated, ceiling, existing, id, limits, member }: MemberSession,
  now: DateTime.Utc
): Option.Option<Session> => {
  const last = endOf(authenticated, limits)
  if (DateTime.isGreaterThanOrEqualTo(now, last)) return Option.none()
  const session = new Session({
    id,
    organizationId: member.organizationId,
    memberId: member.id,
    roles: EffectiveRoles.ofCeiling(ceiling, member.roles, existing).map((role) => role.id),
    ...(ceiling === undefined ? {} : { ceiling }),
    restricted: false,
    authenticatedAt: authenticated,
    issuedAt: now,
    expiresAt: DateTime.min(DateTime.addDuration(now, lifetime), last)
  })
  return Option.some(session)
}
