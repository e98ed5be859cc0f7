/**
 * The port that carries runs out. A run that was started is carried out whoever waits for it, or nobody.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { Run, RunId } from "./Run.ts"

/** Carries runs out. */
export class Runner extends Context.Service<
  Runner,
  {
    /** Takes up a run that is stored as queued. Returns at once; starting the same run twice starts it once. */
    readonly start: (run: Run) => Effect.Effect<void>
    /**
     * Stops a run down to the statement that it waits for, and returns when it has ended. False when it is not
     * being carried out here: it has ended already.
     */
    readonly cancel: (id: RunId) => Effect.Effect<boolean>
  }
>()("@castellan/core/run/Runner") {}
