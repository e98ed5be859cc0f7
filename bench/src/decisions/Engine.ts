/**
 * An engine that answers the scenario's questions.
 */
import type { Effect } from "effect"
import type { BenchmarkFailure } from "../BenchmarkFailure.ts"
import type { Asked } from "./Scenario.ts"

/** An engine, ready to be asked. */
export interface Ready {
  readonly answer: (question: Asked) => boolean
}

/** How an engine takes the scenario. */
export interface Engine {
  readonly name: string
  /** How many questions make a slice worth timing, with so many policies. */
  readonly questions: (policies: number) => number
  /** The most policies that it can be given in reasonable time; absent: any number. */
  readonly most?: number
  readonly prepare: (policies: number) => Effect.Effect<Ready, BenchmarkFailure>
}
