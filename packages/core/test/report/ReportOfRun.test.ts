import type { Asset } from "@castellan/core/asset/Asset"
import { CellId } from "@castellan/core/chat/Cell"
import { Blocks, type Block } from "@castellan/core/report/Block"
import * as Markdown from "@castellan/core/report/Markdown"
import * as Inline from "@castellan/core/report/Inline"
import { reportOfRun } from "@castellan/core/report/ReportOfRun"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import { Asset as AssetClass } from "@castellan/core/asset/Asset"
import * as ProcessorTime from "@castellan/testing/fixture/ProcessorTime"
import { AnyText } from "@castellan/testing/fixture/AnyText"
import { assert, describe, it, layer } from "@effect/vitest"
import { DateTime, Effect, Option, Schema } from "effect"

const cellId = CellId.make("01890000-0000-7000-8000-000000000000")

const transcript = (content: string, assets: ReadonlyArray<Asset> = []) => ({
  messages: [
    { role: "user" as const, content: "How?", createdAt: DateTime.makeUnsafe(0), cellId, assets: [] },
    { role: "assistant" as const, content, createdAt: DateTime.makeUnsafe(0), cellId, assets }
  ],
  assets
})

const reported = (name: string, content: string, assets: ReadonlyArray<Asset> = []) =>
  Option.getOrThrow(reportOfRun(name, transcript(content, assets)))

const bodyOf = (content: string): ReadonlyArray<Block> => reported("Weekly", content).blocks.slice(1)

describe("reportOfRun", () => {
  it.each(["", "  \n\n ", "---", "***\n\n---"])("has nothing to report of %j", (content) => {
    assert.deepStrictEqual(reportOfRun("Weekly", transcript(content)), Option.none())
  })

  it("takes the playbook's name for its subject, else the answer's title, else the word", () => {
    assert.strictEqual(reported("Weekly *sales*\n2030", "# Title\n\nText").subject, "Weekly *sales* 2030")
    assert.strictEqual(reported(" ", "# The **title**\n\nText").subject, "The title")
    assert.strictEqual(reported("", "Text").subject, "Report")
    assert.strictEqual(Array.from(reported("x".repeat(1000), "Text").subject).length, 150)
  })

  it("says the title once", () => {
    assert.deepStrictEqual(reported("Sales", "# Sales\n\nUp.").blocks, [
      { _tag: "Hero", heading: "Sales" },
      { _tag: "Text", content: "Up." }
    ])
  })

  it.each([
    ["# Title\n\nFirst **words**,\nand more.\n\nSecond.", "First words, and more."],
    ["# Title\n\n- one\n- *two*", "one; two"],
    ["> Quoted", "Quoted"],
    ["# Title only", "Title only"],
    ["| a |\n|---|\n| 1 |", ""]
  ])("sums %j up", (content, summary) => {
    assert.strictEqual(reported("Weekly", content).summary, summary)
  })

  it("makes a section of each heading, and lets tables and rules stand alone", () => {
    assert.deepStrictEqual(
      bodyOf(
        "Before.\n\n## By **region**\n\n| Region | Sales |\n|:---|---:|\n| N \\| E | 1 |\n\nAfter.\n\n---\n\n## Next\n\nEnd."
      ),
      [
        { _tag: "Text", content: "Before." },
        {
          _tag: "Table",
          heading: "By region",
          columns: [
            { name: "Region", numeric: false },
            { name: "Sales", numeric: true }
          ],
          rows: [["N | E", "1"]]
        },
        { _tag: "Text", content: "After." },
        { _tag: "Divider" },
        { _tag: "Text", heading: "Next", content: "End." }
      ]
    )
  })

  it("keeps prose as it was written", () => {
    const prose = "- one\n- two\n\n```sql\nselect 1\n\nfrom x\n```\n\n1. first\n2. second"
    assert.deepStrictEqual(bodyOf(prose), [{ _tag: "Text", content: prose }])
  })

  it("names a picture of elsewhere, and does not show it", () => {
    assert.deepStrictEqual(bodyOf("See\n\n![the plot](https://evil.example/p.png)"), [
      { _tag: "Text", content: "See\n\nthe plot" }
    ])
  })

  it.prop("keeps within the bounds of a report, whatever the answer", [AnyText], ([text]) => {
    const short = text.slice(0, 200)
    const answers = [text, `# ${short}\n\n`.repeat(300), `| ${short} |\n|---|\n| x |\n\n`.repeat(200)]
    for (const answer of answers) {
      const report = reportOfRun(text, transcript(answer))
      if (Option.isSome(report)) {
        assert.isTrue(Schema.is(Blocks)(report.value.blocks))
        assert.notMatch(report.value.subject, /[\r\n]/)
        assert.notStrictEqual(report.value.subject, "")
      }
    }
  })
})

