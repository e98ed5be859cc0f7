/**
 * The port that keeps the runs of playbooks.
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
import type { PlaybookId } from "./Playbook.ts"
import { isEnded, type PlaybookRun, type PlaybookRunId } from "./PlaybookRun.ts"

/** Keeps the runs of playbooks. No answer but `unfinished` ever holds one of another organization. */
export class PlaybookRunStore extends Context.Service<
  PlaybookRunStore,
  {
    readonly get: (organizationId: OrganizationId, id: PlaybookRunId) => Effect.Effect<Option.Option<PlaybookRun>>
    /**
     * Keeps a new run. False, and nothing is kept, where its trigger is a schedule's due time that another run of the
     * playbook stands for already.
     */
    readonly open: (run: PlaybookRun) => Effect.Effect<boolean>
    /** Replaces the run of the same id. */
    readonly save: (run: PlaybookRun) => Effect.Effect<void>
    /** The runs of a playbook, newest first: those of the reader's organization, and none that another end user made. */
    readonly ofPlaybook: (
      reader: Principal,
      playbookId: PlaybookId,
      page: Page.OffsetPage
    ) => Effect.Effect<Page.Counted<PlaybookRun>>
    /** The runs of every organization that have not ended and were made before a moment, oldest first. */
    readonly unfinished: (before: DateTime.Utc, limit: number) => Effect.Effect<ReadonlyArray<PlaybookRun>>
  }
>()("@castellan/core/playbook/PlaybookRunStore") {}

/** Whether two runs stand for the same due time. */
const sameDueTime = (a: PlaybookRun, b: PlaybookRun): boolean =>
  a.playbookId === b.playbookId &&
  a.trigger._tag === "Schedule" &&
  b.trigger._tag === "Schedule" &&
  DateTime.Equivalence(a.trigger.dueAt, b.trigger.dueAt)

const position = (run: PlaybookRun): Page.Position => ({ at: run.createdAt, id: run.id })

/** Keeps the runs of playbooks in memory. */
export const layerMemory: Layer.Layer<PlaybookRunStore> = Layer.effect(
  PlaybookRunStore,
  Effect.gen(function* () {
    const table = yield* MemoryTable.make<PlaybookRunId, PlaybookRun>()
    return PlaybookRunStore.of({
      get: (organizationId, id) =>
        Effect.map(
          table.get(id),
          Option.filter((run) => run.organizationId === organizationId)
        ),
      open: (run) =>
        table.modify((rows) => {
          for (const other of rows.values()) if (sameDueTime(run, other)) return [false, []]
          return [true, [[run.id, run]]]
        }),
      save: (run) => table.set(run.id, run),
      ofPlaybook: (reader, playbookId, page) =>
        Effect.map(
          table.where(
            (run) =>
              run.organizationId === reader.organizationId &&
              run.playbookId === playbookId &&
              shownTo(reader, creatorOf(run.principal))
          ),
          (found) =>
            Page.counted(
              found.toSorted((a, b) => Page.newestFirst(position(a), position(b))),
              page
            )
        ),
      unfinished: (before, limit) =>
        Effect.map(
          table.where((run) => !isEnded(run) && DateTime.isLessThan(run.createdAt, before)),
          (found) => found.toSorted((a, b) => Page.newestFirst(position(b), position(a))).slice(0, limit)
        )
    })
  })
)
