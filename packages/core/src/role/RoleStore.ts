/**
 * The port that keeps roles.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import type { Role, RoleId } from "./Role.ts"

/** Keeps roles. No answer ever holds a role of another organization. */
export class RoleStore extends Context.Service<
  RoleStore,
  {
    /** Every role of the organization, in the order of creation. */
    readonly list: (organizationId: OrganizationId) => Effect.Effect<ReadonlyArray<Role>>
    readonly get: (organizationId: OrganizationId, id: RoleId) => Effect.Effect<Option.Option<Role>>
    /** Inserts the role, or replaces the one of the same id. */
    readonly save: (role: Role) => Effect.Effect<void>
    /** Removes the role for good; nothing where there is none. */
    readonly remove: (organizationId: OrganizationId, id: RoleId) => Effect.Effect<void>
  }
>()("@castellan/core/role/RoleStore") {}

/** Keeps roles in memory. */
export const layerMemory: Layer.Layer<RoleStore> = Layer.effect(
  RoleStore,
  Effect.gen(function* () {
    const table = yield* MemoryTable.make<RoleId, Role>()
    const get = (organizationId: OrganizationId, id: RoleId) =>
      table.find(id, (role) => role.organizationId === organizationId)
    return RoleStore.of({
      get,
      list: (organizationId) => table.where((role) => role.organizationId === organizationId),
      save: (role) => table.set(role.id, role),
      remove: (organizationId, id) =>
        Effect.flatMap(get(organizationId, id), (found) => (Option.isSome(found) ? table.remove(id) : Effect.void))
    })
  })
)
