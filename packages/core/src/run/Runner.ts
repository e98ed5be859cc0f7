/**
 * The port that carries runs out. A run that was started is carried out whoever waits for it, or nobody; of all the
 * runners over one store, one carries it at a time.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { Run } from "./Run.ts"
import type { LoggedRun } from "./RunLog.ts"

/** Carries runs out. */
export class Runner extends Context.Service<
  Runner,
  {
    /**
     * Takes up a run that is stored, unless a runner has it already, here or elsewhere. Returns at once; starting the
     * same run twice starts it once.
     */
    readonly start: (run: Run) => Effect.Effect<void>
    /**
     * Stops a run down to the statement that it waits for, whichever runner carries it, and returns when it has ended.
     * False when it was not stopped: it had ended already, or answered in that very moment.
     */
    readonly cancel: (run: LoggedRun) => Effect.Effect<boolean>
    /**
     * Takes up the runs of every organization that nobody carries, since the server that did has stopped: those that
     * wait are carried out, those that were begun end as failed. Any number of servers may do so, as often as they
     * like. Returns at once, with the number of runs that were found.
     */
    readonly sweep: Effect.Effect<number>
  }
>()("@castellan/core/run/Runner") {}
