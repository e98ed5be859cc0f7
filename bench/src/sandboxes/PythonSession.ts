/**
 * What is measured: a Python that runs one program after another, however it is reached, and how one is had.
 */
import type { Effect, Scope } from "effect"
import type { BenchmarkFailure } from "../BenchmarkFailure.ts"

/** A running Python. */
export interface PythonSession {
  /** Runs a program to its end; milliseconds. Fails where it does not complete. */
  readonly run: (code: string) => Effect.Effect<number, BenchmarkFailure>
  /** Interrupts a program once it has printed something; milliseconds from the interrupt to the end. */
  readonly interrupt: (code: string) => Effect.Effect<number, BenchmarkFailure>
}

/** A Python that was started. */
export interface Opened {
  readonly session: PythonSession
  /** Milliseconds until it could take a program. */
  readonly milliseconds: number
}

/** A way to have Pythons. */
export interface PythonHost {
  readonly name: string
  readonly open: Effect.Effect<Opened, BenchmarkFailure, Scope.Scope>
  /**
   * Has every one of these Pythons, which are all that there are of this host, run a program so many times, all at once;
   * milliseconds until the last is over.
   */
  readonly together: (
    sessions: ReadonlyArray<PythonSession>,
    each: number,
    code: string
  ) => Effect.Effect<number, BenchmarkFailure>
}
