/**
 * The port that carries playbooks' runs out. A run that was started is carried out whoever waits for it, or nobody.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberMap from "effect/FiberMap"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { Failure } from "../error/Failure.ts"
import type { PlaybookRun, PlaybookRunId } from "./PlaybookRun.ts"
import { PlaybookRuns } from "./PlaybookRuns.ts"

/** Carries playbooks' runs out. */
export class PlaybookRunner extends Context.Service<
  PlaybookRunner,
  {
    /**
     * Takes up a run that is kept, and returns at once; starting the same run twice starts it once. What it returns
     * waits for the run's end, and fails as the run failed; nothing happens to the run when the wait is given up.
     */
    readonly start: (run: PlaybookRun) => Effect.Effect<Effect.Effect<PlaybookRun, Failure>>
  }
>()("@castellan/core/playbook/PlaybookRunner") {}

/** Carries playbooks' runs out as fibers of this process. */
export const layer: Layer.Layer<PlaybookRunner, never, PlaybookRuns> = Layer.effect(
  PlaybookRunner,
  Effect.gen(function* () {
    const runs = yield* PlaybookRuns
    const fibers = yield* FiberMap.make<PlaybookRunId, PlaybookRun, Failure>()
    return PlaybookRunner.of({
      start: (run) =>
        Effect.as(
          FiberMap.run(
            fibers,
            run.id,
            Effect.annotateLogs(runs.carryOut(run), { playbookRun: run.id, organization: run.organizationId }),
            { onlyIfMissing: true, startImmediately: true }
          ),
          // The fiber that carries it out, whoever started it; without one it has ended, and answers as it did.
          Effect.flatMap(
            FiberMap.get(fibers, run.id),
            Option.match({ onSome: (fiber) => Fiber.join(fiber), onNone: () => runs.carryOut(run) })
          )
        )
    })
  })
)
