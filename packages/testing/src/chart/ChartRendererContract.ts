/**
 * What every adapter of the `ChartRenderer` port does, whichever library draws: a specification and a result become
 * pictures that stand alone, and what is wrong with a specification is said in words that its author can use.
 */
import { ChartRenderer, type RenderedChart } from "@castellan/core/asset/ChartRenderer"
import type { ResultTable } from "@castellan/core/connector/ResultTable"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

const sales: ResultTable = {
  columns: [
    { name: "region", type: "text" },
    { name: "revenue", type: "decimal" },
    { name: "day", type: "date" }
  ],
  rows: [
    ["North", "1200.50", "2010-01-01"],
    ["South", "450.25", "2010-02-01"],
    ["East", null, "2010-03-01"],
    [null, "980.00", "2010-04-01"]
  ],
  truncated: false
}

const bars = (title: string): Record<string, unknown> => ({
  title,
  mark: "bar",
  encoding: {
    x: { field: "region", type: "nominal", title: "Sales region" },
    y: { field: "revenue", type: "quantitative", title: "Revenue (EUR)" }
  }
})

const render = (specification: unknown, data: ResultTable = sales) =>
  ChartRenderer.use((charts) => charts.render(specification, data))

const refusal = (specification: unknown, data: ResultTable = sales) =>
  Effect.map(Effect.flip(render(specification, data)), (error) => {
    assert.strictEqual(error._tag, "ChartSpecificationInvalid")
    return error.message
  })

const Standalone = Schema.fromJsonString(
  Schema.Struct({ data: Schema.Struct({ values: Schema.Array(Schema.Record(Schema.String, Schema.Unknown)) }) })
)
const readStandalone = Schema.decodeUnknownEffect(Standalone)

/** The logical size of an SVG document, from its first tag. */
const sizeOf = ({ svg }: RenderedChart): readonly [number, number] => {
  const [tag = ""] = /^<svg[^>]*>/.exec(svg) ?? []
  return [Number(/ width="([\d.]+)"/.exec(tag)?.[1]), Number(/ height="([\d.]+)"/.exec(tag)?.[1])]
}

/** The size of a PNG in pixels, from its header. */
const pixelsOf = ({ png }: RenderedChart): readonly [number, number] => {
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength)
  return [view.getUint32(16), view.getUint32(20)]
}

/** Specifications that no renderer may draw, and what the refusal has to name. */
const refused: ReadonlyArray<readonly [what: string, specification: unknown, names: RegExp]> = [
  ["nothing", undefined, /object/],
  ["a text", "bar", /object/],
  ["a list", [], /object/],
  ["no mark", {}, /mark/],
  ["an unknown mark", { ...bars(""), mark: "barr" }, /mark/],
  ["an unknown type", { mark: "bar", encoding: { x: { field: "region", type: "words" } } }, /encoding\.x\.type/],
  ["an unknown column", { mark: "bar", encoding: { x: { field: "country" } } }, /country.*region/],
  ["data from elsewhere", { ...bars(""), data: { url: "http://127.0.0.1:1/data.csv" } }, /data/],
  ["an image", { mark: { type: "image", url: "http://127.0.0.1:1/logo.png" } }, /image|url/],
  ["a link", { mark: { type: "bar", href: "http://127.0.0.1:1/" } }, /href|link/],
  ["code", { ...bars(""), transform: [{ calculate: "eval('1')", as: "one" }] }, /eval/],
  ["a text as a quantity", { mark: "bar", encoding: { x: { field: "region", type: "quantitative" } } }, /region/]
]

