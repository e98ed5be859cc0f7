/**
 * What a key is worth at a moment: nothing once it, or any key that it descends from, no longer works; else the roles
 * that all of them have.
 *
 * Source: decisions.md §3; policy-cases K1 to K7, K24, K33; law L5.
 */
import type * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import type { ApiKey } from "../apikey/ApiKey.ts"
import { statusAt } from "../apikey/ApiKeyState.ts"
import type { Member } from "../member/Member.ts"
import type { Role } from "../role/Role.ts"
import type { KeyFacts, OwnedKey } from "./CredentialFacts.ts"
import * as EffectiveRoles from "./EffectiveRoles.ts"

/** A key that works, with whom it acts as and what they may do by it. */
export interface KeyAuthority {
  readonly key: ApiKey
  readonly owner: Member
  readonly roles: ReadonlyArray<Role>
}

/** The owner of a key that works at a moment, as far as it is up to the two. */
const workingOwner = ({ key, owner }: OwnedKey, now: DateTime.Utc): Member | undefined =>
  owner?.status._tag === "Active" && statusAt(key, now) === "active" ? owner : undefined

/** What the keys that a key descends from hold; nothing when one of them does not work any more, or is gone. */
const ancestry = (
  { ancestors, key }: KeyFacts,
  now: DateTime.Utc
): ReadonlyArray<EffectiveRoles.Holding> | undefined => {
  if (key.ancestors.length === 0) return []
  const byId = new Map(ancestors.map((ancestor) => [ancestor.key.id, ancestor]))
  const holdings: Array<EffectiveRoles.Holding> = []
  for (const id of key.ancestors) {
    const ancestor = byId.get(id)
    const owner = ancestor === undefined ? undefined : workingOwner(ancestor, now)
    if (ancestor === undefined || owner === undefined) return undefined
    holdings.push({ assumed: ancestor.key.assumedRoles, liveRoles: owner.roles })
  }
  return holdings
}

/** What a key is worth at a moment; none when it is worth nothing at all. */
export const decide = (facts: KeyFacts, now: DateTime.Utc): Option.Option<KeyAuthority> => {
  const owner = workingOwner(facts, now)
  const ancestors = owner === undefined ? undefined : ancestry(facts, now)
  if (owner === undefined || ancestors === undefined) return Option.none()
  const { key, roles } = facts
  const holding = { assumed: key.assumedRoles, liveRoles: owner.roles }
  return Option.some({ key, owner, roles: EffectiveRoles.ofLine(holding, ancestors, roles) })
}
