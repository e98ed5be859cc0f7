/** Random inputs that can be had again: a generator from a seed, which a failure names. */
export class Random {
  readonly seed: number
  private state: number

  constructor(seed: number) {
    this.seed = seed
    this.state = seed >>> 0
  }

  /** A number from 0 up to, not including, 1 (mulberry32). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0
    let mixed = this.state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000
  }

  /** A whole number from 0 up to, not including, `limit`. */
  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  /** One of several. */
  of<A>(all: readonly [A, ...ReadonlyArray<A>]): A {
    return all[this.below(all.length)] ?? all[0]
  }

  /** True so often. */
  chance(probability: number): boolean {
    return this.next() < probability
  }
}

/** A seed for this run, or the one in the environment to have a failure again. */
export const seed = (): number => Number(process.env["LIBRARY_SEED"] ?? Math.floor(Math.random() * 2 ** 31))
