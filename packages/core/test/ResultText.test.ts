import { type ColumnType, records, type ResultTable, type Value, values } from "@castellan/core/connector/ResultTable"
import * as ResultText from "@castellan/core/connector/ResultText"
import { AnyText } from "@castellan/testing/fixture/AnyText"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const table = (
  columns: ReadonlyArray<string | readonly [string, ColumnType]>,
  rows: ReadonlyArray<ReadonlyArray<Value>>,
  truncated = false
): ResultTable => ({
  columns: columns.map((column) =>
    typeof column === "string" ? { name: column, type: "text" } : { name: column[0], type: column[1] }
  ),
  rows,
  truncated
})

/** Reads CSV as RFC 4180 defines it: nothing is trimmed, and a line break inside quotes belongs to the field. */
const parseCsv = (text: string): Array<Array<{ readonly text: string; readonly quoted: boolean }>> => {
  const lines: ReturnType<typeof parseCsv> = []
  let line: Array<{ text: string; quoted: boolean }> = []
  let position = 0
  while (position < text.length) {
    let field = ""
    const quoted = text[position] === '"'
    if (quoted) {
      position += 1
      while (position < text.length && !(text[position] === '"' && text[position + 1] !== '"')) {
        field += text[position]
        position += text[position] === '"' ? 2 : 1
      }
      position += 1
    } else {
      while (position < text.length && text[position] !== "," && text[position] !== "\r") {
        assert.notStrictEqual(text[position], '"', "a quote inside a field that is not quoted")
        assert.notStrictEqual(text[position], "\n", "a bare line feed outside quotes")
        field += text[position]
        position += 1
      }
    }
    line.push({ text: field, quoted })
    if (text[position] === ",") {
      position += 1
      if (position === text.length) line.push({ text: "", quoted: false })
      continue
    }
    assert.strictEqual(text.slice(position, position + 2), "\r\n", "a line ends with CR LF")
    position += 2
    lines.push(line)
    line = []
  }
  return lines
}

