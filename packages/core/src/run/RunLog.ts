/**
 * The run log: an append-only sequence of events for each run, and the only stream there is. Server-sent events,
 * resumption, stored messages and cells are all read from it.
 *
 * Source: architecture.md §3.
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { CurrentMemoryTransaction } from "../memory/MemoryTransaction.ts"
import type { Run } from "./Run.ts"
import { type RunEvent, RunLogEntry } from "./RunEvent.ts"

/** Whose log: the run, named with its organization. A run is one itself. */
export type LoggedRun = Pick<Run, "id" | "organizationId">

/** A run whose log is written: with the epoch of whoever writes it; 0 unless given. */
export type WrittenRun = LoggedRun & Partial<Pick<Run, "epoch">>

/** Keeps the events of runs. No answer ever holds anything of another organization. */
export class RunLog extends Context.Service<
  RunLog,
  {
    /**
     * Appends events in order. They are kept when this is done. Once a run's log has its `Done`, nothing more is
     * appended: the events are dropped, so that a straggler cannot follow the end. Once somebody has appended in an
     * epoch, be it nothing, what is appended in an earlier one is dropped as well: who took a run up from a runner that
     * was not heard of any more has its log to itself.
     *
     * What is appended is seen by others at once, so it is no part of a transaction: it is not for use within one.
     */
    readonly append: (run: WrittenRun, events: ReadonlyArray<RunEvent>) => Effect.Effect<void>
    /** The entries after a sequence number (0: from the start), as far as they are there. */
    readonly read: (run: LoggedRun, after: number) => Effect.Effect<ReadonlyArray<RunLogEntry>>
    /**
     * The entries after a sequence number, and those to come, without a gap or a repeat; ends after `Done`.
     * Entries that come while several follow are the same objects for each of them. Whoever reads slowly holds up
     * nobody.
     */
    readonly follow: (run: LoggedRun, after: number) => Stream.Stream<RunLogEntry>
    /** Removes the log of an ended run, as part of the transaction that runs; nothing where there is none. */
    readonly remove: (run: LoggedRun) => Effect.Effect<void>
  }
>()("@castellan/core/run/RunLog") {}

type Key = `${LoggedRun["organizationId"]}/${LoggedRun["id"]}`

const keyOf = (run: LoggedRun): Key => `${run.organizationId}/${run.id}`

interface MemoryLog {
  readonly entries: Array<RunLogEntry>
  ended: boolean
  /** The latest epoch that was appended in. */
  epoch: number
  /** Completed, and replaced, by the next append. */
  grown: Deferred.Deferred<void>
}

/** Keeps the events of runs in memory. */
export const layerMemory: Layer.Layer<RunLog> = Layer.sync(RunLog, () => {
  const logs = new Map<Key, MemoryLog>()

  const logOf = (run: LoggedRun): MemoryLog => {
    const found = logs.get(keyOf(run))
    if (found !== undefined) return found
    const log: MemoryLog = { entries: [], ended: false, epoch: 0, grown: Deferred.makeUnsafe() }
    logs.set(keyOf(run), log)
    return log
  }

  const append = (run: WrittenRun, events: ReadonlyArray<RunEvent>) =>
    Effect.suspend(() => {
      const log = logOf(run)
      const { epoch = 0 } = run
      if (epoch < log.epoch) return Effect.void
      log.epoch = epoch
      const before = log.entries.length
      for (const event of events) {
        if (log.ended) break
        log.entries.push(new RunLogEntry({ sequence: log.entries.length + 1, event }))
        log.ended = event._tag === "Done"
      }
      if (log.entries.length === before) return Effect.void
      const grown = log.grown
      log.grown = Deferred.makeUnsafe()
      return Effect.asVoid(Deferred.succeed(grown, undefined))
    })

  const read = (run: LoggedRun, after: number) => Effect.sync(() => logs.get(keyOf(run))?.entries.slice(after) ?? [])

  const follow = (run: LoggedRun, after: number) =>
    Stream.suspend(() => {
      // The log as it is now: who follows it reads it to its end, even when it is removed meanwhile.
      const log = logOf(run)
      return Stream.paginate(after, (cursor) => {
        const next: Effect.Effect<readonly [ReadonlyArray<RunLogEntry>, Option.Option<number>]> = Effect.suspend(() => {
          const entries = log.entries.slice(cursor)
          if (entries.length === 0 && !log.ended) return Effect.andThen(Deferred.await(log.grown), next)
          const end: Option.Option<number> = log.ended ? Option.none() : Option.some(cursor + entries.length)
          return Effect.succeed([entries, end])
        })
        return next
      })
    })

  // What is appended is kept at once; what is removed must come back when the transaction is given up.
  const remove = (run: LoggedRun) =>
    Effect.map(CurrentMemoryTransaction, (transaction) => {
      if (transaction?.isOpen === true) {
        transaction.join({ isStale: () => false, commit: () => logs.delete(keyOf(run)), leave: () => {} })
      } else logs.delete(keyOf(run))
    })

  return RunLog.of({ append, read, follow, remove })
})
