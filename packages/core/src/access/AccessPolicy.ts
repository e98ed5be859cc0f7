/**
 * Who reaches an object that carries access, and how far.
 *
 * Sources: api-v2.md "Key model"; decisions.md §3 (`fullMemberAccess`, "Objects that carry access");
 * policy-cases K20 to K22.
 */
import * as DateTime from "effect/DateTime"
import type { Permission } from "../role/Permission.ts"
import type { Access, AccessType, Grant } from "./Access.ts"
import { sameClient } from "./ClientMetadata.ts"
import { allow, type Decision, deny } from "./Decision.ts"
import { requires } from "./PermissionPolicy.ts"
import type { Principal } from "./Principal.ts"

const rank: { readonly [Type in AccessType]: number } = { viewer: 1, editor: 2, owner: 3 }

/** Whether a grant is still in force; at the very moment of its expiry it is not. */
export const inForce = (grant: Grant, now: DateTime.Utc): boolean =>
  grant.expiresAt === undefined || DateTime.isLessThan(now, grant.expiresAt)

/** Whether the principal made the object, as far as making it counts for this kind of principal. */
const madeIt = (principal: Principal, access: Access): boolean => {
  const creator = access.creator
  if (creator === undefined) return false
  const sameOwner = creator.memberId === principal.memberId
  if (!principal.restricted) return sameOwner
  const key = principal.key
  const sameKey =
    key !== undefined &&
    creator.apiKeyId !== undefined &&
    (creator.apiKeyId === key.id || key.rotatedFrom.includes(creator.apiKeyId))
  return sameKey || (sameOwner && sameClient(creator.clientMetadata, principal.clientMetadata))
}

/** Whether a grant counts for a principal: one of its roles has it, or, unless it is restricted, its member has. */
export const appliesTo = (grant: Grant, principal: Principal): boolean =>
  grant.grantee._tag === "Role"
    ? principal.roles.some((role) => role.id === grant.grantee.id)
    : !principal.restricted && grant.grantee.id === principal.memberId

/**
 * How far a principal reaches into an object: an access type; `visible` when only the admin role shows that it is
 * there (roles cannot stand in for ownership, K22); `hidden` when nothing does.
 */
export const reach = (principal: Principal, access: Access, now: DateTime.Utc): AccessType | "visible" | "hidden" => {
  if (madeIt(principal, access)) return "owner"
  let best: AccessType | undefined = access.isPublic ? "viewer" : undefined
  for (const grant of access.grants) {
    if (!inForce(grant, now) || !appliesTo(grant, principal)) continue
    if (best === undefined || rank[grant.accessType] > rank[best]) best = grant.accessType
  }
  return best ?? (principal.isAdmin ? "visible" : "hidden")
}

/** Whether a principal may read an object: what lists contain. */
export const readable = (principal: Principal, access: Access, now: DateTime.Utc): boolean => {
  const found = reach(principal, access, now)
  return found !== "hidden" && found !== "visible"
}

/**
 * Whether a principal may do something to an object: it must see it, hold the permission, and reach far enough into
 * it, in this order (decisions.md §1, "Order of checks").
 */
export const decide = (
  principal: Principal,
  access: Access,
  need: { readonly permission: Permission; readonly access: AccessType; readonly object: string },
  now: DateTime.Utc
): Decision => {
  const found = reach(principal, access, now)
  if (found === "hidden") return deny("hidden", `${need.object} not found`, { reach: found })
  const permission = requires(principal, need.permission)
  if (permission._tag === "Deny") return permission
  if (found === "visible" || rank[found] < rank[need.access]) {
    return deny("access", `permission denied: ${need.access} access to this ${need.object} is required`, {
      reach: found,
      required: need.access
    })
  }
  return allow("access", `${need.permission} and ${found} access`, { permission: need.permission, reach: found })
}

/** How long a principal owns an object. */
export type Ownership =
  | { readonly _tag: "None" }
  | { readonly _tag: "Until"; readonly at: DateTime.Utc }
  | { readonly _tag: "Lasting" }

/** How long a principal owns an object: for good when it made it, or to the end of its longest grant as owner. */
export const ownership = (principal: Principal, access: Access, now: DateTime.Utc): Ownership => {
  if (madeIt(principal, access)) return { _tag: "Lasting" }
  let end: DateTime.Utc | undefined
  for (const grant of access.grants) {
    if (grant.accessType !== "owner" || !inForce(grant, now) || !appliesTo(grant, principal)) continue
    if (grant.expiresAt === undefined) return { _tag: "Lasting" }
    end = end === undefined ? grant.expiresAt : DateTime.max(end, grant.expiresAt)
  }
  return end === undefined ? { _tag: "None" } : { _tag: "Until", at: end }
}

/** Whether nobody owns an object: nobody made it, and no grant as owner is in force. */
const isOwnerless = (access: Access, now: DateTime.Utc): boolean =>
  access.creator === undefined && !access.grants.some((grant) => grant.accessType === "owner" && inForce(grant, now))

/**
 * Whether a principal may change whom an object is shared with: an owner may. What nobody owns is shared by
 * administrators, or it could never be shared at all.
 */
export const share = (
  principal: Principal,
  access: Access,
  need: { readonly permission: Permission; readonly object: string },
  now: DateTime.Utc
): Decision => {
  if (!principal.isAdmin || !isOwnerless(access, now))
    return decide(principal, access, { ...need, access: "owner" }, now)
  const permission = requires(principal, need.permission)
  return permission._tag === "Deny"
    ? permission
    : allow("administrator", `nobody owns this ${need.object}`, { permission: need.permission })
}
