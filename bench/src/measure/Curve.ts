/**
 * What a server does for those who wait no longer than so long: its rate against its tail, as they were measured under
 * different loads. Two servers under the same load are not compared at equal tails, and one that takes more load may be
 * quick for few.
 */

/** What a server came to under one load. */
export interface Point {
  /** How long the slowest waited, such as a p99. */
  readonly tail: number
  readonly rate: number
}

/**
 * The rate at a tail: on the line between the points next to it. Beyond the longest tail that was measured it is the rate
 * there, which is no more than what the server would do; before the shortest one nothing is known.
 */
export const rateAt = (points: ReadonlyArray<Point>, tail: number): number | undefined => {
  const sorted = points.toSorted((left, right) => left.tail - right.tail)
  const after = sorted.find((point) => point.tail >= tail)
  const before = sorted.findLast((point) => point.tail <= tail)
  if (before === undefined) return undefined
  if (after === undefined || after.tail === before.tail) return before.rate
  return before.rate + ((after.rate - before.rate) * (tail - before.tail)) / (after.tail - before.tail)
}
