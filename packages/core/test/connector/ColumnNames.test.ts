import * as ColumnNames from "@castellan/core/connector/ColumnNames"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

describe("names of columns", () => {
  it("that are there twice are numbered, beside names that are numbered already", () => {
    const cases: ReadonlyArray<readonly [names: ReadonlyArray<string>, distinct: ReadonlyArray<string>]> = [
      [[], []],
      [
        ["a", "b"],
        ["a", "b"]
      ],
      [
        ["n", "n", "n"],
        ["n", "n_1", "n_2"]
      ],
      [
        ["n", "n", "n_1"],
        ["n", "n_2", "n_1"]
      ],
      [
        ["", ""],
        ["", "_1"]
      ]
    ]
    for (const [names, expected] of cases) assert.deepStrictEqual(ColumnNames.distinct(names), expected)
  })

  it.prop(
    "are each there once, and the first of each stays as it was",
    [Schema.Array(Schema.Literals(["n", "n_1", "n_2", "m", ""]))],
    ([names]) => {
      const distinct = ColumnNames.distinct(names)
      assert.strictEqual(new Set(distinct).size, names.length)
      for (const [index, name] of names.entries()) {
        if (names.indexOf(name) === index) assert.strictEqual(distinct[index], name)
        else assert.isTrue(distinct[index]?.startsWith(`${name}_`))
      }
    },
    { arbitrary: { runs: 500 } }
  )
})
