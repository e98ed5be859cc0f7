/**
 * What a key is worth at a moment: nothing once it, or any key that it descends from, no longer works; else the roles
 * that all of them have.
 *
 * Source: decisions.md §3; policy-cases K1 to K7, K24, K33; law L5.
 */
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ApiKey, ApiKeyId } from "../apikey/ApiKey.ts"
import { statusAt } from "../apikey/ApiKeyState.ts"
import { ApiKeyStore } from "../apikey/ApiKeyStore.ts"
import type { Member } from "../member/Member.ts"
import { MemberStore } from "../member/MemberStore.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import type { Role } from "../role/Role.ts"
import { RoleStore } from "../role/RoleStore.ts"
import * as EffectiveRoles from "./EffectiveRoles.ts"

/** A key that works, with whom it acts as and what they may do by it. */
export interface KeyAuthority {
  readonly key: ApiKey
  readonly owner: Member
  readonly roles: ReadonlyArray<Role>
}

/** Looks up what keys are worth. */
export interface KeyAuthorities {
  /** What a key is worth at a moment; none when it is worth nothing at all. */
  readonly of: (key: ApiKey, now: DateTime.Utc) => Effect.Effect<Option.Option<KeyAuthority>>
  /** The same, by the key's id. */
  readonly byId: (
    organizationId: OrganizationId,
    id: ApiKeyId,
    now: DateTime.Utc
  ) => Effect.Effect<Option.Option<KeyAuthority>>
}

const isActive = (member: Member): boolean => member.status._tag === "Active"

/** What keys are worth by the stores of keys, members and roles. */
export const make: Effect.Effect<KeyAuthorities, never, ApiKeyStore | MemberStore | RoleStore> = Effect.gen(
  function* () {
    const keys = yield* ApiKeyStore
    const members = yield* MemberStore
    const roles = yield* RoleStore

    /** What the keys that a key descends from hold; none when one of them does not work any more. */
    const ancestry = Effect.fnUntraced(function* (key: ApiKey, now: DateTime.Utc) {
      const found = yield* keys.named(key.organizationId, key.ancestors)
      const works = found.filter((ancestor) => statusAt(ancestor, now) === "active")
      if (works.length < new Set(key.ancestors).size) return Option.none()
      const owners = yield* members.named(
        key.organizationId,
        works.map((ancestor) => ancestor.owner)
      )
      const active = new Map(owners.filter(isActive).map((owner) => [owner.id, owner]))
      const holdings: Array<EffectiveRoles.Holding> = []
      for (const ancestor of works) {
        const owner = active.get(ancestor.owner)
        if (owner === undefined) return Option.none()
        holdings.push({ assumed: ancestor.assumedRoles, liveRoles: owner.roles })
      }
      return Option.some<ReadonlyArray<EffectiveRoles.Holding>>(holdings)
    })

    const noAncestors = Effect.succeedSome<ReadonlyArray<EffectiveRoles.Holding>>([])

    const of = Effect.fnUntraced(function* (key: ApiKey, now: DateTime.Utc) {
      if (statusAt(key, now) !== "active") return Option.none()
      const owner = yield* members.get(key.organizationId, key.owner)
      if (Option.isNone(owner) || !isActive(owner.value)) return Option.none()
      const ancestors = yield* key.ancestors.length === 0 ? noAncestors : ancestry(key, now)
      if (Option.isNone(ancestors)) return Option.none()
      const existing = yield* roles.list(key.organizationId)
      const holding = { assumed: key.assumedRoles, liveRoles: owner.value.roles }
      return Option.some<KeyAuthority>({
        key,
        owner: owner.value,
        roles: EffectiveRoles.ofLine(holding, ancestors.value, existing)
      })
    })

    return {
      of,
      byId: Effect.fnUntraced(function* (organizationId, id, now) {
        const key = yield* keys.get(organizationId, id)
        return Option.isNone(key) ? Option.none() : yield* of(key.value, now)
      })
    }
  }
)
