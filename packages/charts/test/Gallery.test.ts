/**
 * Charts of real data, looked at as a reader would: everything is inside the picture, no text stands on another one,
 * and the words that the data calls for are there.
 */
import * as VegaRenderer from "@castellan/charts/vega/VegaRenderer"
import { ChartRenderer } from "@castellan/core/asset/ChartRenderer"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Drawing from "./Drawing.ts"
import { examples, type Example } from "./Gallery.ts"

const example = (name: string): Example => examples.find((each) => each.name === name) ?? assert.fail(name)

const drawn = (name: string) =>
  ChartRenderer.use((charts) => {
    const { data, specification } = example(name)
    return Effect.map(charts.render(specification, data), ({ svg }) => Drawing.read(svg))
  })

const labels = ({ texts }: Drawing.Drawing, role = "axis-label") =>
  texts.filter((each) => each.role === role).map(({ text }) => text)

/** No chart of these takes long, however busy the machine: only a hang reaches the limit. */
const drawing = VegaRenderer.layerWith({ timeLimit: "100 seconds" })

layer(drawing, { timeout: "180 seconds", excludeTestServices: true })("charts of real data", (it) => {
  it.effect.each(examples)("$name", ({ data, specification }) =>
    Effect.gen(function* () {
      const { svg } = yield* ChartRenderer.use((charts) => charts.render(specification, data))
      assert.notMatch(svg, /NaN|undefined|null<|Infinity/)
      const { height, texts, width } = Drawing.read(svg)
      assert.isAbove(texts.length, 3)
      for (const { corners, text } of texts) {
        for (const [x, y] of corners) {
          assert.isTrue(x >= 0 && x <= width && y >= 0 && y <= height, `"${text}" is cut`)
        }
      }
      // Texts that are data (labels of bars) may meet; the words around the data may not.
      const words = texts.filter(({ role }) => role !== "mark")
      for (const [index, left] of words.entries()) {
        for (const right of words.slice(index + 1)) {
          assert.isFalse(Drawing.overlap(left.corners, right.corners), `"${left.text}" stands on "${right.text}"`)
        }
      }
    })
  )

  it.effect("numbers are short, and all ticks of an axis alike", () =>
    Effect.gen(function* () {
      assert.includeMembers(labels(yield* drawn("long-names-bars")), ["0", "50k", "100k", "150k"])
      assert.includeMembers(labels(yield* drawn("movies-gross")), ["0", "10B", "70B"])
      assert.includeMembers(labels(yield* drawn("three-days")), ["0", "1,000", "5,000"])
      assert.includeMembers(labels(yield* drawn("percentages")), ["0%", "30%"])
      assert.includeMembers(labels(yield* drawn("years-line")), ["1960", "2000"])
      assert.includeMembers(labels(yield* drawn("logarithmic")), ["1M", "100M", "1B"])
    })
  )

  it.effect("days are written in the grain of the ticks, the year once", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(labels(yield* drawn("three-days")).slice(0, 4), ["Feb 28", "2024", "Feb 29", "Mar 1"])
      assert.deepStrictEqual(labels(yield* drawn("gaps")).slice(0, 4), ["Jan", "2026", "Feb", "Mar"])
      assert.deepStrictEqual(labels(yield* drawn("weather-monthly-bars")).slice(0, 4), ["2012", "2013", "2014", "2015"])
      assert.includeMembers(labels(yield* drawn("hours")), ["06:00", "Mar 10"])
    })
  )

  it.effect("months and weekdays stand in the order of the calendar", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(labels(yield* drawn("weather-months-stacked")).slice(0, 3), ["Jan", "Feb", "Mar"])
      assert.deepStrictEqual(labels(yield* drawn("heatmap")).slice(0, 3), ["Sun", "Mon", "Tue"])
    })
  )

  it.effect("bars stand from long to short", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(labels(yield* drawn("percentages")).slice(0, 3), ["WN", "HP", "UA"])
      const genres = labels(yield* drawn("movies-gross"))
      assert.deepStrictEqual(genres.slice(genres.indexOf("Adventure"), genres.indexOf("Adventure") + 2), [
        "Adventure",
        "Action"
      ])
    })
  )

  it.effect("axes are named in words", () =>
    Effect.gen(function* () {
      assert.sameMembers(labels(yield* drawn("flights-by-hour"), "axis-title"), ["Hour", "Average delay"])
      assert.sameMembers(labels(yield* drawn("long-names-bars"), "axis-title"), ["Flight count", "Destination airport"])
      assert.sameMembers(labels(yield* drawn("weather-months-stacked"), "axis-title"), ["Month", "Number of records"])
    })
  )

  it.effect("a result that was cut short says so", () =>
    Effect.gen(function* () {
      const charts = yield* ChartRenderer
      const { data, specification } = example("percentages")
      const cut = { ...data, truncated: true }
      const whole = yield* charts.render(specification, data)
      assert.notInclude(whole.svg, "Only the first")
      assert.include((yield* charts.render(specification, cut)).svg, "Only the first 6 rows of the result")
      const untitled = { mark: specification["mark"], encoding: specification["encoding"] }
      assert.include((yield* charts.render(untitled, cut)).svg, "Only the first 6 rows of the result")
    })
  )

  it.effect("a category without a name is called blank, a slice has its share", () =>
    Effect.gen(function* () {
      assert.include(labels(yield* drawn("negative-values")), "(blank)")
      assert.sameMembers(labels(yield* drawn("pie"), "mark"), ["63%", "19%", "18%"])
    })
  )
})
