/**
 * How much of each is measured.
 */
import type { Size } from "../Benchmark.ts"
import type { Rounds } from "../measure/Slices.ts"

/** How much is measured of everything. */
export interface Plan {
  readonly starts: Rounds
  /** Starts of what is there only once: with the fork-server, the self-test, the interpreter's memory. */
  readonly coldStarts: Rounds
  readonly warm: Rounds
  /** Executions of a slice. */
  readonly executions: number
  readonly together: { readonly rounds: Rounds; readonly sessions: number; readonly each: number }
  readonly interrupts: Rounds
  readonly tables: { readonly rounds: Rounds; readonly rows: number }
  /** Sessions that are kept: of each peer, of ours twice, and of the embedded ones. */
  readonly memory: { readonly peers: number; readonly some: number; readonly many: number; readonly embedded: number }
}

/** The plans of the sizes. */
export const plans: { readonly [Key in Size]: Plan } = {
  full: {
    starts: { warming: 1, counted: 11 },
    coldStarts: { warming: 0, counted: 5 },
    warm: { warming: 1, counted: 15 },
    executions: 200,
    together: { rounds: { warming: 1, counted: 9 }, sessions: 20, each: 20 },
    interrupts: { warming: 1, counted: 11 },
    tables: { rounds: { warming: 0, counted: 5 }, rows: 1_000_000 },
    memory: { peers: 20, some: 20, many: 100, embedded: 20 }
  },
  quick: {
    starts: { warming: 0, counted: 5 },
    coldStarts: { warming: 0, counted: 1 },
    warm: { warming: 1, counted: 3 },
    executions: 100,
    together: { rounds: { warming: 0, counted: 3 }, sessions: 20, each: 10 },
    interrupts: { warming: 0, counted: 5 },
    tables: { rounds: { warming: 0, counted: 1 }, rows: 1_000_000 },
    memory: { peers: 5, some: 20, many: 100, embedded: 2 }
  },
  smoke: {
    starts: { warming: 0, counted: 1 },
    coldStarts: { warming: 0, counted: 1 },
    warm: { warming: 0, counted: 1 },
    executions: 3,
    together: { rounds: { warming: 0, counted: 1 }, sessions: 2, each: 2 },
    interrupts: { warming: 0, counted: 1 },
    tables: { rounds: { warming: 0, counted: 1 }, rows: 1_000 },
    memory: { peers: 1, some: 1, many: 2, embedded: 1 }
  }
}
