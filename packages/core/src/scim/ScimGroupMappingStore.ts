/**
 * The port that keeps the mappings of SCIM groups.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import type { ScimGroupMapping, ScimGroupMappingId } from "./ScimGroupMapping.ts"

/** Keeps mappings. No answer ever holds a mapping of another organization. */
export class ScimGroupMappingStore extends Context.Service<
  ScimGroupMappingStore,
  {
    /** Every mapping of the organization, in the order of creation. */
    readonly list: (organizationId: OrganizationId) => Effect.Effect<ReadonlyArray<ScimGroupMapping>>
    /** Inserts the mapping, or replaces the one of the same id. */
    readonly save: (mapping: ScimGroupMapping) => Effect.Effect<void>
  }
>()("@castellan/core/scim/ScimGroupMappingStore") {}

/** Keeps mappings in memory. */
export const layerMemory: Layer.Layer<ScimGroupMappingStore> = Layer.effect(
  ScimGroupMappingStore,
  Effect.gen(function* () {
    const table = yield* MemoryTable.make<ScimGroupMappingId, ScimGroupMapping>()
    return ScimGroupMappingStore.of({
      list: (organizationId) => table.where((mapping) => mapping.organizationId === organizationId),
      save: (mapping) => table.set(mapping.id, mapping)
    })
  })
)
