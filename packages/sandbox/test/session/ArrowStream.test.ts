import type { ResultTable } from "@castellan/core/connector/ResultTable"
import * as ArrowStream from "@castellan/sandbox/session/ArrowStream"
import { AnyText } from "@castellan/testing/fixture/AnyText"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as ArrowTable from "../support/ArrowTable.ts"

const bounds = { rows: 1000, columns: 50 }

const table: ResultTable = {
  columns: [
    { name: "id", type: "integer" },
    { name: "share", type: "number" },
    { name: "price", type: "decimal" },
    { name: "flag", type: "boolean" },
    { name: "day", type: "date" },
    { name: "moment", type: "timestamp" },
    { name: "local", type: "timestamp" },
    { name: "name", type: "text" }
  ],
  rows: [
    [
      Number.MIN_SAFE_INTEGER,
      -0.5,
      "-0.05",
      true,
      "2024-02-29",
      "2024-01-01T12:00:00.123456Z",
      "0001-01-01T00:00:00",
      "é🏰"
    ],
    [
      2 ** 31,
      1e300,
      "12345678901234567890.50",
      false,
      "1583-01-01",
      "1969-12-31T23:59:59.5Z",
      "9999-12-31T23:59:59",
      ""
    ],
    [null, null, null, null, null, null, null, null],
    [-(2 ** 31) - 1, 0, "0.00", true, "1969-12-31", "1970-01-01T00:00:00Z", "1969-12-31T23:59:59.999999", "x"]
  ],
  truncated: false
}

const back = (one: ResultTable, within = bounds) =>
  Result.getOrThrow(ArrowTable.decode(ArrowStream.encode(one), within))

describe("tables as Arrow streams", () => {
  it("come back as they were", () => {
    assert.deepStrictEqual(back(table), table)
  })

  it("keep a byte order mark", () => {
    const marked = "\ufeffmarked"
    const bytes = ArrowStream.encode({ columns: [{ name: "n", type: "text" }], rows: [[marked]], truncated: false })
    assert.isTrue(Buffer.from(bytes).includes(marked))
  })

  it("without rows keep their columns", () => {
    assert.deepStrictEqual(back({ ...table, rows: [] }), { ...table, rows: [] })
  })

  it("are cut at the bound of rows, which is told, and refused beyond that of columns", () => {
    const cut = back(table, { rows: 1, columns: 50 })
    assert.deepStrictEqual(cut, { ...table, rows: table.rows.slice(0, 1), truncated: true })
    assert.isTrue(Result.isFailure(ArrowTable.decode(ArrowStream.encode(table), { rows: 1, columns: 7 })))
  })

  it("have each name once", () => {
    const names = ["n", "n", "n_1", "n"]
    const found = back({
      columns: names.map((name) => ({ name, type: "integer" })),
      rows: [[1, 2, 3, 4]],
      truncated: false
    })
    assert.deepStrictEqual(
      found.columns.map(({ name }) => name),
      ["n", "n_2", "n_1", "n_3"]
    )
    assert.deepStrictEqual(found.rows, [[1, 2, 3, 4]])
  })

  // The decoder of these tests takes a byte order mark that begins a text for a sign of its encoding.
  const Text = AnyText.check(
    Schema.makeFilter((text: string) => text.isWellFormed() && !text.startsWith("\ufeff"), { expected: "a text" })
  )

  it.prop(
    "come back whatever their integers, numbers and texts",
    [
      Schema.Array(
        Schema.Tuple([
          Schema.NullOr(Schema.Int),
          Schema.NullOr(Schema.Finite),
          Schema.NullOr(Schema.Boolean),
          Schema.NullOr(Text)
        ])
      )
    ],
    ([rows]) => {
      const types = ["integer", "number", "boolean", "text"] as const
      const one: ResultTable = { columns: types.map((type) => ({ name: type, type })), rows, truncated: false }
      // Zero has a sign as a double; a table does not tell it in an integer.
      const plain = rows.map(([integer, ...rest]) => [integer === 0 ? 0 : integer, ...rest])
      assert.deepStrictEqual(back(one).rows, plain)
    }
  )
})
