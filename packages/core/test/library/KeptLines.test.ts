import { areKept } from "@castellan/core/library/KeptLines"
import { assert, describe, it } from "@effect/vitest"
import { Random, seed } from "./Random.ts"

type Lines = ReadonlyArray<number>

/** The length of the longest matching, by its definition. */
const longest = (a: Lines, b: Lines): number => {
  const [first, ...rest] = a
  if (first === undefined || b.length === 0) return 0
  const without = longest(rest, b)
  const at = b.indexOf(first)
  return at === -1 ? without : Math.max(without, 1 + longest(rest, b.slice(at + 1)))
}

describe("KeptLines", () => {
  const rows: ReadonlyArray<readonly [name: string, text: Lines, other: Lines, kept: ReadonlyArray<boolean>]> = [
    ["a line that is there once", [1, 2, 3], [1, 3], [true, false, true]],
    ["one of two that are alike", [1, 1, 2], [1, 2], [false, false, true]],
    ["two stretches that have changed places", [1, 2], [2, 1], [false, false]],
    ["a longer stretch that has changed places with a shorter one", [1, 2, 3], [3, 1, 2], [true, true, false]],
    ["nothing", [1], [], [false]]
  ]
  for (const [name, text, other, kept] of rows) {
    it(name, () => {
      assert.deepStrictEqual(
        text.map((_, line) => areKept(text, other, [line])),
        kept
      )
    })
  }

  it("lines are kept where each of them is", () => {
    assert.isTrue(areKept([1, 2, 3], [1, 3], [0, 2]))
    assert.isFalse(areKept([1, 2, 3], [1, 3], [0, 1]))
    assert.isTrue(areKept([1, 2, 3], [1, 3], [-1, 3]), "there are no lines before the first and after the last")
  })

  it("a line is kept where a longest matching is shorter without it", () => {
    const random = new Random(seed())
    for (let round = 0; round < 3_000; round++) {
      const kinds = random.of([2, 3, 6])
      const lines = () => Array.from({ length: random.below(8) }, () => random.below(kinds))
      const [text, other] = [lines(), lines()]
      for (const line of text.keys()) {
        const without = [...text.slice(0, line), ...text.slice(line + 1)]
        const told = `${JSON.stringify({ text, other, line })} of seed ${random.seed}`
        assert.strictEqual(areKept(text, other, [line]), longest(without, other) < longest(text, other), told)
      }
    }
  })

  it("what is far from every difference is kept, in texts of any length", () => {
    const text = Array.from({ length: 20_000 }, (_, line) => line)
    const other = [...text.slice(0, 10_000), -1, ...text.slice(10_000)]
    assert.isTrue(areKept(text, other, [0, 9_999, 10_000, 19_999]))
  })

  it("nothing is said to be kept where it would take too long to tell", () => {
    const text = Array.from({ length: 5_000 }, (_, line) => line)
    const other = ["first", ...text.slice(1, -1), "last"].map((line) => (typeof line === "number" ? line : -1))
    assert.isFalse(areKept(text, other, [2_500]))
  })
})
