/**
 * The port that keeps members.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import type { RoleId } from "../role/Role.ts"
import type { Member, MemberId } from "./Member.ts"

/** Keeps members. No answer ever holds a member of another organization. */
export class MemberStore extends Context.Service<
  MemberStore,
  {
    readonly get: (organizationId: OrganizationId, id: MemberId) => Effect.Effect<Option.Option<Member>>
    /** The members of these ids, in no order; unknown ids are left out. */
    readonly named: (
      organizationId: OrganizationId,
      ids: ReadonlyArray<MemberId>
    ) => Effect.Effect<ReadonlyArray<Member>>
    /** Every member of the organization, in the order of creation. */
    readonly list: (organizationId: OrganizationId) => Effect.Effect<ReadonlyArray<Member>>
    /** The member of an e-mail address; upper and lower case are the same. */
    readonly byEmail: (organizationId: OrganizationId, email: string) => Effect.Effect<Option.Option<Member>>
    /** The members, active or not, that hold a role, in the order of creation. */
    readonly withRole: (organizationId: OrganizationId, role: RoleId) => Effect.Effect<ReadonlyArray<Member>>
    /** Inserts the member, or replaces the one of the same id. */
    readonly save: (member: Member) => Effect.Effect<void>
    /** Removes the member for good; nothing where there is none. */
    readonly remove: (organizationId: OrganizationId, id: MemberId) => Effect.Effect<void>
  }
>()("@castellan/core/member/MemberStore") {}

/** Keeps members in memory. */
export const layerMemory: Layer.Layer<MemberStore> = Layer.effect(
  MemberStore,
  Effect.gen(function* () {
    const table = yield* MemoryTable.make<MemberId, Member>()
    const get = (organizationId: OrganizationId, id: MemberId) =>
      table.find(id, (member) => member.organizationId === organizationId)
    return MemberStore.of({
      get,
      list: (organizationId) => table.where((member) => member.organizationId === organizationId),
      byEmail: (organizationId, email) => {
        const wanted = email.toLowerCase()
        return Effect.map(
          table.where((member) => member.organizationId === organizationId && member.email.toLowerCase() === wanted),
          (found) => Option.fromUndefinedOr(found[0])
        )
      },
      withRole: (organizationId, role) =>
        table.where((member) => member.organizationId === organizationId && member.roles.includes(role)),
      named: (organizationId, ids) => {
        const wanted = new Set(ids)
        return table.where((member) => member.organizationId === organizationId && wanted.has(member.id))
      },
      save: (member) => table.set(member.id, member),
      remove: (organizationId, id) =>
        Effect.flatMap(get(organizationId, id), (found) => (Option.isSome(found) ? table.remove(id) : Effect.void))
    })
  })
)