/** One cell of a Markdown table, as a reader of CommonMark has it: escapes undone. */
const unescape = (text: string): string => text.replaceAll(/\\([!-/:-@[-`{-~])/gu, "$1")

/** The cells of a line of a Markdown table: a pipe divides unless it is escaped. */
const cellsOf = (line: string): ReadonlyArray<string> => {
  assert.isTrue(line.startsWith("| ") && line.endsWith(" |"), line)
  return line.slice(2, -2).split(/(?<=(?:^|[^\\])(?:\\\\)*) \| /u)
}

describe("ResultText.csv", () => {
  it("is RFC 4180: a header, quotes where they are needed, CR LF", () => {
    assert.strictEqual(
      ResultText.csv(
        table(
          ["name", "a,b", 'q"q'],
          [
            ["plain", 1, true],
            ['comma, quote " and\r\nbreak', -0.5, false],
            [null, 1e21, null]
          ]
        )
      ),
      'name,"a,b","q""q"\r\nplain,1,true\r\n"comma, quote "" and\r\nbreak",-0.5,false\r\n,1e+21,\r\n'
    )
  })

  it("tells a null from an empty text, and loses no row of one column", () => {
    assert.strictEqual(ResultText.csv(table(["a", "b"], [["", null]])), 'a,b\r\n"",\r\n')
    const parsed = parseCsv(ResultText.csv(table(["only"], [[null], ["x"], [""]])))
    assert.deepStrictEqual(
      parsed.map((line) => line.length),
      [1, 1, 1, 1]
    )
    // A line without a sign would be no row at all to many readers.
    for (const line of ResultText.csv(table(["only"], [[null], ["x"], [""]]))
      .split("\r\n")
      .slice(0, -1)) {
      assert.notStrictEqual(line, "")
    }
  })

  const Cell = Schema.Union([
    AnyText,
    Schema.Literals(['"', ",", "\r", "\n", "\r\n", '",', " ", "", "'", ";"]),
    Schema.Finite,
    Schema.Boolean,
    Schema.Null
  ])
  it.prop(
    "read back, every value is what it was",
    [Schema.Array(Schema.Tuple([Cell, Cell])), Schema.Tuple([AnyText, AnyText])],
    ([rows, names]) => {
      const lines = parseCsv(ResultText.csv(table(names, rows)))
      const texts = [names, ...rows].map((row) =>
        row.map((value) => ({ text: value === null ? "" : String(value), missing: value === null }))
      )
      assert.deepStrictEqual(
        lines.map((line) => line.map((field) => field.text)),
        texts.map((row) => row.map((one) => one.text))
      )
      lines.forEach((line, row) =>
        line.forEach((field, column) => {
          if (field.text === "") assert.strictEqual(!field.quoted, texts[row]?.[column]?.missing)
        })
      )
    },
    { arbitrary: { runs: 500 } }
  )
})

describe("ResultText.markdown", () => {
  it("is a table, with numbers to the right", () => {
    assert.strictEqual(
      ResultText.markdown(
        table(
          [
            ["region", "text"],
            ["n", "integer"],
            ["x", "number"],
            ["d", "decimal"],
            ["day", "date"]
          ],
          [
            ["north", 1, 2.5, "3.10", "2030-01-01"],
            [null, null, null, null, null]
          ]
        ),
        10
      ),
      [
        "| region | n | x | d | day |",
        "| --- | ---: | ---: | ---: | --- |",
        "| north | 1 | 2.5 | 3.10 | 2030-01-01 |",
        "|  |  |  |  |  |"
      ].join("\n")
    )
  })

  it("says how many rows there are beyond those shown, and whether the source had more", () => {
    const rows = Array.from({ length: 5 }, (_, index) => [index])
    const last = (truncated: boolean, shown: number) =>
      ResultText.markdown(table(["n"], rows, truncated), shown)
        .split("\n")
        .slice(2 + Math.min(shown, 5))
    assert.deepStrictEqual(last(false, 5), [])
    assert.deepStrictEqual(last(false, 9), [])
    assert.deepStrictEqual(last(false, 3), ["", "… and 2 more rows"])
    assert.deepStrictEqual(last(false, 4), ["", "… and 1 more row"])
    assert.deepStrictEqual(last(true, 3), ["", "… and 2 more rows, cut at the limit"])
    assert.deepStrictEqual(last(true, 5), ["", "… cut at the limit"])
  })

  it("text from data stays text: no markup, no picture, no link, no second column or line", () => {
    const hostile = [
      "a | b",
      "back\\slash",
      "ends with \\",
      "\\|",
      "![x](https://evil.example/?q=1)",
      "[click](javascript:alert(1))",
      "<script>alert(1)</script>",
      "<https://evil.example>",
      "&lt;b&gt;",
      "`code` and ``more``",
      "*bold* **bolder** ~~struck~~",
      "_emphasis_ __strong__",
      "one\ntwo\r\nthree\u2028four",
      "| --- |",
      "# no heading"
    ]
    for (const text of hostile) {
      const lines = ResultText.markdown(table(["a", text], [[text, "z"]]), 5).split("\n")
      assert.strictEqual(lines.length, 3, text)
      const cells = cellsOf(lines[2] ?? "")
      assert.strictEqual(cells.length, 2, text)
      assert.strictEqual(cells[1], "z")
      assert.strictEqual(unescape(cells[0] ?? ""), text.replaceAll(/\s+/gu, " ").trim(), text)
      assert.notMatch(cells[0] ?? "", /(?<!\\)(?:\\\\)*[[\]<`*~&]/u, text)
      assert.notMatch(cells[0] ?? "", /(?<![\\\p{L}\p{N}])_|(?<!\\)_(?![\p{L}\p{N}])/u, text)
    }
  })

  it("leaves names as people write them in data", () => {
    const names = ["flight_count", "a-b", "100%", "2030-01-01", "x=y", "(z)", "O'Brien", "$5.00", "#1", "a.b/c:d"]
    const [, , row] = ResultText.markdown(table(names, [names]), 5).split("\n")
    assert.strictEqual(row, `| ${names.join(" | ")} |`)
  })

  it("cuts a long text between characters, and never in the middle of an escape", () => {
    const cell = (text: string) => cellsOf(ResultText.markdown(table(["a"], [[text]]), 5).split("\n")[2] ?? "")[0] ?? ""
    assert.strictEqual(cell("x".repeat(200)), "x".repeat(200))
    assert.strictEqual(cell("x".repeat(201)), `${"x".repeat(199)}…`)
    assert.strictEqual(cell("🚀".repeat(201)), `${"🚀".repeat(199)}…`)
    assert.strictEqual(cell("|".repeat(201)), `${"\\|".repeat(199)}…`)
    assert.isTrue(cell(`${"x".repeat(198)}🚀🚀🚀`).isWellFormed())
  })

  const AnyCell = Schema.Union([AnyText, Schema.Literals(["|", "\\", "\\|", " | ", "`", "\n", "*"])])
  it.prop(
    "every row has as many cells as there are columns, whatever is in them",
    [Schema.Array(Schema.Tuple([AnyCell, AnyCell, AnyCell]))],
    ([rows]) => {
      const [, , ...lines] = ResultText.markdown(table(["a", "b", "c"], rows), 1000).split("\n")
      assert.strictEqual(lines.length, rows.length)
      for (const line of lines) assert.strictEqual(cellsOf(line).length, 3, line)
    },
    { arbitrary: { runs: 500 } }
  )
})

describe("ResultText.json", () => {
  it("is an object for each row, whatever the columns are called", () => {
    const text = ResultText.json(table(["__proto__", "constructor", "n"], [["x", null, 1.5]]))
    assert.strictEqual(text, '[{"__proto__":"x","constructor":null,"n":1.5}]')
  })
})

describe("ResultTable", () => {
  it("reads a column by its name, and a row as a record without a prototype", () => {
    const sample = table(["a", "b"], [[1, "x"], [2], [null, "z"]])
    assert.deepStrictEqual(values(sample, "a"), [1, 2, null])
    assert.deepStrictEqual(values(sample, "b"), ["x", null, "z"])
    assert.deepStrictEqual(values(sample, "c"), [])
    for (const record of records(sample)) assert.isNull(Object.getPrototypeOf(record))
  })
})
