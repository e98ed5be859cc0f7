/**
 * What a run uses up, as whoever works it tells. What costs money is kept before the run goes on: should its server be
 * killed, no more than the call that was under way is not counted.
 *
 * Source: decisions.md §4 ("Usage": every run records it).
 */
import type * as Effect from "effect/Effect"
import type { RunUsage } from "./Run.ts"

/** Counts what a run uses up. */
export interface RunMeter {
  /** What it has used up so far. */
  readonly used: Effect.Effect<RunUsage>
  /** Adds something, and answers with the sum. An interruption loses none of it, the end of the process does. */
  readonly add: (usage: RunUsage) => Effect.Effect<RunUsage>
  /**
   * Keeps the sum where others find it. It never fails: where it cannot be kept now, it is kept with the next heartbeat.
   * It interrupts who learns by it that the run is another server's.
   */
  readonly keep: Effect.Effect<void>
}
