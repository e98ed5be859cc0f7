/**
 * The port that keeps the triggers of agents.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import type { AgentId } from "./Agent.ts"
import type { Trigger, TriggerId } from "./Trigger.ts"

/** Keeps triggers. No answer ever holds one of another organization. */
export class TriggerStore extends Context.Service<
  TriggerStore,
  {
    readonly get: (organizationId: OrganizationId, id: TriggerId) => Effect.Effect<Option.Option<Trigger>>
    /** The triggers of an agent, in the order of their ids. */
    readonly ofAgent: (organizationId: OrganizationId, agentId: AgentId) => Effect.Effect<ReadonlyArray<Trigger>>
    /** Keeps a new trigger. */
    readonly add: (trigger: Trigger) => Effect.Effect<void>
    /** Removes the trigger; nothing where there is none. */
    readonly remove: (organizationId: OrganizationId, id: TriggerId) => Effect.Effect<void>
  }
>()("@castellan/core/agent/TriggerStore") {}

/** Keeps triggers in memory. */
export const layerMemory: Layer.Layer<TriggerStore> = Layer.effect(
  TriggerStore,
  Effect.gen(function* () {
    const table = yield* MemoryTable.make<TriggerId, Trigger>()
    const get = (organizationId: OrganizationId, id: TriggerId) =>
      Effect.map(
        table.get(id),
        Option.filter((trigger) => trigger.organizationId === organizationId)
      )
    return TriggerStore.of({
      get,
      ofAgent: (organizationId, agentId) =>
        Effect.map(
          table.where((trigger) => trigger.organizationId === organizationId && trigger.agentId === agentId),
          (found) => found.toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
        ),
      add: (trigger) => table.set(trigger.id, trigger),
      remove: (organizationId, id) =>
        Effect.flatMap(get(organizationId, id), (found) => (Option.isSome(found) ? table.remove(id) : Effect.void))
    })
  })
)
