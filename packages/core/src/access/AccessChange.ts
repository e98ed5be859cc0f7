/**
 * Replacing who an object is shared with: all of it at once.
 *
 * - The caller's own grant as owner always stays, whatever is asked for, so that nobody locks themselves out. Where
 *   they own the object by a role alone, that role's grant stays.
 * - Nobody grants what they do not hold: only an owner shares, and one whose ownership ends shares for no longer.
 * - Who granted a share is not asked: the caller, or, for a share that stays as it is, whoever did before.
 * - Who made the object never changes.
 *
 * Source: decisions.md §3 ("Objects that carry access").
 */
import * as Arr from "effect/Array"
import * as DateTime from "effect/DateTime"
import * as Equal from "effect/Equal"
import * as Order from "effect/Order"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Access, Grant, Grantee } from "./Access.ts"
import * as AccessPolicy from "./AccessPolicy.ts"
import { type Deny, deny } from "./Decision.ts"
import type { Principal } from "./Principal.ts"

/** A share as it shall be. */
export type WantedGrant = Omit<Grant, "grantedBy">

/** Everything that an object shall be shared by. */
export interface WantedAccess {
  readonly isPublic: boolean
  readonly grants: ReadonlyArray<WantedGrant>
}

/** Shares of one object at most. */
export const maximumGrants = 1_000

/** An access that cannot be; the message names the field and the rule. */
export class AccessRefusal extends Schema.TaggedError<AccessRefusal>()("AccessRefusal", {
  field: Schema.String,
  rule: Schema.String
}) {
  override get message(): string {
    return `${this.field}: ${this.rule}`
  }
}

const sameGrantee = (a: Grantee, b: Grantee): boolean => a._tag === b._tag && a.id === b.id

const sameShare = (a: WantedGrant, b: WantedGrant): boolean =>
  sameGrantee(a.grantee, b.grantee) && a.accessType === b.accessType && Equal.equals(a.expiresAt, b.expiresAt)

/** The share that the object has already, where it has this very one. */
const present = (current: Access, wanted: WantedGrant): Grant | undefined =>
  current.grants.find((grant) => sameShare(grant, wanted))

/** Refuses an access that contradicts itself: the same grantee twice, or more shares than there may be. */
export const check = (wanted: WantedAccess): Result.Result<WantedAccess, AccessRefusal> => {
  if (wanted.grants.length > maximumGrants) {
    return Result.fail(new AccessRefusal({ field: "grants", rule: `must be at most ${maximumGrants}` }))
  }
  const seen = new Set<string>()
  for (const [index, { grantee }] of wanted.grants.entries()) {
    if (seen.has(grantee.id)) {
      const rule = `must name each ${grantee._tag === "Member" ? "member" : "role"} once`
      return Result.fail(new AccessRefusal({ field: `grants[${index}]`, rule }))
    }
    seen.add(grantee.id)
  }
  return Result.succeed(wanted)
}

/** Refuses a new share that has ended before it begins, or is for nobody that there is. */
export const checkNew = (
  current: Access,
  wanted: WantedAccess,
  exists: (grantee: Grantee) => boolean,
  now: DateTime.Utc
): Result.Result<WantedAccess, AccessRefusal> => {
  for (const [index, grant] of wanted.grants.entries()) {
    if (present(current, grant) !== undefined) continue
    if (grant.expiresAt !== undefined && DateTime.isLessThanOrEqualTo(grant.expiresAt, now)) {
      return Result.fail(new AccessRefusal({ field: `grants[${index}].expires_at`, rule: "must be in the future" }))
    }
    if (!exists(grant.grantee)) {
      const [field, thing] = grant.grantee._tag === "Member" ? ["member_id", "member"] : ["role_id", "role"]
      return Result.fail(new AccessRefusal({ field: `grants[${index}].${field}`, rule: `there is no such ${thing}` }))
    }
  }
  return Result.succeed(wanted)
}

/** The grants as asked for, each grant that is kept in the place of the one for its grantee; the others of them first. */
const compose = (principal: Principal, current: Access, wanted: WantedAccess, kept: ReadonlyArray<Grant>): Access => {
  const unasked = kept.filter((own) => !wanted.grants.some((grant) => sameGrantee(own.grantee, grant.grantee)))
  const asked = wanted.grants.map(
    (grant): Grant =>
      kept.find((own) => sameGrantee(own.grantee, grant.grantee)) ??
      present(current, grant) ?? { ...grant, grantedBy: principal.memberId }
  )
  return { ...current, isPublic: wanted.isPublic, grants: [...unasked, ...asked] }
}

/** What lasts longest comes first. */
const lastingLongest = Order.flip(
  Order.mapInput(Order.Number, (grant: Grant) =>
    grant.expiresAt === undefined ? Number.POSITIVE_INFINITY : DateTime.toEpochMillis(grant.expiresAt)
  )
)

/** Whether something lasts longer than an ownership that ends. */
const outlasts = (end: DateTime.Utc | undefined, ownership: DateTime.Utc): boolean =>
  end === undefined || DateTime.isGreaterThan(end, ownership)

/**
 * Denies what an owner whose ownership ends would share for longer than that: what would be new, not what was asked for,
 * since an asked-for share of somebody whose ownership stays comes to nothing, the first time and every time.
 */
const withinOwnership = (principal: Principal, current: Access, next: Access, now: DateTime.Utc): Deny | undefined => {
  const ownership = AccessPolicy.ownership(principal, current, now)
  if (ownership._tag !== "Until") return undefined
  const added = next.grants.filter((grant) => present(current, grant) === undefined)
  const longer = added.some((grant) => outlasts(grant.expiresAt, ownership.at))
  return longer || (next.isPublic && !current.isPublic)
    ? deny("not_held", "permission denied: you cannot share this for longer than you own it", {
        until: DateTime.formatIso(ownership.at)
      })
    : undefined
}

/** The access as asked for, with what lets the caller own the object. */
const keepingOwnership = (principal: Principal, current: Access, wanted: WantedAccess, now: DateTime.Utc): Access => {
  // Where there are several for one grantee, the one that lasts longest stays: nobody owns for less by sharing.
  const owning = Arr.sort(
    current.grants.filter((grant) => grant.accessType === "owner" && AccessPolicy.inForce(grant, now)),
    lastingLongest
  )
  const own = owning.filter(({ grantee }) => grantee._tag === "Member" && grantee.id === principal.memberId)
  const next = compose(principal, current, wanted, own)
  const loses =
    AccessPolicy.reach(principal, current, now) === "owner" && AccessPolicy.reach(principal, next, now) !== "owner"
  if (!loses) return next
  const byRole = owning.filter((grant) => grant.grantee._tag === "Role" && AccessPolicy.appliesTo(grant, principal))
  return compose(principal, current, wanted, [...own, ...byRole])
}

/**
 * The access as it will be, for a caller who may share the object; or why they may not share it in this way.
 */
export const replace = (
  principal: Principal,
  current: Access,
  wanted: WantedAccess,
  now: DateTime.Utc
): Result.Result<Access, Deny> => {
  const next = keepingOwnership(principal, current, wanted, now)
  const denial = withinOwnership(principal, current, next, now)
  return denial === undefined ? Result.succeed(next) : Result.fail(denial)
}
