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
import * as Ref from "effect/Ref"
import * as Semaphore from "effect/Semaphore"
import { Analyst } from "../analyst/Analyst.ts"
import { ChatStore } from "../chat/ChatStore.ts"
import type { Run, RunId, RunUsage } from "./Run.ts"
import { RunEvent } from "./RunEvent.ts"
import { RunLimits } from "./RunLimits.ts"
import { RunLog } from "./RunLog.ts"
import { Runner } from "./Runner.ts"
import { advance, RunTransition } from "./RunState.ts"

/** How the runner is set up. */
export interface InProcessRunnerOptions {
  /** Runs that are carried out at a time; further ones wait their turn. Default 16. */
  readonly concurrency?: number
}

/** What an ended run tells its followers. */
const doneOf = (run: Run): RunEvent => {
  if (run.status._tag === "Completed") return RunEvent.cases.Done.make({ status: "completed" })
  const error =
    run.status._tag === "Failed" ? run.status.error : run.status._tag === "Cancelled" ? "cancelled" : "internal error"
  return RunEvent.cases.Done.make({ status: "failed", error })
}

/** Carries runs out in this process. */
export const layer = (options: InProcessRunnerOptions = {}): Layer.Layer<Runner, never, Analyst | ChatStore | RunLog> =>
  Layer.effect(
    Runner,
    Effect.gen(function* () {
      const analyst = yield* Analyst
      const store = yield* ChatStore
      const log = yield* RunLog
      const limits = yield* RunLimits
      const turns = yield* Semaphore.make(options.concurrency ?? 16)
      const fibers = yield* FiberMap.make<RunId>()
      const cancelled = new Set<RunId>()

      /** How a run that came to an end, ended. */
      const endingOf = (run: Run, exit: Exit.Exit<void, RunTransition>): RunTransition => {
        if (Exit.isSuccess(exit)) return RunTransition.cases.Complete.make({})
        if (cancelled.has(run.id)) return RunTransition.cases.Cancel.make({})
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

      const end = Effect.fnUntraced(function* (run: Run, exit: Exit.Exit<void, RunTransition>, usage: RunUsage) {
        const now = yield* DateTime.now
        const ended = advance(run, endingOf(run, exit), now, usage)
        // An ending that the state refuses is a defect of the runner: it must not pass for an end.
        const last = yield* Effect.orDie(Effect.fromResult(ended))
        yield* store.endRun(last, now)
        // Told last: whoever has seen `Done` finds the chat idle and the run ended.
        yield* log.append(run.id, [doneOf(last)])
      })

      const execute = Effect.fnUntraced(function* (queued: Run, usage: Ref.Ref<RunUsage>, current: Ref.Ref<Run>) {
        const started = yield* Effect.orDie(
          Effect.fromResult(advance(queued, RunTransition.cases.Start.make({}), yield* DateTime.now))
        )
        yield* store.saveRun(started)
        yield* Ref.set(current, started)
        yield* analyst.answer(started, usage).pipe(
          Effect.mapError((failure) =>
            RunTransition.cases.Fail.make({ failure: "execution_failed", error: failure.message })
          ),
          Effect.timeoutOrElse({
            duration: limits.timeout,
            orElse: () =>
              Effect.fail(
                RunTransition.cases.Fail.make({ failure: "timeout", error: "the run went past its time limit" })
              )
          })
        )
      })

      const carryOut = Effect.fnUntraced(function* (queued: Run) {
        const usage = yield* Ref.make(queued.usage)
        const current = yield* Ref.make(queued)
        yield* turns
          .withPermits(1)(execute(queued, usage, current))
          .pipe(
            Effect.onExit((exit) =>
              Effect.gen(function* () {
                yield* end(yield* Ref.get(current), exit, yield* Ref.get(usage))
              })
            ),
            Effect.tapCause((cause) =>
              Cause.hasDies(cause) ? Effect.logError("a run failed unexpectedly", cause) : Effect.void
            ),
            Effect.annotateLogs({ run: queued.id, organization: queued.organizationId }),
            // The outcome is in the store and in the log; nobody awaits the fiber for it.
            Effect.ignore
          )
      })

      return Runner.of({
        // Started at once: a fiber that is interrupted before its first step would leave its run queued for good.
        start: (run) =>
          Effect.asVoid(FiberMap.run(fibers, run.id, carryOut(run), { onlyIfMissing: true, startImmediately: true })),
        cancel: Effect.fn("Runner.cancel")(function* (id) {
          const fiber = yield* FiberMap.get(fibers, id)
          if (Option.isNone(fiber)) return false
          cancelled.add(id)
          yield* Effect.ensuring(
            Fiber.interrupt(fiber.value),
            Effect.sync(() => cancelled.delete(id))
          )
          return true
        })
      })
    })
  )
