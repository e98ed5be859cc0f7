/**
 * The port that keeps members.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { OrganizationId } from "../organization/Organization.ts"
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
    /** Inserts the member, or replaces the one of the same id. */
    readonly save: (member: Member) => Effect.Effect<void>
  }
>()("@castellan/core/member/MemberStore") {}

/** Keeps members in memory. */
export const layerMemory: Layer.Layer<MemberStore> = Layer.effect(
  MemberStore,
  Effect.gen(function* () {
    const table = yield* MemoryTable.make<MemberId, Member>()
    return MemberStore.of({
      get: (organizationId, id) =>
        Effect.map(
          table.get(id),
          Option.filter((member) => member.organizationId === organizationId)
        ),
      named: (organizationId, ids) => {
        const wanted = new Set(ids)
        return table.where((member) => member.organizationId === organizationId && wanted.has(member.id))
      },
      save: (member) => table.set(member.id, member)
    })
  })
)
