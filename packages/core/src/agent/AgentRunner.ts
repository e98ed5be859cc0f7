/**
 * The port that carries agents' runs out. Nobody waits for them.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as Layer from "effect/Layer"
import type { AgentRun, AgentRunId } from "./AgentRun.ts"
import { AgentRuns } from "./AgentRuns.ts"

/** Carries agents' runs out. */
export class AgentRunner extends Context.Service<
  AgentRunner,
  {
    /** Takes up a run that is kept, and returns at once; starting the same run twice starts it once. */
    readonly start: (run: AgentRun) => Effect.Effect<void>
  }
>()("@castellan/core/agent/AgentRunner") {}

/** Carries agents' runs out as fibers of this process. */
export const layer: Layer.Layer<AgentRunner, never, AgentRuns> = Layer.effect(
  AgentRunner,
  Effect.gen(function* () {
    const runs = yield* AgentRuns
    const fibers = yield* FiberMap.make<AgentRunId>()
    return AgentRunner.of({
      start: (run) =>
        Effect.asVoid(
          FiberMap.run(
            fibers,
            run.id,
            Effect.annotateLogs(runs.carryOut(run), { agentRun: run.id, organization: run.organizationId }),
            { onlyIfMissing: true, startImmediately: true }
          )
        )
    })
  })
)
