/**
 * What servers do for those that have stopped, again and again: the runs that nobody carries are taken up, and the runs
 * of playbooks and agents that wait for them go on. Every server may do it, at once and as often as it likes.
 *
 * Source: issue "Everything kept", §3 ("Faults"); decisions.md §9 ("A queued run survives a crash").
 */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { Agents } from "../agent/Agents.ts"
import { PlaybookExecution } from "../playbook/PlaybookExecution.ts"
import { Runner } from "../run/Runner.ts"

/** How many runs of playbooks and agents were taken up; one that is followed by another server as well counts here too. */
export interface Resumed {
  readonly playbookRuns: number
  readonly agentRuns: number
}

/** Takes up what servers that have stopped left behind. */
export class Recovery extends Context.Service<
  Recovery,
  {
    /** Takes up the runs that nobody carries. Returns at once, with their number. */
    readonly sweep: Effect.Effect<number>
    /**
     * Follows the runs of playbooks and agents that are unfinished, and that were made before a moment, to their end.
     * Returns at once. The server that began one may be following it still: then both do, and one of them ends it.
     */
    readonly resume: (before: DateTime.Utc) => Effect.Effect<Resumed>
  }
>()("@castellan/core/recovery/Recovery") {}

/** Takes up what was left behind, by the runners and the use cases of what runs by itself. */
export const layer: Layer.Layer<Recovery, never, Agents | PlaybookExecution | Runner> = Layer.effect(
  Recovery,
  Effect.gen(function* () {
    const agents = yield* Agents
    const execution = yield* PlaybookExecution
    const runner = yield* Runner
    return Recovery.of({
      sweep: runner.sweep,
      resume: Effect.fn("Recovery.resume")(function* (before) {
        const resumed: Resumed = {
          playbookRuns: yield* execution.resume(before),
          agentRuns: yield* agents.resume(before)
        }
        return resumed
      })
    })
  })
)

/** How often runs that nobody carries are looked for. */
const sweepInterval = Duration.seconds(5)

/** How often unfinished runs of playbooks and agents are, and how old they are before servers beside their own look. */
const resumeInterval = Duration.minutes(1)

/** Again and again; what fails is logged, and done the next time. */
const again = (work: Effect.Effect<unknown>, interval: Duration.Duration) =>
  work.pipe(
    Effect.tapCause((cause) => Effect.logError("what stopped servers left behind could not be taken up", cause)),
    Effect.ignoreCause,
    Effect.repeat(Schedule.spaced(interval)),
    Effect.forkScoped
  )

/** Takes up what was left behind at the start, and by the clock for as long as the layer lives. */
export const layerSweeping: Layer.Layer<never, never, Recovery> = Layer.effectDiscard(
  Effect.gen(function* () {
    const recovery = yield* Recovery
    yield* again(recovery.sweep, sweepInterval)
    // At the start, whatever is unfinished may be of the server whose place this one takes.
    const began = yield* DateTime.now
    const left = Effect.map(DateTime.now, (now) => DateTime.max(began, DateTime.subtractDuration(now, resumeInterval)))
    yield* again(Effect.flatMap(left, recovery.resume), resumeInterval)
  })
)
