/**
 * The port that keeps executions, also after their sandcastle has stopped, until they are purged.
 */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import * as Page from "../page/Page.ts"
import type { Execution, ExecutionId } from "./Execution.ts"
import type { SandcastleId } from "./Sandcastle.ts"

/** Keeps executions. No list ever holds one of another organization. */
export class ExecutionStore extends Context.Service<
  ExecutionStore,
  {
    /** Inserts the execution, or replaces the one of the same id. */
    readonly save: (execution: Execution) => Effect.Effect<void>
    /** The executions of a sandcastle, newest first. */
    readonly list: (
      organizationId: OrganizationId,
      sandcastleId: SandcastleId,
      page: Page.PositionPage
    ) => Effect.Effect<Page.Slice<Execution>>
    /**
     * Removes executions of every organization that were recorded before a moment: `limit` at most, so that nobody
     * waits for long. Answers how many; fewer than `limit` means that none is left, or that others are removing them.
     */
    readonly purge: (before: DateTime.Utc, limit: number) => Effect.Effect<number>
  }
>()("@castellan/core/sandcastle/ExecutionStore") {}

/** Keeps executions in memory. */
export const layerMemory: Layer.Layer<ExecutionStore> = Layer.effect(
  ExecutionStore,
  Effect.gen(function* () {
    const table = yield* MemoryTable.make<ExecutionId, Execution>()
    return ExecutionStore.of({
      save: (execution) => table.set(execution.id, execution),
      list: (organizationId, sandcastleId, page) =>
        Effect.map(
          table.where(
            (execution) => execution.organizationId === organizationId && execution.sandcastleId === sandcastleId
          ),
          (found) => Page.slice(found, page, ({ createdAt, id }) => ({ at: createdAt, id }))
        ),
      purge: (before, limit) =>
        Effect.flatMap(
          table.where((execution) => DateTime.isLessThan(execution.createdAt, before)),
          (found) => {
            const old = found.slice(0, limit)
            return Effect.as(
              Effect.forEach(old, ({ id }) => table.remove(id), { discard: true }),
              old.length
            )
          }
        )
    })
  })
)
