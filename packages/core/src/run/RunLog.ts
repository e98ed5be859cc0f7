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
import type { RunId } from "./Run.ts"
import { type RunEvent, RunLogEntry } from "./RunEvent.ts"

/** Keeps the events of runs. */
export class RunLog extends Context.Service<
  RunLog,
  {
    /**
     * Appends events in order. They are kept when this is done. Once a run's log has its `Done`, nothing more is
     * appended: the events are dropped, so that a straggler cannot follow the end.
     */
    readonly append: (runId: RunId, events: ReadonlyArray<RunEvent>) => Effect.Effect<void>
    /** The entries after a sequence number (0: from the start), as far as they are there. */
    readonly read: (runId: RunId, after: number) => Effect.Effect<ReadonlyArray<RunLogEntry>>
    /**
     * The entries after a sequence number, and those to come, without a gap or a repeat; ends after `Done`.
     * The entries are the same objects for every follower in the process.
     */
    readonly follow: (runId: RunId, after: number) => Stream.Stream<RunLogEntry>
    /** Removes the log of an ended run, as part of the transaction that runs; nothing where there is none. */
    readonly remove: (runId: RunId) => Effect.Effect<void>
  }
>()("@castellan/core/run/RunLog") {}

interface MemoryLog {
  readonly entries: Array<RunLogEntry>
  ended: boolean
  /** Completed, and replaced, by the next append. */
  grown: Deferred.Deferred<void>
}

/** Keeps the events of runs in memory. */
export const layerMemory: Layer.Layer<RunLog> = Layer.sync(RunLog, () => {
  const logs = new Map<RunId, MemoryLog>()

  const logOf = (runId: RunId): MemoryLog => {
    const found = logs.get(runId)
    if (found !== undefined) return found
    const log: MemoryLog = { entries: [], ended: false, grown: Deferred.makeUnsafe() }
    logs.set(runId, log)
    return log
  }

  const append = (runId: RunId, events: ReadonlyArray<RunEvent>) =>
    Effect.suspend(() => {
      const log = logOf(runId)
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

  const read = (runId: RunId, after: number) => Effect.sync(() => logs.get(runId)?.entries.slice(after) ?? [])

  const follow = (runId: RunId, after: number) =>
    Stream.suspend(() => {
      // The log as it is now: who follows it reads it to its end, even when it is removed meanwhile.
      const log = logOf(runId)
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
  const remove = (runId: RunId) =>
    Effect.map(CurrentMemoryTransaction, (transaction) => {
      if (transaction?.isOpen === true) {
        transaction.join({ isStale: () => false, commit: () => logs.delete(runId), leave: () => {} })
      } else logs.delete(runId)
    })

  return RunLog.of({ append, read, follow, remove })
})
