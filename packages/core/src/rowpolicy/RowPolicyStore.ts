/**
 * The port that keeps row policies.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { ConnectorId } from "../connector/Connector.ts"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import type { RowPolicy, RowPolicyId } from "./RowPolicy.ts"

/** Keeps row policies. No answer ever holds one of another organization. */
export class RowPolicyStore extends Context.Service<
  RowPolicyStore,
  {
    readonly get: (organizationId: OrganizationId, id: RowPolicyId) => Effect.Effect<Option.Option<RowPolicy>>
    /** The policies of a connector, in the order of their ids, which is that of their creation. */
    readonly list: (organizationId: OrganizationId, connectorId: ConnectorId) => Effect.Effect<ReadonlyArray<RowPolicy>>
    /** Inserts the policy, or replaces the one of the same id. */
    readonly save: (policy: RowPolicy) => Effect.Effect<void>
    /** Removes the policy; nothing where there is none. */
    readonly remove: (organizationId: OrganizationId, id: RowPolicyId) => Effect.Effect<void>
  }
>()("@castellan/core/rowpolicy/RowPolicyStore") {}

/** Keeps row policies in memory. */
export const layerMemory: Layer.Layer<RowPolicyStore> = Layer.effect(
  RowPolicyStore,
  Effect.gen(function* () {
    const table = yield* MemoryTable.make<RowPolicyId, RowPolicy>()
    const get = (organizationId: OrganizationId, id: RowPolicyId) =>
      Effect.map(
        table.get(id),
        Option.filter((policy) => policy.organizationId === organizationId)
      )
    return RowPolicyStore.of({
      get,
      list: (organizationId, connectorId) =>
        Effect.map(
          table.where((policy) => policy.organizationId === organizationId && policy.connectorId === connectorId),
          (found) => found.toSorted((a, b) => (a.id < b.id ? -1 : 1))
        ),
      save: (policy) => table.set(policy.id, policy),
      remove: (organizationId, id) =>
        Effect.flatMap(get(organizationId, id), (found) => (Option.isSome(found) ? table.remove(id) : Effect.void))
    })
  })
)
