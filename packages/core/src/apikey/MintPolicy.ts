/**
 * What a new key may be: never more than the caller has, never more than its owner has, and, where a key mints it,
 * never wider or longer than that key.
 *
 * The last holds at every time, not only at this one (law L5). A key that was minted by a key names it among its
 * ancestors, and on every request
 *
 * - it works only while each of them does: when one expires, is revoked or loses its owner, the keys below it end with
 *   it, and so does what an intruder minted by it. A rotation ends them too, at once or with the grace that it is
 *   given: the key that replaces another has no children yet
 * - it has only the roles that each of them has, by the live roles of that key's own owner.
 *
 * The rest of what a key is never changes, so it is settled here: its expiry is not later than the minting key's (K26),
 * it keeps to that key's end user, and it is restricted if that key is (K19).
 *
 * Source: api-v2.md "API keys"; decisions.md §3; policy-cases K9, K11 to K17, K19, K26.
 */
import * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import { type ClientMetadata, isEmpty, sameClient } from "../access/ClientMetadata.ts"
import { type Deny, deny } from "../access/Decision.ts"
import { requires } from "../access/PermissionPolicy.ts"
import type { Principal } from "../access/Principal.ts"
import type { Member, MemberId } from "../member/Member.ts"
import type { RoleId } from "../role/Role.ts"
import type { ApiKey, ApiKeyId } from "./ApiKey.ts"
import type { KeyTerms } from "./KeyRequest.ts"

/** What the decision rests on. */
export interface MintFacts {
  readonly principal: Principal
  /** The member that the key is for; absent where there is none of that id. */
  readonly owner: Member | undefined
  /** The key that the caller came by, itself or behind a session. */
  readonly parent: ApiKey | undefined
  readonly now: DateTime.Utc
  /** How long a key lives whose terms do not say; absent: for ever. */
  readonly defaultLifetime: Duration.Duration | undefined
}

/** What the key is to be: everything of it but its id and its value. */
export interface MintedKey {
  readonly owner: MemberId
  readonly roles: ReadonlyArray<RoleId>
  readonly fullMemberAccess: boolean
  readonly clientMetadata?: ClientMetadata
  readonly ancestors: ReadonlyArray<ApiKeyId>
  readonly expiresAt?: DateTime.Utc
}

/** Keys that minted each other in a row, at most: each of them is looked up with every request of the last. */
export const maximumAncestors = 8

/** Whether a key is for the caller themselves: then no permission is needed. */
const isPersonal = (terms: KeyTerms, principal: Principal): boolean =>
  terms.target === undefined || terms.target === principal.memberId

const ownerOf = (terms: KeyTerms, { owner, principal }: MintFacts): Result.Result<Member, Deny> => {
  if (!isPersonal(terms, principal)) {
    const permission = requires(principal, "organization:write")
    if (permission._tag === "Deny") return Result.fail(permission)
    // A person, and nobody at all, read the same, so that nothing is disclosed.
    if (owner === undefined || !owner.isServiceAccount) {
      return Result.fail(deny("target_member", "permission denied: targetMemberId must be a service account"))
    }
  }
  return owner === undefined || owner.status._tag !== "Active"
    ? Result.fail(deny("target_member", "permission denied: the member is not active"))
    : Result.succeed(owner)
}

const rolesOf = (terms: KeyTerms, principal: Principal, owner: Member): Result.Result<ReadonlyArray<RoleId>, Deny> => {
  const caller = new Set(principal.roles.map((role) => role.id))
  const held = new Set(owner.roles)
  if (terms.roles._tag === "Inherited") return Result.succeed([...caller].filter((role) => held.has(role)))
  const chosen = terms.roles.roles
  const notCaller = chosen.filter((role) => !caller.has(role))
  if (notCaller.length > 0) {
    const message = "permission denied: assumedRoles names a role that you do not hold"
    return Result.fail(deny("not_held", message, { roles: notCaller }))
  }
  const notOwner = chosen.filter((role) => !held.has(role))
  return notOwner.length > 0
    ? Result.fail(
        deny("owner_not_holding", "permission denied: assumedRoles names a role that the key's owner does not hold", {
          roles: notOwner
        })
      )
    : Result.succeed(chosen)
}

/** A caller who speaks for an end user mints for the same one: the rows of another are not theirs to read. */
const clientOf = (terms: KeyTerms, principal: Principal): Result.Result<ClientMetadata | undefined, Deny> => {
  const own = principal.clientMetadata
  if (own === undefined || isEmpty(own)) return Result.succeed(terms.clientMetadata)
  return terms.clientMetadata === undefined || sameClient(terms.clientMetadata, own)
    ? Result.succeed(terms.clientMetadata ?? own)
    : Result.fail(deny("client_metadata", "permission denied: clientId must be that of your own key"))
}

const expiryOf = (terms: KeyTerms, { defaultLifetime, now, parent }: MintFacts): DateTime.Utc | undefined => {
  const lifetime = terms.lifetime ?? defaultLifetime
  const asked = lifetime === undefined ? undefined : DateTime.addDuration(now, lifetime)
  if (parent?.expiresAt === undefined) return asked
  return asked === undefined ? parent.expiresAt : DateTime.min(asked, parent.expiresAt)
}

/** What the key is to be, or why the caller may not mint it. */
export const decide = (terms: KeyTerms, facts: MintFacts): Result.Result<MintedKey, Deny> =>
  Result.gen(function* () {
    const { parent, principal } = facts
    const owner = yield* ownerOf(terms, facts)
    const roles = yield* rolesOf(terms, principal, owner)
    const clientMetadata = yield* clientOf(terms, principal)
    if (terms.fullMemberAccess && (principal.restricted || parent?.fullMemberAccess === false)) {
      const message = "permission denied: fullMemberAccess needs a key that has it"
      return yield* Result.fail(deny("full_member_access", message))
    }
    const ancestors = parent === undefined ? [] : [parent.id, ...parent.ancestors]
    if (ancestors.length > maximumAncestors) {
      const message = `permission denied: at most ${maximumAncestors} keys may mint one another in a row`
      return yield* Result.fail(deny("key_depth", message, { ancestors: ancestors.length }))
    }
    const expiresAt = expiryOf(terms, facts)
    return {
      owner: owner.id,
      roles,
      fullMemberAccess: terms.fullMemberAccess,
      ...(clientMetadata === undefined ? {} : { clientMetadata }),
      ancestors,
      ...(expiresAt === undefined ? {} : { expiresAt })
    }
  })
