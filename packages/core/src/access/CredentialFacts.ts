/**
 * The port that brings everything that says what a credential is worth, in one question for each kind of credential: a
 * request that is authenticated waits for its storage once. What follows from the facts is decided by `KeyAuthority`
 * and `EffectiveRoles`.
 *
 * Source: decisions.md §3 ("Effective roles of a key"); policy-cases K1 to K7, K24, K33, K40.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { ApiKey, ApiKeyHash, ApiKeyId } from "../apikey/ApiKey.ts"
import { ApiKeyStore } from "../apikey/ApiKeyStore.ts"
import type { Member, MemberId } from "../member/Member.ts"
import { MemberStore } from "../member/MemberStore.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import type { Role } from "../role/Role.ts"
import { RoleStore } from "../role/RoleStore.ts"
import type { Session } from "../session/Session.ts"

/** A key with the member that it authenticates as; the member is absent when it was removed. */
export interface OwnedKey {
  readonly key: ApiKey
  readonly owner: Member | undefined
}

/** What a key's worth follows from. */
export interface KeyFacts extends OwnedKey {
  /** The keys that it descends from, as far as they are there, in no order; when they were used last is no fact of it. */
  readonly ancestors: ReadonlyArray<OwnedKey>
  /** The roles of the organization that its owner holds now, and maybe others, in the order of their creation. */
  readonly roles: ReadonlyArray<Role>
}

/** What the worth of a member's own token follows from. */
export interface MemberFacts {
  readonly member: Member
  /** The roles of the organization that the member holds now, and maybe others, in the order of their creation. */
  readonly roles: ReadonlyArray<Role>
}

/** What a session's worth follows from. */
export interface SessionFacts {
  readonly member: Member
  /** The roles of the organization that the session names, and maybe others, in the order of their creation. */
  readonly roles: ReadonlyArray<Role>
  /** The key that minted it; none where no key did, or where that key is gone. */
  readonly key: Option.Option<KeyFacts>
}

/** What is asked about of a session. */
export type SessionSubject = Pick<Session, "organizationId" | "memberId" | "roles" | "key">

/** Tells what the worth of credentials follows from, as it is now. */
export class CredentialFacts extends Context.Service<
  CredentialFacts,
  {
    /** The facts of the key of a hash, whatever its state. It knows no organization: it finds it out. */
    readonly ofHash: (hash: ApiKeyHash) => Effect.Effect<Option.Option<KeyFacts>>
    /** The facts of a key by its id. */
    readonly ofKey: (organizationId: OrganizationId, id: ApiKeyId) => Effect.Effect<Option.Option<KeyFacts>>
    /** The facts of a member; none where there is no such member. */
    readonly ofMember: (organizationId: OrganizationId, id: MemberId) => Effect.Effect<Option.Option<MemberFacts>>
    /** The facts of a session; none where its member is gone. */
    readonly ofSession: (session: SessionSubject) => Effect.Effect<Option.Option<SessionFacts>>
  }
>()("@castellan/core/access/CredentialFacts") {}

/**
 * The facts by the stores of keys, members and roles: for stores whose every question costs nothing. Stores on a
 * database answer each in one statement, or in a second one of what has changed since it was read before.
 */
export const layer: Layer.Layer<CredentialFacts, never, ApiKeyStore | MemberStore | RoleStore> = Layer.effect(
  CredentialFacts,
  Effect.gen(function* () {
    const keys = yield* ApiKeyStore
    const members = yield* MemberStore
    const roles = yield* RoleStore

    const owned = Effect.fnUntraced(function* (organizationId: OrganizationId, found: ReadonlyArray<ApiKey>) {
      const owners = yield* members.named(
        organizationId,
        found.map((key) => key.owner)
      )
      const byId = new Map(owners.map((owner) => [owner.id, owner]))
      return found.map((key): OwnedKey => ({ key, owner: byId.get(key.owner) }))
    })

    const ancestorsOf = ({ ancestors, organizationId }: ApiKey): Effect.Effect<ReadonlyArray<OwnedKey>> =>
      ancestors.length === 0
        ? Effect.succeed([])
        : Effect.flatMap(keys.named(organizationId, ancestors), (found) => owned(organizationId, found))

    // Every request passes here, and a generator would take as long as what is asked.
    const ofFound = (found: Option.Option<ApiKey>): Effect.Effect<Option.Option<KeyFacts>> => {
      if (Option.isNone(found)) return Effect.succeedNone
      const key = found.value
      return Effect.flatMap(members.get(key.organizationId, key.owner), (owner) =>
        Effect.flatMapEager(ancestorsOf(key), (ancestors) =>
          Effect.map(roles.list(key.organizationId), (existing) =>
            Option.some({ key, owner: Option.getOrUndefined(owner), ancestors, roles: existing })
          )
        )
      )
    }

    const ofKey = (organizationId: OrganizationId, id: ApiKeyId) =>
      Effect.flatMap(keys.get(organizationId, id), ofFound)

    const ofMember = Effect.fnUntraced(function* (organizationId: OrganizationId, id: MemberId) {
      const member = yield* members.get(organizationId, id)
      return Option.isNone(member)
        ? Option.none<MemberFacts>()
        : Option.some<MemberFacts>({ member: member.value, roles: yield* roles.list(organizationId) })
    })

    return CredentialFacts.of({
      ofHash: (hash) => Effect.flatMap(keys.byHash(hash), ofFound),
      ofKey,
      ofMember,
      ofSession: Effect.fnUntraced(function* ({ key, memberId, organizationId }) {
        const member = yield* ofMember(organizationId, memberId)
        if (Option.isNone(member)) return Option.none()
        return Option.some<SessionFacts>({
          ...member.value,
          key: key === undefined ? Option.none() : yield* ofKey(organizationId, key.id)
        })
      })
    })
  })
)