layer(layerCrypto)("what a run made", (it) => {
  const made = Effect.fnUntraced(function* (given: Parameters<typeof Sample.asset>[1] & { readonly content?: string }) {
    const principal = yield* Sample.principal(yield* Sample.organizationId)
    const asset = yield* Sample.asset(yield* Sample.run(principal, yield* Sample.chat(principal)), given)
    return given.content === undefined ? asset : new AssetClass({ ...asset, content: given.content })
  })

  it.effect("comes after the words, each as what it is", () =>
    Effect.gen(function* () {
      const chart = yield* made({ kind: "chart", name: "Chart" })
      const image = yield* made({ kind: "image", name: "Photo", formats: ["png"] })
      const table = yield* made({
        kind: "table",
        name: "Rows",
        formats: ["csv"],
        content: "| a | n |\n| --- | ---: |\n| \\*x\\* | 1 |\n| y | 2 |\n\n… and 3 more rows"
      })
      const numbers = yield* made({
        kind: "table",
        name: "Totals",
        formats: ["csv"],
        content: "| sales | cost |\n| ---: | ---: |\n| 10 | 7 |"
      })
      const note = yield* made({ kind: "text", name: "Notes", formats: ["txt"], content: "# Notes" })
      const file = yield* made({ kind: "pdf", name: "full_report.pdf", formats: [] })
      const { blocks } = reported("Weekly", "Words.", [chart, image, table, numbers, note, file])
      assert.deepStrictEqual(blocks.slice(1), [
        { _tag: "Text", content: "Words." },
        { _tag: "Chart", heading: "Chart", assetId: chart.id, alt: "Chart" },
        {
          _tag: "Image",
          heading: "Photo",
          image: { _tag: "Asset", assetId: image.id },
          alt: "Photo",
          variant: "none"
        },
        {
          _tag: "Table",
          heading: "Rows",
          columns: [
            { name: "a", numeric: false },
            { name: "n", numeric: true }
          ],
          rows: [
            ["*x*", "1"],
            ["y", "2"]
          ],
          note: "… and 3 more rows"
        },
        {
          _tag: "Card",
          heading: "Totals",
          blocks: [
            { _tag: "Metric", heading: "sales", content: "10" },
            { _tag: "Metric", heading: "cost", content: "7" }
          ]
        },
        { _tag: "Card", heading: "Notes", blocks: [{ _tag: "Text", content: "# Notes" }] },
        { _tag: "List", heading: "Files", items: ["full\\_report.pdf"] }
      ])
      assert.strictEqual(Inline.plain(Inline.parse("full\\_report.pdf")), "full_report.pdf")
    })
  )

  it.effect("is a report also without words, and keeps within bounds however much it is", () =>
    Effect.gen(function* () {
      const table = yield* made({
        kind: "table",
        formats: ["csv"],
        content: "| a | b | c | d |\n| ---: | ---: | ---: | ---: |\n| 1 | 2 | 3 | 4 |"
      })
      const { blocks, summary } = reported("Weekly", "", [table])
      assert.deepStrictEqual(
        blocks.map((block) => block._tag),
        ["Hero", "Card"]
      )
      assert.strictEqual(summary, "")
      const many = reported(
        "Weekly",
        "# x\n\n".repeat(100),
        Array.from({ length: 200 }, () => table)
      )
      assert.isTrue(Schema.is(Blocks)(many.blocks))
      assert.deepInclude(many.blocks.at(-1), { _tag: "List", items: ["and 125 more"] })
    })
  )
})

describe("Markdown", () => {
  it.prop("loses no line, and reads anything", [AnyText, AnyText], ([left, right]) => {
    const source = `${left}\n${right}`
    const kept = Markdown.parse(source)
      .map((block) => block.source)
      .join("\n")
    const words = (text: string) => text.split(/\r\n|\r|\n/).filter((line) => line.trim() !== "")
    assert.deepStrictEqual(words(kept), words(source))
  })

  it.each(["\n", "\r\n", "\r"])("ends a line at %j", (end) => {
    const read = Markdown.parse(`# One${end}- two${end}- three${end}`)
    assert.deepStrictEqual(
      read.map((block) => block.source),
      ["# One", "- two\n- three"]
    )
  })

  it("takes no longer than its input is long", () => {
    for (const sign of ["*", "_", "`", "[", "![", "](", "\\", "|", "> ", "- ", "#", "**a", " "]) {
      const text = sign.repeat(100_000 / sign.length)
      const took = ProcessorTime.start()
      Markdown.parse(text)
      Inline.parse(text)
      assert.isBelow(took(), 2000, JSON.stringify(sign))
    }
  })

  it("a heading of many blanks takes no longer than others, and keeps separators of lines in it", () => {
    const took = ProcessorTime.start()
    const [block] = Markdown.parse(`#${" ".repeat(100_000)}a\u2028b`)
    assert.isBelow(took(), 2000)
    assert.strictEqual(block?._tag, "Heading")
    if (block?._tag === "Heading") assert.strictEqual(block.text, "a\u2028b")
  })

  it.each<[source: string, expected: ReadonlyArray<Inline.Inline>]>([
    [
      "a **b** c",
      [
        { _tag: "Text", text: "a " },
        { _tag: "Strong", parts: [{ _tag: "Text", text: "b" }] },
        { _tag: "Text", text: " c" }
      ]
    ],
    ["snake_case_name", [{ _tag: "Text", text: "snake_case_name" }]],
    ["2 * 3 * 4", [{ _tag: "Text", text: "2 * 3 * 4" }]],
    ["`a*b*`", [{ _tag: "Code", text: "a*b*" }]],
    ["\\*a\\*", [{ _tag: "Text", text: "*a*" }]],
    ["[a](ftp://x)", [{ _tag: "Text", text: "a" }]],
    ["[a](https://x)", [{ _tag: "Link", url: "https://x", parts: [{ _tag: "Text", text: "a" }] }]],
    ["**open", [{ _tag: "Text", text: "**open" }]]
  ])("reads %j", (source, expected) => {
    assert.deepStrictEqual(Inline.parse(source), expected)
  })
})
