/**
 * The port that keeps executions, also after their sandcastle has stopped, until they are purged.
 */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import * as Page from "../page/Page.ts"
import type { Execution, ExecutionId } from "./Execution.ts"
import type { SandcastleId } from "./Sandcastle.ts"

/** Keeps executions. No answer ever holds one of another organization, but for `unfinished`. */
export class ExecutionStore extends Context.Service<
  ExecutionStore,
  {
    /** Inserts the execution, or replaces the one of the same id. */
    readonly save: (execution: Execution) => Effect.Effect<void>
    /**
     * Keeps the end of an execution that was kept without one. False, and nothing is changed, where it has its end, or
     * is not there: of all servers that end it, the first one does, and whoever has seen its end never sees another.
     */
    readonly end: (execution: Execution) => Effect.Effect<boolean>
    readonly get: (organizationId: OrganizationId, id: ExecutionId) => Effect.Effect<Option.Option<Execution>>
    /** The executions of a sandcastle, newest first. */
    readonly list: (
      organizationId: OrganizationId,
      sandcastleId: SandcastleId,
      page: Page.PositionPage
    ) => Effect.Effect<Page.Slice<Execution>>
    /** Those of every organization that were begun before a moment and have no end, oldest first: `limit` at most. */
    readonly unfinished: (before: DateTime.Utc, limit: number) => Effect.Effect<ReadonlyArray<Execution>>
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
      end: (execution) =>
        table.modify((rows) => {
          const kept = rows.get(execution.id)
          return kept?.organizationId === execution.organizationId && kept.status._tag === "Running"
            ? [true, [[execution.id, execution]]]
            : [false, []]
        }),
      get: (organizationId, id) =>
        Effect.map(
          table.get(id),
          Option.filter((execution) => execution.organizationId === organizationId)
        ),
      list: (organizationId, sandcastleId, page) =>
        Effect.map(
          table.where(
            (execution) => execution.organizationId === organizationId && execution.sandcastleId === sandcastleId
          ),
          (found) => Page.slice(found, page, ({ createdAt, id }) => ({ at: createdAt, id }))
        ),
      unfinished: (before, limit) =>
        Effect.map(
          table.where(({ createdAt, status }) => status._tag === "Running" && DateTime.isLessThan(createdAt, before)),
          (found) =>
            found
              .toSorted(
                (a, b) =>
                  DateTime.toEpochMillis(a.createdAt) - DateTime.toEpochMillis(b.createdAt) || (a.id < b.id ? -1 : 1)
              )
              .slice(0, limit)
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