/** The suite: hand it the adapter as a layer. It draws for real, so it takes a live clock. */
export const suite = <E>(adapter: string, layer: Layer.Layer<ChartRenderer, E>): void =>
  it.layer(layer, { timeout: "180 seconds", excludeTestServices: true })(`ChartRenderer (${adapter})`, (it) => {
    it.effect("a chart is an SVG document and a PNG of twice its size", () =>
      Effect.gen(function* () {
        const chart = yield* render(bars("Sales"))
        const [width, height] = sizeOf(chart)
        assert.isAbove(width, 100)
        assert.isAbove(height, 100)
        assert.deepStrictEqual(Array.from(chart.png.slice(0, 8)), [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
        assert.deepStrictEqual(pixelsOf(chart), [Math.round(2 * width), Math.round(2 * height)])
      })
    )

    it.effect("title, axis titles and categories are written in the picture", () =>
      Effect.gen(function* () {
        const { svg } = yield* render(bars("Sales & <returns>"))
        for (const text of ["Sales &amp; &lt;returns&gt;", "Sales region", "Revenue (EUR)", "North", "South"]) {
          assert.include(svg, text)
        }
        assert.notMatch(svg, /NaN|undefined/)
      })
    )

    it.effect("the picture holds nothing that is loaded or run", () =>
      Effect.gen(function* () {
        const { svg } = yield* render(bars("Sales"))
        assert.notMatch(svg, /<(image|script|foreignObject|use|a)\b|\shref=|\son\w+=|url\((?!#)/)
      })
    )

    it.effect("the specification stands alone: the rows are inside", () =>
      Effect.gen(function* () {
        const { specification } = yield* render(bars("Sales"))
        const { data } = yield* readStandalone(specification)
        assert.lengthOf(data.values, sales.rows.length)
        assert.strictEqual(data.values[0]?.["region"], "North")
        assert.strictEqual(data.values[0]?.["revenue"], 1200.5)
      })
    )

    it.effect("the same input gives the same bytes", () =>
      Effect.gen(function* () {
        const first = yield* render(bars("Sales"))
        yield* render(bars("Something between"))
        const second = yield* render(bars("Sales"))
        assert.strictEqual(second.svg, first.svg)
        assert.strictEqual(second.specification, first.specification)
        assert.deepStrictEqual(second.png, first.png)
      })
    )

    it.effect("a day is that day, in any time zone", () =>
      Effect.gen(function* () {
        const { svg } = yield* render({
          mark: "point",
          encoding: {
            x: {
              field: "day",
              type: "temporal",
              axis: { format: "%Y-%m-%d", values: [{ year: 2010, month: 1, date: 1 }] }
            }
          }
        })
        assert.include(svg, "2010-01-01")
        assert.notInclude(svg, "2009-12-31")
      })
    )

    it.effect("columns may have any name", () =>
      Effect.gen(function* () {
        const names = ["a.b", "a[0]", "it's", 'say "so"', "back\\slash", "naïve 日本", "constructor", "length"]
        for (const name of names) {
          const data: ResultTable = {
            columns: [
              { name, type: "text" },
              { name: "value", type: "integer" }
            ],
            rows: [
              ["first", 1],
              ["second", 2]
            ],
            truncated: false
          }
          const specification = {
            mark: "bar",
            encoding: { x: { field: name, type: "nominal" }, y: { field: "value", type: "quantitative" } }
          }
          const { svg } = yield* render(specification, data)
          assert.include(svg, "second", name)
        }
      })
    )

    it.effect("a result without rows is refused", () =>
      Effect.gen(function* () {
        assert.match(yield* refusal(bars("Sales"), { ...sales, rows: [] }), /no rows|empty|nothing/)
      })
    )

    it.effect.each(refused)("refused, with its place: %s", ([, specification, expected]) =>
      Effect.gen(function* () {
        assert.match(yield* refusal(specification), expected)
      })
    )

    it.effect("charts that are drawn at the same time do not mix", () =>
      Effect.gen(function* () {
        const titles = ["First", "Second", "Third", "Fourth", "Fifth", "Sixth"]
        const charts = yield* Effect.forEach(titles, (title) => render(bars(title)), { concurrency: "unbounded" })
        for (const [index, { svg }] of charts.entries()) {
          for (const title of titles) {
            if (title === titles[index]) assert.include(svg, title)
            else assert.notInclude(svg, title)
          }
        }
      })
    )

    it.effect("a drawing can be interrupted, and the next one is drawn", () =>
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(render(bars("Interrupted")), { startImmediately: true })
        yield* Fiber.interrupt(fiber)
        const { svg } = yield* render(bars("Next"))
        assert.include(svg, "Next")
      })
    )
  })
