/**
 * What a benchmark is: a name to run it by, and a run that ends in tables.
 */
import type { Effect, Scope } from "effect"
import type { BenchmarkFailure } from "./BenchmarkFailure.ts"
import type { Table } from "./report/Table.ts"
import type { Cores } from "./server/Cores.ts"

/** How much is measured: enough for a figure to keep, enough for a first look, or enough to see that it works. */
export type Size = "full" | "quick" | "smoke"

/** The circumstances of a run. */
export interface Circumstances {
  readonly size: Size
  /** The cores of server and load; absent, the system chooses. */
  readonly cores: Cores | undefined
}

/** Something that was meant to be reached. */
export interface Goal {
  /** What was meant, such as `CPU at most 2 times raw node:http`. */
  readonly aim: string
  /** What came out, in the same terms. */
  readonly outcome: string
  readonly met: boolean
}

/** A table with what it shows. */
export interface Section {
  readonly caption: string
  readonly table: Table
}

/** What came out of a benchmark. */
export interface Report {
  readonly sections: ReadonlyArray<Section>
  readonly goals: ReadonlyArray<Goal>
  /** How it was measured, in figures: slices, connections, what was checked. */
  readonly measured: string
  /** Where its processes ran; absent: the server on one core and the load on another, where there are two. */
  readonly where?: string
}

/** A benchmark. */
export interface Benchmark {
  readonly name: string
  readonly title: string
  /** What is compared with what, for readers of the page. */
  readonly about: string
  readonly run: (circumstances: Circumstances) => Effect.Effect<Report, BenchmarkFailure, Scope.Scope>
}
