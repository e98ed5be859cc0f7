/**
 * Who may see, revoke and rotate keys.
 *
 * A key is one's own when it is of the same member; to a caller who speaks for an end user, only when it is that end
 * user's: whoever holds an embedded key must not end the keys of the host that embedded it.
 *
 * To rotate a key is to be shown its value, so it needs more than the permission: a caller who comes by a key rotates
 * that key and those below it, and others only as far as they give nothing that the caller lacks.
 *
 * Source: api-v2.md "Key model"; decisions.md §3; policy-cases K35 to K38; law L5.
 */
import * as DateTime from "effect/DateTime"
import { isEmpty, sameClient } from "../access/ClientMetadata.ts"
import { allow, type Decision, deny } from "../access/Decision.ts"
import { requires } from "../access/PermissionPolicy.ts"
import type { Principal } from "../access/Principal.ts"
import type { Member } from "../member/Member.ts"
import type { ApiKey } from "./ApiKey.ts"

/** Whose keys a list holds. */
export type ApiKeyScope = "personal" | "all" | "service_accounts"

/** Whether the principal speaks for one end user. */
export const speaksForClient = (principal: Principal): boolean =>
  principal.clientMetadata !== undefined && !isEmpty(principal.clientMetadata)

/** Whether a key is the principal's own. */
export const isOwn = (principal: Principal, key: ApiKey): boolean =>
  key.owner === principal.memberId &&
  (!speaksForClient(principal) || sameClient(principal.clientMetadata, key.clientMetadata))

/** The widest scope that the principal may list. */
export const widestScope = (principal: Principal): ApiKeyScope =>
  principal.holds("organization:read") ? "all" : "personal"

/** Whether the principal may list the keys of a scope: its own without any permission (K37). */
export const list = (principal: Principal, scope: ApiKeyScope): Decision =>
  scope === "personal" ? allow("own", "one's own keys", { scope }) : requires(principal, "organization:read")

/** Whether keys of this member are kept from the principal: those of the platform's staff, but for its own (K35). */
export const isHiddenOwner = (principal: Principal, owner: Pick<Member, "id" | "standing">): boolean =>
  owner.standing !== "ordinary" && !principal.isSuperadmin && owner.id !== principal.memberId

const notFound = deny("hidden", "API key not found")

/** Whether the principal may revoke a key. `owner` is absent where the member is deleted. */
export const revoke = (principal: Principal, key: ApiKey, owner: Member | undefined): Decision => {
  if (owner !== undefined && isHiddenOwner(principal, owner)) return notFound
  return isOwn(principal, key) ? allow("own", "one's own key") : requires(principal, "organization:write")
}

/** What the decision on a rotation rests on, beside the key. */
export interface RotationFacts {
  /** Absent where the member is deleted. */
  readonly owner: Member | undefined
  /** The key that the caller came by, itself or behind a session. */
  readonly callerKey: ApiKey | undefined
}

/** The roles of a key that the principal does not hold; the admin role holds what every role can give. */
const rolesBeyond = (principal: Principal, key: ApiKey, owner: Member | undefined): ReadonlyArray<string> => {
  if (principal.isAdmin) return []
  const held = new Set(principal.roles.map((role) => role.id))
  const assumed = key.assumedRoles._tag === "Snapshot" ? key.assumedRoles.roles : (owner?.roles ?? [])
  return assumed.filter((role) => !held.has(role))
}

/**
 * Whether a key gains roles that its caller would not: one of all roles has whatever its owner is given, at any time
 * (law L5). Only the same owner's other key of that kind does too.
 */
const gainsBeyond = (principal: Principal, key: ApiKey, { callerKey, owner }: RotationFacts): boolean =>
  key.assumedRoles._tag === "Live" &&
  owner !== undefined &&
  !principal.isAdmin &&
  !(callerKey?.assumedRoles._tag === "Live" && callerKey.owner === key.owner)

const outlives = (key: ApiKey, callerKey: ApiKey | undefined): boolean =>
  callerKey?.expiresAt !== undefined &&
  (key.expiresAt === undefined || DateTime.isGreaterThan(key.expiresAt, callerKey.expiresAt))

/** Denies what would show the principal the value of a key that gives more than it has. */
const withinReach = (principal: Principal, key: ApiKey, facts: RotationFacts): Decision => {
  const beyond = rolesBeyond(principal, key, facts.owner)
  if (beyond.length > 0) {
    return deny("not_held", "permission denied: the key has a role that you do not hold", { roles: beyond })
  }
  if (gainsBeyond(principal, key, facts)) {
    return deny("not_held", "permission denied: the key gains the roles that its owner is given, and yours does not")
  }
  if (key.fullMemberAccess && principal.restricted) {
    return deny("full_member_access", "permission denied: the key has full member access, and yours has not")
  }
  if (speaksForClient(principal) && !sameClient(principal.clientMetadata, key.clientMetadata)) {
    return deny("client_metadata", "permission denied: the key is not for the same end user as yours")
  }
  return outlives(key, facts.callerKey)
    ? deny("not_held", "permission denied: the key expires later than yours")
    : allow("permission", "the key gives nothing that the caller lacks")
}

/** Whether a key is the caller's, or was minted by it, directly or not: then it gives nothing that the caller lacks. */
const isAtOrBelow = (key: ApiKey, callerKey: ApiKey | undefined): boolean =>
  callerKey !== undefined && (key.id === callerKey.id || key.ancestors.includes(callerKey.id))

/** Whether a principal came as its member in full: by no key, and by no token that names fewer roles. */
const actsInFull = (principal: Principal): boolean => {
  switch (principal.credential._tag) {
    case "Token":
      return principal.credential.ceiling === undefined
    case "Session":
      return principal.credential.key === undefined && principal.credential.ceiling === undefined
    default:
      return false
  }
}

/** Whether the principal may rotate a key: it may revoke it, and is shown nothing beyond its reach. */
export const rotate = (principal: Principal, key: ApiKey, facts: RotationFacts): Decision => {
  const permission = revoke(principal, key, facts.owner)
  if (permission._tag === "Deny" || isAtOrBelow(key, facts.callerKey)) return permission
  if (isOwn(principal, key) && actsInFull(principal)) return permission
  const reach = withinReach(principal, key, facts)
  return reach._tag === "Deny" ? reach : permission
}
