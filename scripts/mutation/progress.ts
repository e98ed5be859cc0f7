/**
 * How far a test thread is with its steps. It outlives the modules, which every step loads anew.
 */
export interface Progress {
  /** The index of the next step. */
  next: number
  /** The last mutant that a test has caught. */
  caught: number
}

declare global {
  var castellanMutationProgress: Progress | undefined
}

/** Of this thread. */
export const progress: Progress = (globalThis.castellanMutationProgress ??= { next: 0, caught: 0 })
