/**
 * The port that keeps schedules: at most one for a playbook.
 */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import type { Schedule } from "./Schedule.ts"

/** Keeps schedules. */
export class ScheduleStore extends Context.Service<
  ScheduleStore,
  {
    readonly get: (
      organizationId: OrganizationId,
      playbookId: Schedule["playbookId"]
    ) => Effect.Effect<Option.Option<Schedule>>
    /** Inserts the schedule, or replaces the one of the same playbook. */
    readonly save: (schedule: Schedule) => Effect.Effect<void>
    /**
     * Takes a schedule's due time: its next one stands in its place, or the schedule is removed where there is none.
     * False, and nothing is changed, where the due time was taken already: of all servers that fire it, one does.
     */
    readonly take: (found: Schedule, next: Option.Option<Schedule>) => Effect.Effect<boolean>
    /** Removes the schedule of a playbook; nothing where there is none. */
    readonly remove: (organizationId: OrganizationId, playbookId: Schedule["playbookId"]) => Effect.Effect<void>
    /** The schedules of every organization that are due at a moment, the longest due first; at most `limit`. */
    readonly due: (now: DateTime.Utc, limit: number) => Effect.Effect<ReadonlyArray<Schedule>>
  }
>()("@castellan/core/schedule/ScheduleStore") {}

/** Sorts schedules by due time, ties by playbook. */
const byDueTime = (a: Schedule, b: Schedule): number =>
  DateTime.toEpochMillis(a.nextDueAt) - DateTime.toEpochMillis(b.nextDueAt) || (a.playbookId < b.playbookId ? -1 : 1)

/** Keeps schedules in memory. */
export const layerMemory: Layer.Layer<ScheduleStore> = Layer.effect(
  ScheduleStore,
  Effect.gen(function* () {
    const table = yield* MemoryTable.make<Schedule["playbookId"], Schedule>()
    const get = (organizationId: OrganizationId, playbookId: Schedule["playbookId"]) =>
      Effect.map(
        table.get(playbookId),
        Option.filter((schedule) => schedule.organizationId === organizationId)
      )
    return ScheduleStore.of({
      get,
      save: (schedule) => table.set(schedule.playbookId, schedule),
      remove: (organizationId, playbookId) =>
        Effect.flatMap(get(organizationId, playbookId), (found) =>
          Option.isSome(found) ? table.remove(playbookId) : Effect.void
        ),
      take: (found, next) =>
        table.modify((rows) => {
          const current = rows.get(found.playbookId)
          return current !== undefined &&
            current.organizationId === found.organizationId &&
            DateTime.Equivalence(current.nextDueAt, found.nextDueAt)
            ? [true, [[found.playbookId, Option.getOrUndefined(next)]]]
            : [false, []]
        }),
      due: (now, limit) =>
        Effect.map(
          table.where((schedule) => DateTime.isLessThanOrEqualTo(schedule.nextDueAt, now)),
          (found) => found.toSorted(byDueTime).slice(0, limit)
        )
    })
  })
)
