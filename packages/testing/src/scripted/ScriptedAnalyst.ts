/**
 * An analyst that does what the question says: for tests of runners, which carry out whatever an analyst does.
 */
import { Analyst, AnalystFailure } from "@castellan/core/analyst/Analyst"
import type { RunId } from "@castellan/core/run/Run"
import { RunEvent } from "@castellan/core/run/RunEvent"
import { RunLog } from "@castellan/core/run/RunLog"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"

/** The questions that a scripted analyst knows; it answers any other as it answers `answer`. */
export const questions = {
  /** Says one thing and is done. */
  answer: "answer",
  /** Says one thing, and waits until it is stopped. */
  wait: "wait",
  /** Says one thing, waits until it is let go on, and says another. */
  hold: "hold",
  /** Could not answer; the message is fit for the user. */
  fail: "fail",
  /** Breaks in a way that nobody expected; the cause is nobody's business. */
  die: "die"
} as const

/** The test's view of a scripted analyst. */
export class ScriptedAnalyst extends Context.Service<
  ScriptedAnalyst,
  {
    /** The runs that were begun, in order. */
    readonly begun: Effect.Effect<ReadonlyArray<RunId>>
    /** The runs that were stopped from outside. */
    readonly stopped: Effect.Effect<ReadonlyArray<RunId>>
    /** Returns as soon as a run has begun and said its first words. */
    readonly speaking: (run: RunId) => Effect.Effect<void>
    /** Lets a run that holds go on. */
    readonly letGo: (run: RunId) => Effect.Effect<void>
  }
>()("@castellan/testing/scripted/ScriptedAnalyst") {}

/** Returns as soon as a run is among some. */
const includes = (runs: SubscriptionRef.SubscriptionRef<ReadonlyArray<RunId>>, run: RunId): Effect.Effect<void> =>
  SubscriptionRef.changes(runs).pipe(
    Stream.takeUntil((all) => all.includes(run)),
    Stream.runDrain
  )

/** An analyst that does what the question says. Each run uses 10 input and 5 output tokens before it does anything. */
export const layer: Layer.Layer<ScriptedAnalyst | Analyst, never, RunLog> = Layer.effectContext(
  Effect.gen(function* () {
    const log = yield* RunLog
    const begun = yield* Ref.make<ReadonlyArray<RunId>>([])
    const stopped = yield* Ref.make<ReadonlyArray<RunId>>([])
    const going = yield* SubscriptionRef.make<ReadonlyArray<RunId>>([])
    const speaking = yield* SubscriptionRef.make<ReadonlyArray<RunId>>([])

    const answer: Analyst["Service"]["answer"] = Effect.fn("ScriptedAnalyst.answer")(function* (run, meter) {
      yield* Ref.update(begun, (all) => [...all, run.id])
      yield* meter.add({ inputTokens: 10, outputTokens: 5, toolCalls: 0 })
      yield* meter.keep
      yield* log.append(run, [RunEvent.cases.Text.make({ text: "words" })])
      const told = SubscriptionRef.update(speaking, (all) => [...all, run.id])
      if (run.question === questions.wait) {
        return yield* Effect.onInterrupt(Effect.andThen(told, Effect.never), () =>
          Ref.update(stopped, (all) => [...all, run.id])
        )
      }
      yield* told
      switch (run.question) {
        case questions.hold:
          yield* includes(going, run.id)
          return yield* log.append(run, [RunEvent.cases.Text.make({ text: "more" })])
        case questions.fail:
          return yield* new AnalystFailure({ message: "there is no such data" })
        case questions.die:
          return yield* Effect.die(new Error("secret cause"))
      }
    })

    return Context.make(Analyst, { answer }).pipe(
      Context.add(ScriptedAnalyst, {
        begun: Ref.get(begun),
        stopped: Ref.get(stopped),
        speaking: (run) => includes(speaking, run),
        letGo: (run) => SubscriptionRef.update(going, (all) => [...all, run])
      })
    )
  })
)
