/**
 * The port that keeps agents.
 */
import * as Context from "effect/Context"
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { readable } from "../access/AccessPolicy.ts"
import type { Principal } from "../access/Principal.ts"
import type { ConnectorId } from "../connector/Connector.ts"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import * as Page from "../page/Page.ts"
import type { Agent, AgentId } from "./Agent.ts"

/** Which agents a list holds: in the order of their names, ties by id. */
export interface AgentQuery extends Page.OffsetPage {
  /** Only agents of its organization that it may read. */
  readonly reader: Principal
  /** The moment at which grants are judged. */
  readonly now: DateTime.Utc
  /** The connectors that the reader may not use: an agent that uses any of them is left out. */
  readonly lacking: ReadonlyArray<ConnectorId>
}

/** Keeps agents. No answer ever holds one of another organization. */
export class AgentStore extends Context.Service<
  AgentStore,
  {
    readonly get: (organizationId: OrganizationId, id: AgentId) => Effect.Effect<Option.Option<Agent>>
    readonly list: (query: AgentQuery) => Effect.Effect<Page.Counted<Agent>>
    /** Inserts the agent, or replaces the one of the same id. */
    readonly save: (agent: Agent) => Effect.Effect<void>
    /** Removes the agent; nothing where there is none. */
    readonly remove: (organizationId: OrganizationId, id: AgentId) => Effect.Effect<void>
  }
>()("@castellan/core/agent/AgentStore") {}

/** Whether an agent belongs on a list. */
export const matches = (query: AgentQuery, agent: Agent): boolean =>
  agent.organizationId === query.reader.organizationId &&
  readable(query.reader, agent.access, query.now) &&
  !agent.connectorIds.some((id) => query.lacking.includes(id))

const byName = (a: Agent, b: Agent): number =>
  a.name < b.name ? -1 : a.name > b.name ? 1 : a.id < b.id ? -1 : a.id > b.id ? 1 : 0

/** Keeps agents in memory. */
export const layerMemory: Layer.Layer<AgentStore> = Layer.effect(
  AgentStore,
  Effect.gen(function* () {
    const table = yield* MemoryTable.make<AgentId, Agent>()
    const get = (organizationId: OrganizationId, id: AgentId) =>
      Effect.map(
        table.get(id),
        Option.filter((agent) => agent.organizationId === organizationId)
      )
    return AgentStore.of({
      get,
      list: (query) =>
        Effect.map(
          table.where((agent) => matches(query, agent)),
          (found) => Page.counted(found.toSorted(byName), query)
        ),
      save: (agent) => table.set(agent.id, agent),
      remove: (organizationId, id) =>
        Effect.flatMap(get(organizationId, id), (found) => (Option.isSome(found) ? table.remove(id) : Effect.void))
    })
  })
)
