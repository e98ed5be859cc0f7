import { assert, describe, it } from "@effect/vitest"
import { rateAt } from "../src/measure/Curve.ts"

describe("Curve", () => {
  const points = [
    { tail: 20, rate: 900 },
    { tail: 5, rate: 400 },
    { tail: 10, rate: 800 }
  ]

  for (const [tail, rate] of [
    [5, 400],
    [6, 480],
    [10, 800],
    [15, 850],
    [20, 900],
    [50, 900]
  ] as const) {
    it(`a rate at a tail of ${tail} is ${rate}`, () => assert.strictEqual(rateAt(points, tail), rate))
  }

  it("nothing is known of a tail that is shorter than any", () => assert.isUndefined(rateAt(points, 4.9)))
  it("nothing is known of nothing", () => assert.isUndefined(rateAt([], 1)))
})
