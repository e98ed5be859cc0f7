/**
 * The port that keeps the runs of agents.
 */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { creatorOf } from "../access/Access.ts"
import type { Principal } from "../access/Principal.ts"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import * as Page from "../page/Page.ts"
import { shownTo } from "../rowpolicy/RowVisibility.ts"
import type { AgentId } from "./Agent.ts"
import { type AgentRun, type AgentRunId, isEnded } from "./AgentRun.ts"

/** Which runs of an agent a list holds: newest first. */
export interface AgentRunQuery extends Page.OffsetPage {
  /** Only runs of its organization, and none that another end user's data started. */
  readonly reader: Principal
  readonly agentId: AgentId
}

/** Keeps the runs of agents. No answer but `unfinished` ever holds one of another organization. */
export class AgentRunStore extends Context.Service<
  AgentRunStore,
  {
    readonly get: (organizationId: OrganizationId, id: AgentRunId) => Effect.Effect<Option.Option<AgentRun>>
    readonly list: (query: AgentRunQuery) => Effect.Effect<Page.Counted<AgentRun>>
    /** Inserts the run, or replaces the one of the same id. */
    readonly save: (run: AgentRun) => Effect.Effect<void>
    /** The runs of every organization that have not ended and were made before a moment, oldest first. */
    readonly unfinished: (before: DateTime.Utc, limit: number) => Effect.Effect<ReadonlyArray<AgentRun>>
  }
>()("@castellan/core/agent/AgentRunStore") {}

const position = (run: AgentRun): Page.Position => ({ at: run.createdAt, id: run.id })

/** Keeps the runs of agents in memory. */
export const layerMemory: Layer.Layer<AgentRunStore> = Layer.effect(
  AgentRunStore,
  Effect.gen(function* () {
    const table = yield* MemoryTable.make<AgentRunId, AgentRun>()
    return AgentRunStore.of({
      get: (organizationId, id) =>
        Effect.map(
          table.get(id),
          Option.filter((run) => run.organizationId === organizationId)
        ),
      list: (query) =>
        Effect.map(
          table.where(
            (run) =>
              run.organizationId === query.reader.organizationId &&
              run.agentId === query.agentId &&
              shownTo(query.reader, creatorOf(run.principal))
          ),
          (found) =>
            Page.counted(
              found.toSorted((a, b) => Page.newestFirst(position(a), position(b))),
              query
            )
        ),
      save: (run) => table.set(run.id, run),
      unfinished: (before, limit) =>
        Effect.map(
          table.where((run) => !isEnded(run) && DateTime.isLessThan(run.createdAt, before)),
          (found) => found.toSorted((a, b) => Page.newestFirst(position(b), position(a))).slice(0, limit)
        )
    })
  })
)
