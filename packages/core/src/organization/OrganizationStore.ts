/**
 * The port that keeps organizations.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { Organization, OrganizationId } from "./Organization.ts"

/** Keeps organizations. */
export class OrganizationStore extends Context.Service<
  OrganizationStore,
  {
    readonly get: (id: OrganizationId) => Effect.Effect<Option.Option<Organization>>
    /** Inserts the organization, or replaces the one of the same id. */
    readonly save: (organization: Organization) => Effect.Effect<void>
  }
>()("@castellan/core/organization/OrganizationStore") {}

/** Keeps organizations in memory. */
export const layerMemory: Layer.Layer<OrganizationStore> = Layer.effect(
  OrganizationStore,
  Effect.gen(function* () {
    const table = yield* MemoryTable.make<OrganizationId, Organization>()
    return OrganizationStore.of({
      get: table.get,
      save: (organization) => table.set(organization.id, organization)
    })
  })
)
