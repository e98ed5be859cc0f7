/**
 * Carries runs out as fibers of this process. A run belongs to no request: it ends by itself, by a cancel, at its
 * time limit, or with the process.
 *
 * Source: architecture.md §3; decisions.md §4.
 */
import * as Cause from "effect/Cause"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberMap from "effect/FiberMap"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as PartitionedSemaphore from "effect/PartitionedSemaphore"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import { Analyst } from "../analyst/Analyst.ts"
import { ChatStore } from "../chat/ChatStore.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import { Usage } from "../usage/Usage.ts"
import type { Run, RunId, RunUsage } from "./Run.ts"
import { RunEvent } from "./RunEvent.ts"
import { RunLimits } from "./RunLimits.ts"
import { RunLog } from "./RunLog.ts"
import { openingOf } from "./RunOpening.ts"
import { Runner } from "./Runner.ts"
import { advance, RunTransition } from "./RunState.ts"

/** How the runner is set up. */
export interface InProcessRunnerOptions {
  /**
   * Runs that are carried out at a time; further ones wait their turn, which goes round the organizations, so that a
   * crowd of one does not hold up the others. Default 16.
   */
  readonly concurrency?: number
}

/** What an ended run tells its followers. */
const doneOf = (run: Run): RunEvent => {
  if (run.status._tag === "Completed") return RunEvent.cases.Done.make({ status: "completed" })
  const error =
    run.status._tag === "Failed" ? run.status.error : run.status._tag === "Cancelled" ? "cancelled" : "internal error"
  return RunEvent.cases.Done.make({ status: "failed", error })
}

/** A run that is being carried out here. */
interface Carried {
  /** The run as it is now. */
  run: Run
  /** Whether somebody asked for it to stop. */
  cancelled: boolean
}

/** How a run that came to an end, ended. */
const endingOf = (carried: Carried, exit: Exit.Exit<void, RunTransition>): RunTransition => {
  if (Exit.isSuccess(exit)) return RunTransition.cases.Complete.make({})
  if (carried.cancelled) return RunTransition.cases.Cancel.make({})
  if (Cause.hasInterruptsOnly(exit.cause)) {
    return RunTransition.cases.Fail.make({
      failure: "execution_failed",
      error: "the server stopped before the run ended"
    })
  }
  return Option.getOrElse(Cause.findErrorOption(exit.cause), () =>
    RunTransition.cases.Fail.make({ failure: "execution_failed", error: "internal error" })
  )
}

/** Tries again, for about half a minute, what a store could not do. */
const persistently = <A>(write: Effect.Effect<A>): Effect.Effect<A> =>
  write.pipe(
    Effect.sandbox,
    Effect.tapError((cause) => Effect.logWarning("the end of a run could not be kept; trying again", cause)),
    Effect.retry({ times: 8, schedule: Schedule.exponential("100 millis") }),
    Effect.catch((cause) => Effect.failCause(cause))
  )

/** Carries runs out in this process. */
export const layer = (
  options: InProcessRunnerOptions = {}
): Layer.Layer<Runner, never, Analyst | ChatStore | RunLog | Usage> =>
  Layer.effect(
    Runner,
    Effect.gen(function* () {
      const analyst = yield* Analyst
      const store = yield* ChatStore
      const log = yield* RunLog
      const used = yield* Usage
      const limits = yield* RunLimits
      const turns = yield* PartitionedSemaphore.make<OrganizationId>({ permits: options.concurrency ?? 16 })
      const fibers = yield* FiberMap.make<RunId>()
      const carriedOut = new Map<RunId, Carried>()

      const end = Effect.fnUntraced(function* (
        carried: Carried,
        exit: Exit.Exit<void, RunTransition>,
        usage: RunUsage
      ) {
        const now = yield* DateTime.now
        const ended = advance(carried.run, endingOf(carried, exit), now, usage)
        // An ending that the state refuses is a defect of the runner: it must not pass for an end.
        carried.run = yield* Effect.orDie(Effect.fromResult(ended))
        // Counted before the chat is idle, so that the next question finds the budgets as this run left them.
        const counted = yield* Effect.exit(persistently(used.record(carried.run)))
        // A store that is away for a moment must not leave a chat that runs for good. Told last: whoever has seen `Done`
        // finds the chat idle and the run ended.
        yield* persistently(store.endRun(carried.run, now))
        yield* persistently(log.append(carried.run, [doneOf(carried.run)]))
        yield* counted
      })

      const execute = Effect.fnUntraced(function* (carried: Carried, usage: Ref.Ref<RunUsage>) {
        carried.run = yield* Effect.orDie(
          Effect.fromResult(advance(carried.run, RunTransition.cases.Start.make({}), yield* DateTime.now))
        )
        yield* store.saveRun(carried.run)
        yield* Effect.mapError(analyst.answer(carried.run, usage), (failure) =>
          RunTransition.cases.Fail.make({ failure: "execution_failed", error: failure.message })
        )
      })

      /** The limit of time counts from the question: who waits for a turn does not wait for ever. */
      const inTime = Effect.timeoutOrElse({
        duration: limits.timeout,
        orElse: () =>
          Effect.fail(RunTransition.cases.Fail.make({ failure: "timeout", error: "the run went past its time limit" }))
      })

      /** Only the wait for the run's turn and the work itself can be interrupted: what is begun is always ended. */
      const carryOut = (asked: Run) =>
        Effect.uninterruptibleMask(
          Effect.fnUntraced(function* (restore) {
            const carried: Carried = { run: asked, cancelled: false }
            carriedOut.set(asked.id, carried)
            const stored = yield* store.run(asked.organizationId, asked.id)
            // A run that was taken up before is under way, or has ended.
            if (Option.isNone(stored) || stored.value.status._tag !== "Queued") return
            carried.run = stored.value
            yield* log.append(carried.run, openingOf(carried.run))
            const usage = yield* Ref.make(carried.run.usage)
            const exit = yield* Effect.exit(
              restore(inTime(turns.withPermit(carried.run.organizationId)(execute(carried, usage))))
            )
            if (Exit.isFailure(exit) && Cause.hasDies(exit.cause)) {
              yield* Effect.logError("a run failed unexpectedly", exit.cause)
            }
            yield* end(carried, exit, yield* Ref.get(usage))
          })
        ).pipe(
          Effect.ensuring(Effect.sync(() => carriedOut.delete(asked.id))),
          Effect.tapCause((cause) =>
            Cause.hasDies(cause) ? Effect.logError("a run could not be ended", cause) : Effect.void
          ),
          Effect.annotateLogs({ run: asked.id, organization: asked.organizationId })
        )

      return Runner.of({
        // Started at once: a fiber that is interrupted before its first step would leave its run queued for good.
        start: (run) =>
          Effect.asVoid(FiberMap.run(fibers, run.id, carryOut(run), { onlyIfMissing: true, startImmediately: true })),
        cancel: Effect.fn("Runner.cancel")(function* (id) {
          const fiber = yield* FiberMap.get(fibers, id)
          const carried = carriedOut.get(id)
          if (Option.isNone(fiber) || carried === undefined) return false
          carried.cancelled = true
          yield* Fiber.interrupt(fiber.value)
          // A run may answer in the very moment in which it is stopped: then it has answered.
          return carried.run.status._tag === "Cancelled"
        })
      })
    })
  )
