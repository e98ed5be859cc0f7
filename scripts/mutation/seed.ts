/** A list in an order of chance that a seed decides: the same seed, the same order, on every machine. */
export const bySeed = <A>(list: ReadonlyArray<A>, seed: number): ReadonlyArray<A> => {
  let state = seed >>> 0
  // mulberry32: small, and good enough to draw a sample.
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  return list
    .map((item) => ({ item, rank: next() }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ item }) => item)
}
