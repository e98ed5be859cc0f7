/** Chance that can be had again: everything drawn follows from the seed. */
export class Draw {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** A number from 0 to below 2^32; mulberry32. */
  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    const state = this.#state
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }

  /** An integer from 0 to below a bound. */
  below(bound: number): number {
    return this.#next() % bound
  }

  /** True that often, of 100. */
  chance(percent: number): boolean {
    return this.below(100) < percent
  }

  /** One of a list. */
  pick<A>(list: readonly [A, ...ReadonlyArray<A>]): A {
    return list[this.below(list.length)] ?? list[0]
  }

  /** Some of a list, each with that chance, in the list's order. */
  some<A>(list: ReadonlyArray<A>, percent: number): ReadonlyArray<A> {
    return list.filter(() => this.chance(percent))
  }
}
