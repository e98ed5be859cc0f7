import { assert, describe, it } from "@effect/vitest"
import { difference, middleHalf, quantile, ratio, summarize } from "../src/measure/Statistics.ts"

describe("Statistics", () => {
  // What NumPy's `quantile` and R's `quantile(type = 7)` answer.
  const table: ReadonlyArray<readonly [ReadonlyArray<number>, number, number]> = [
    [[7], 0.5, 7],
    [[1, 2], 0.5, 1.5],
    [[1, 2, 3, 4], 0.25, 1.75],
    [[1, 2, 3, 4], 0.75, 3.25],
    [[1, 2, 3, 4, 5], 0, 1],
    [[1, 2, 3, 4, 5], 1, 5],
    [[10, 20, 30, 40, 50, 60, 70, 80, 90, 100], 0.99, 99.1]
  ]
  for (const [sorted, fraction, expected] of table) {
    it(`the ${fraction} quantile of ${sorted.join(", ")} is ${expected}`, () => {
      assert.approximately(quantile(sorted, fraction), expected, 1e-9)
    })
  }

  it("an empty series has no quantile", () => assert.throws(() => quantile([], 0.5), /empty/))

  it("sums a series up, in whatever order it comes, and as numbers rather than words", () => {
    const summary = summarize([100, 9, 30, 20, 1_000])
    assert.deepStrictEqual(summary, {
      count: 5,
      median: 30,
      minimum: 9,
      maximum: 1_000,
      lowerQuartile: 20,
      upperQuartile: 100
    })
    assert.strictEqual(middleHalf(summary), 80)
  })

  it("a median is not moved by one disturbed slice", () => {
    assert.strictEqual(summarize([10, 11, 12, 11, 10_000]).median, 11)
  })

  it("a ratio pairs slices of the same round, so that a slow round does not count", () => {
    const paired = ratio([20, 200, 22], [10, 100, 11])
    assert.strictEqual(paired.median, 2)
    assert.strictEqual(paired.maximum, 2)
  })

  it("a difference pairs slices too", () => assert.strictEqual(difference([5, 50, 7], [4, 40, 6]).median, 1))

  it("refuses series that do not pair", () => {
    assert.throws(() => ratio([1, 2], [1]), /cannot pair 2 slices with 1/)
    assert.throws(() => difference([1], []), /cannot pair 1 slices with 0/)
  })
})
