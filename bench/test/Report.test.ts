import { assert, describe, it } from "@effect/vitest"
import type { Benchmark, Report } from "../src/Benchmark.ts"
import { benchmarks } from "../src/Benchmarks.ts"
import { figure, iqr, range, ratioWithRange } from "../src/report/Figure.ts"
import { describe as describeMachine, thisMachine } from "../src/report/Machine.ts"
import { markdown, replace, stretch } from "../src/report/Page.ts"
import { render } from "../src/report/Table.ts"
import { summarize } from "../src/measure/Statistics.ts"
import { readFileSync } from "node:fs"
import { hostname } from "node:os"

describe("Table", () => {
  it("pads its columns, words to the left and figures to the right", () => {
    const table = render({
      columns: ["server", "µs"],
      rows: [
        ["node:http", "1.5"],
        ["ours", "12,345"]
      ]
    })
    assert.strictEqual(
      table,
      ["| server    |     µs |", "| --------- | -----: |", "| node:http |    1.5 |", "| ours      | 12,345 |"].join(
        "\n"
      )
    )
  })

  it("keeps a bar in a cell from ending it", () => {
    assert.include(render({ columns: ["a"], rows: [["x | y"]] }), "x \\| y")
  })

  it("refuses a row that does not fit", () => {
    assert.throws(() => render({ columns: ["a", "b"], rows: [["1"]] }), /1 cells for 2 columns/)
  })
})

describe("Figure", () => {
  const table: ReadonlyArray<readonly [number, string]> = [
    [0.004, "0.00"],
    [1.234, "1.23"],
    [12.34, "12.3"],
    [123.4, "123"],
    [12_345.6, "12,346"],
    [-1.5, "-1.50"]
  ]
  for (const [value, text] of table) it(`${value} is ${text}`, () => assert.strictEqual(figure(value), text))

  it("says how far a series spreads", () => {
    const summary = summarize([1, 2, 3, 4, 5])
    assert.strictEqual(range(summary), "1.00–5.00")
    assert.strictEqual(iqr(summary), "2.00")
    assert.strictEqual(ratioWithRange(summary), "3.00 (1.00–5.00)")
    // A ratio that is small is not told as nothing.
    assert.strictEqual(ratioWithRange(summarize([0.00268, 0.0902, 0.104])), "0.090 (0.0027–0.10)")
  })
})

describe("Machine", () => {
  it("says what a figure depends on", () => {
    const machine = { processor: "Chip 9", cores: 2, memoryBytes: 8 * 1024 ** 3, system: "Linux", node: "24.0.0" }
    assert.strictEqual(describeMachine(machine), "Chip 9, 2 cores, 8 GiB, Linux, Node 24.0.0")
    assert.include(describeMachine({ ...machine, cores: 1 }), ", 1 core,")
  })

  it("does not say whose machine it is", () => assert.notInclude(describeMachine(thisMachine()), hostname()))
})

describe("Page", () => {
  const benchmark: Pick<Benchmark, "title" | "about"> = { title: "Title", about: "About." }
  const report: Report = {
    sections: [{ caption: "Caption", table: { columns: ["server"], rows: [["ours"]] } }],
    goals: [
      { aim: "at most 2", outcome: "1.50", met: true },
      { aim: "at most 1", outcome: "1.50", met: false }
    ],
    measured: "3 slices."
  }

  it("shows tables, goals and how it was measured", () => {
    assert.strictEqual(
      markdown(report),
      "Caption:\n\n| server |\n| ------ |\n| ours   |\n\nGoals:\n\n- at most 2: 1.50, reached\n- at most 1: 1.50, **not reached**\n\n3 slices."
    )
  })

  it("replaces the stretch of one benchmark and nothing else", () => {
    const page =
      "# Page\n\n<!-- bench: a -->\n\nold\n\n<!-- /bench -->\n\n<!-- bench: b -->\n\nkept\n\n<!-- /bench -->\n"
    const fresh = replace(page, "a", "new") ?? ""
    assert.strictEqual(fresh, page.replace("old", "new"))
    assert.strictEqual(replace(fresh, "a", "new"), fresh)
    assert.strictEqual(replace(page, "c", "new"), undefined)
    assert.include(stretch({ ...benchmark, name: "a", run: benchmarks[0]?.run ?? noRun }, report, "Here."), "## Title")
  })

  it("the page has a place for every benchmark", () => {
    const page = readFileSync(new URL("../../docs/benchmarks.md", import.meta.url), "utf8")
    for (const { name } of benchmarks) assert.isDefined(replace(page, name, ""), name)
  })
})

const noRun: Benchmark["run"] = () => {
  throw new Error("not to be run")
}
