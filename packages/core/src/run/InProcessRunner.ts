/**
 * Carries runs out as fibers of this process. A run belongs to no request: it ends by itself, by a cancel, at its
 * time limit, or with the process.
 *
 * Several processes may share the stores. Each says from time to time that it carries its runs still; a run of one that
 * has stopped is taken up by another. One that waited its turn is carried out then. One that was begun ends as failed:
 * it is not resumed in the middle, since nothing says how far its last step came.
 *
 * Source: architecture.md §3, §4 ("many servers"); decisions.md §4.
 */
import * as Cause from "effect/Cause"
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberMap from "effect/FiberMap"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as PartitionedSemaphore from "effect/PartitionedSemaphore"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { Analyst } from "../analyst/Analyst.ts"
import { ChatStore } from "../chat/ChatStore.ts"
import * as Uuid from "../identifier/Uuid.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import type { RunMeter } from "./RunMeter.ts"
import { Usage } from "../usage/Usage.ts"
import { addUsage, isEnded, type Run, type RunId, type RunUsage } from "./Run.ts"
import { closingOf, doneOf } from "./RunClosing.ts"
import { type Heartbeat, RunnerId } from "./RunLease.ts"
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
  /**
   * How long a runner that is not heard of keeps its runs, before others take them up. It is heard of six times as
   * often. Default 30 seconds.
   */
  readonly lease?: Duration.Input
}

/** Runs that are looked for at a time, of those that nobody carries. */
const sweptAtOnce = 1000

/** A run that is being carried out here. */
interface Carried {
  /** The run as it is now; before it is taken up, as it was given. */
  run: Run
  /** Whether it is taken up. */
  isHeld: boolean
  readonly usage: Ref.Ref<RunUsage>
  /** Why it is stopped, where it is: somebody asked for it, or another runner has it. */
  stopped: "cancelled" | "lost" | undefined
}

const wasCancelled = ({ run, stopped }: Carried): boolean => stopped !== "lost" && run.status._tag === "Cancelled"

/** What is told of a run whose server has stopped, by that server or whoever takes the run up. */
const serverStopped = RunTransition.cases.Fail.make({
  failure: "execution_failed",
  error: "the server stopped before the run ended"
})

const outOfTime = RunTransition.cases.Fail.make({ failure: "timeout", error: "the run went past its time limit" })

