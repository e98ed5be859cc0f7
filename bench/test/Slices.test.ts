import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { alternate, orderOf, slicesOf } from "../src/measure/Slices.ts"
import { Progress } from "../src/report/Progress.ts"
import { coresOf } from "../src/server/Cores.ts"

describe("Slices", () => {
  it("each round begins with another", () => {
    assert.deepStrictEqual(
      [0, 1, 2, 3].map((round) => orderOf(["a", "b", "c"], round).join("")),
      ["abc", "bca", "cab", "abc"]
    )
    assert.deepStrictEqual(orderOf([], 3), [])
  })

  it.effect("takes turns, and keeps only the rounds that count, in the order of the rounds", () =>
    Effect.gen(function* () {
      const taken: Array<string> = []
      const said: Array<string> = []
      const variant = (name: string) => ({
        name,
        tell: (turn: number) => `turn ${turn}`,
        slice: Effect.sync(() => taken.push(name))
      })
      const measured = yield* alternate([variant("a"), variant("b")], { warming: 1, counted: 2 }).pipe(
        Effect.provideService(Progress, (line) => void said.push(line))
      )
      assert.strictEqual(taken.join(""), "abbaab")
      assert.deepStrictEqual(slicesOf(measured, "a"), [4, 5])
      assert.deepStrictEqual(slicesOf(measured, "b"), [3, 6])
      assert.deepStrictEqual(said, [
        "  warming up: a turn 1, b turn 2",
        "  round 1 of 2: b turn 3, a turn 4",
        "  round 2 of 2: a turn 5, b turn 6"
      ])
      assert.throws(() => slicesOf(measured, "c"), /c was not measured/)
    })
  )
})

describe("Cores", () => {
  const table: ReadonlyArray<readonly [string, ReadonlyArray<number>]> = [
    ["0", [0]],
    ["0-1", [0, 1]],
    ["2,4-6", [2, 4, 5, 6]],
    ["", []],
    ["nonsense", []]
  ]
  for (const [list, cores] of table) {
    it(`${JSON.stringify(list)} lists ${cores.length} cores`, () => assert.deepStrictEqual(coresOf(list), cores))
  }
})