/** How a run that came to an end, ended. */
const endingOf = (carried: Carried, exit: Exit.Exit<void, RunTransition>): RunTransition => {
  if (Exit.isSuccess(exit)) return RunTransition.cases.Complete.make({})
  if (carried.stopped === "cancelled") return RunTransition.cases.Cancel.make({})
  if (Cause.hasInterruptsOnly(exit.cause)) return serverStopped
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
): Layer.Layer<Runner, never, Analyst | ChatStore | RunLog | SecureRandom.SecureRandom | Usage> =>
  Layer.effect(
    Runner,
    Effect.gen(function* () {
      const analyst = yield* Analyst
      const store = yield* ChatStore
      const log = yield* RunLog
      const used = yield* Usage
      const limits = yield* RunLimits
      const scope = yield* Effect.scope
      const runnerId = RunnerId.make(yield* Uuid.next)
      const lease = Duration.fromInputUnsafe(options.lease ?? "30 seconds")
      const pulse = Duration.divideUnsafe(lease, 6)
      const turns = yield* PartitionedSemaphore.make<OrganizationId>({ permits: options.concurrency ?? 16 })
      const fibers = yield* FiberMap.make<RunId>()
      const carriedOut = new Map<RunId, Carried>()
      /** Open while anything is carried: no time passes for a runner that has nothing to say. */
      const carrying = yield* Latch.make()

      /** Another runner has the run: whatever is written of it here is refused, and means nothing. */
      const lose = Effect.fnUntraced(function* (carried: Carried) {
        if (carried.stopped === "lost") return
        carried.stopped = "lost"
        yield* Effect.logWarning("a run was lost to another server, since this one was not heard of in time")
      })

      /** Says that runs are carried still, and what they have used up, and learns which of them are to be stopped. */
      const tell = (all: ReadonlyArray<Carried>): Effect.Effect<void> =>
        Effect.gen(function* () {
          const held = all.filter(({ isHeld, stopped }) => isHeld && stopped !== "lost")
          if (held.length === 0) return
          const beats: Array<Heartbeat> = []
          for (const { run, usage } of held) beats.push({ ...heldOf(run), usage: yield* Ref.get(usage) })
          const { until } = yield* claim
          const renewed = new Map((yield* store.renew(beats, until)).map((one) => [one.id, one]))
          for (const carried of held) {
            const { id } = carried.run
            const still = renewed.get(id)
            // What has ended meanwhile is no longer held, and was not lost.
            if (carriedOut.get(id) !== carried || isEnded(carried.run)) continue
            if (still === undefined) yield* lose(carried)
            if (still?.isCancelled !== false) yield* Effect.forkIn(stop(id), scope, { startImmediately: true })
          }
        }).pipe(
          // A store that does not answer must not keep this from being told the next time.
          Effect.timeout(pulse),
          // Nor must one whose own work was interrupted. Who interrupts this fiber is heard all the same.
          Effect.catchCause((cause) => Effect.logWarning("it could not be told which runs are carried here", cause))
        )

      const end = Effect.fnUntraced(function* (carried: Carried, exit: Exit.Exit<void, RunTransition>) {
        if (carried.stopped === "lost") return
        const now = yield* DateTime.now
        const event = endingOf(carried, exit)
        // Nothing of it was begun: another server can carry it out, or this one when it is back.
        if (event === serverStopped && carried.run.status._tag === "Queued") {
          return yield* persistently(store.handOver(carried.run, now))
        }
        const ended = advance(carried.run, event, now, yield* Ref.get(carried.usage))
        // An ending that the state refuses is a defect of the runner: it must not pass for an end.
        carried.run = yield* Effect.orDie(Effect.fromResult(ended))
        // Counted before the chat is idle, so that the next question finds the budgets as this run left them.
        const counted = yield* Effect.exit(persistently(used.record(carried.run)))
        // A store that is away for a moment must not leave a chat that runs for good. Told last: whoever has seen `Done`
        // finds the chat idle and the run ended.
        if (!(yield* persistently(store.endRun(carried.run, now)))) return yield* lose(carried)
        yield* persistently(log.append(carried.run, [doneOf(carried.run)]))
        // A run that could not be counted, or told of, is not let go of: a sweep makes up for it.
        yield* counted
        yield* persistently(store.release(carried.run))
      })

      /** Makes up for what the server that carried a run has not come to. What it did is found done. */
      const settle = Effect.fnUntraced(function* (carried: Carried) {
        const now = yield* DateTime.now
        if (!isEnded(carried.run)) {
          const event = carried.stopped === "cancelled" ? RunTransition.cases.Cancel.make({}) : serverStopped
          carried.run = yield* Effect.orDie(Effect.fromResult(advance(carried.run, event, now)))
        }
        yield* used.record(carried.run)
        if (!(yield* store.endRun(carried.run, now))) return yield* lose(carried)
        // From here on, nothing of the former runner comes into the log.
        yield* log.append(carried.run, [])
        yield* log.append(carried.run, closingOf(carried.run, yield* log.read(carried.run, 0), now))
        yield* store.release(carried.run)
      })

      /** Tells what was asked, unless a former runner of the run has. */
      const open = Effect.fnUntraced(function* (run: Run) {
        if (run.epoch > 1) {
          yield* log.append(run, [])
          if ((yield* log.read(run, 0)).length > 0) return
        }
        yield* log.append(run, openingOf(run))
      })

      const meterOf = (carried: Carried): RunMeter => ({
        used: Ref.get(carried.usage),
        add: (usage) => Ref.updateAndGet(carried.usage, (sum) => addUsage(sum, usage)),
        keep: Effect.andThen(
          tell([carried]),
          Effect.suspend(() => (carried.stopped === "lost" ? Effect.interrupt : Effect.void))
        )
      })

      const execute = Effect.fnUntraced(function* (carried: Carried) {
        const started = advance(carried.run, RunTransition.cases.Start.make({}), yield* DateTime.now)
        const run = yield* Effect.orDie(Effect.fromResult(started))
        // What a runner does that has not been told yet that it lost the run, it would do for nobody.
        if (!(yield* store.saveRun(run))) {
          yield* lose(carried)
          return yield* Effect.interrupt
        }
        carried.run = run
        yield* Effect.mapError(analyst.answer(run, meterOf(carried)), (failure) =>
          RunTransition.cases.Fail.make({ failure: "execution_failed", error: failure.message })
        )
      })

      /** The limit of time counts from the question: who waits for a turn, or a server, does not wait for ever. */
      const inTime = (run: Run) =>
        Effect.fnUntraced(function* <A, R>(work: Effect.Effect<A, RunTransition, R>) {
          const waited = Duration.max(Duration.zero, DateTime.distance(run.createdAt, yield* DateTime.now))
          if (Duration.isGreaterThanOrEqualTo(waited, limits.timeout)) return yield* Effect.fail(outOfTime)
          return yield* Effect.timeoutOrElse(work, {
            duration: Duration.subtract(limits.timeout, waited),
            orElse: () => Effect.fail(outOfTime)
          })
        })

      const claim = Effect.map(DateTime.now, (now) => ({ runnerId, now, until: DateTime.addDuration(now, lease) }))

      /** Only the wait for the run's turn and the work itself can be interrupted: what is begun is always ended. */
      const carryOut = (given: Run) =>
        Effect.uninterruptibleMask(
          Effect.fnUntraced(function* (restore) {
            const usage = yield* Ref.make(given.usage)
            const carried: Carried = { run: given, isHeld: false, usage, stopped: undefined }
            carriedOut.set(given.id, carried)
            const taken = yield* store.take(given, yield* claim)
            // Under way elsewhere, or over.
            if (Option.isNone(taken)) return
            carried.run = taken.value.run
            carried.isHeld = true
            yield* Ref.set(usage, carried.run.usage)
            yield* carrying.open
            if (taken.value.isCancelled) carried.stopped ??= "cancelled"
            if (carried.run.status._tag !== "Queued") return yield* settle(carried)
            yield* open(carried.run)
            const work = Effect.suspend(() =>
              carried.stopped === undefined
                ? turns.withPermit(carried.run.organizationId)(execute(carried))
                : Effect.interrupt
            )
            const exit = yield* Effect.exit(restore(inTime(carried.run)(work)))
            if (Exit.isFailure(exit) && Cause.hasDies(exit.cause)) {
              yield* Effect.logError("a run failed unexpectedly", exit.cause)
            }
            yield* end(carried, exit)
          })
        ).pipe(
          Effect.ensuring(Effect.sync(() => carriedOut.delete(given.id))),
          Effect.tapCause((cause) =>
            Cause.hasDies(cause) ? Effect.logError("a run could not be ended", cause) : Effect.void
          ),
          Effect.annotateLogs({ run: given.id, organization: given.organizationId })
        )

      // Started at once: a fiber that is interrupted before its first step would leave its run to the next sweep.
      const start = (run: Run) =>
        Effect.asVoid(FiberMap.run(fibers, run.id, carryOut(run), { onlyIfMissing: true, startImmediately: true }))

      /** Stops a run that is carried here, and returns when its fiber has ended; nothing where there is none. */
      const stop = Effect.fnUntraced(function* (id: RunId) {
        const fiber = yield* FiberMap.get(fibers, id)
        const carried = carriedOut.get(id)
        if (Option.isNone(fiber) || carried === undefined) return Option.none<Carried>()
        carried.stopped ??= "cancelled"
        yield* Fiber.interrupt(fiber.value)
        return Option.some(carried)
      })

      /** Says that the runs of this process are carried still. */
      const beat = Effect.suspend(() => tell([...carriedOut.values()]))

      yield* carrying.await.pipe(
        Effect.andThen(Effect.sleep(pulse)),
        Effect.andThen(Effect.suspend(() => (carriedOut.size === 0 ? carrying.close : beat))),
        Effect.forever,
        Effect.forkScoped
      )
      yield* Effect.forkScoped(
        Stream.runForEach(store.cancellations, (id) =>
          carriedOut.has(id) ? Effect.forkIn(stop(id), scope, { startImmediately: true }) : Effect.void
        )
      )

      /** Waits until a run has ended that another runner carries; should that one be gone, it is ended here. */
      const ended = (run: Run) =>
        Effect.raceFirst(
          Stream.runDrain(log.follow(run, 0)),
          start(run).pipe(Effect.andThen(Effect.sleep(pulse)), Effect.forever)
        )

      return Runner.of({
        start,
        cancel: Effect.fn("Runner.cancel")(function* (run) {
          // A run may answer in the very moment in which it is stopped: then it has answered. One that was lost to
          // another server, or never was this one's, is stopped there.
          if (Option.exists(yield* stop(run.id), wasCancelled)) return true
          const asked = yield* store.requestCancel(run)
          const found = yield* store.run(run.organizationId, run.id)
          if (!asked || Option.isNone(found)) return false
          // In a fiber of its own: whoever asks may be one who is not to be interrupted, but the server may stop.
          yield* Fiber.join(yield* Effect.forkIn(Effect.interruptible(ended(found.value)), scope))
          const last = yield* store.run(run.organizationId, run.id)
          return Option.exists(last, ({ status }) => status._tag === "Cancelled")
        }),
        sweep: Effect.gen(function* () {
          const abandoned = yield* store.abandoned(yield* DateTime.now, sweptAtOnce)
          yield* Effect.forEach(abandoned, start, { discard: true })
          return abandoned.length
        }).pipe(Effect.withSpan("Runner.sweep"))
      })
    })
  )

const heldOf = ({ epoch, id, organizationId }: Run) => ({ epoch, id, organizationId })
