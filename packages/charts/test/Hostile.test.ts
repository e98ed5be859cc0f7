/**
 * Whatever a model writes, the renderer answers in time: with a picture that holds nothing but shapes and texts, or with
 * words that say what is wrong.
 */
import * as VegaRenderer from "@castellan/charts/vega/VegaRenderer"
import { ChartRenderer } from "@castellan/core/asset/ChartRenderer"
import type { ResultTable } from "@castellan/core/connector/ResultTable"
import * as PassingTime from "@castellan/testing/fixture/PassingTime"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { hostile } from "./HostileSpecifications.ts"

const data: ResultTable = {
  columns: [
    { name: "region", type: "text" },
    { name: "revenue", type: "integer" },
    { name: "day", type: "date" }
  ],
  rows: [
    ["North", 120_000, "2024-01-01"],
    ["South", 45_000, "2024-02-01"],
    ["East", 98_000, "2024-03-01"]
  ],
  truncated: false
}

const bars = { mark: "bar", encoding: { x: { field: "region" }, y: { field: "revenue" } } }

/** Nothing that loads, links or runs, in the tags of a document (in its texts everything may stand). */
const assertPlain = (svg: string): void => {
  for (const [, name = "", attributes = ""] of svg.matchAll(/<([\w:]+)((?:\s+[\w:-]+="[^"]*")*)/g)) {
    assert.notMatch(name, /^(image|script|foreignObject|use|a|style|animate)$/)
    for (const [, attribute = "", value = ""] of attributes.matchAll(/([\w:-]+)="([^"]*)"/g)) {
      assert.notMatch(attribute, /^(href|xlink:href|src|on\w+)$/)
      if (!attribute.startsWith("aria-")) assert.notMatch(value, /url\((?!#)|javascript:/)
    }
  }
  // What is no tag is text, and text has no brackets of its own.
  assert.notInclude(svg.replaceAll(/<\/?[\w:]+(?:\s+[\w:-]+="[^"]*")*\s*\/?>/g, ""), "<")
}

const drawing = VegaRenderer.layerWith({ timeLimit: "2 seconds" })

layer(drawing, { timeout: "180 seconds" })("hostile specifications", (it) => {
  it.effect.each(hostile)("$name", ({ hangs, says, specification }) =>
    Effect.gen(function* () {
      const charts = yield* ChartRenderer
      const answering = Effect.match(charts.render(specification, data), {
        onFailure: ({ message }) => ({ message }),
        onSuccess: ({ svg }) => ({ svg })
      })
      const answer = hangs === true ? yield* PassingTime.join(yield* PassingTime.starting(answering)) : yield* answering
      if ("svg" in answer) {
        assert.isUndefined(says, "it was drawn")
        assertPlain(answer.svg)
      } else {
        assert.match(answer.message, says ?? /./)
        assert.match(answer.message, /^\S.{10,}[.?!]$/s)
        assert.isBelow(answer.message.length, 1500)
      }
    })
  )

  it.effect("after all of them it draws as before", () =>
    Effect.gen(function* () {
      const { svg } = yield* ChartRenderer.use((charts) => charts.render(bars, data))
      assert.include(svg, "North")
      assert.isUndefined(Reflect.get({}, "polluted"))
    })
  )

  it.effect("data cannot do what a specification may not", () =>
    Effect.gen(function* () {
      const charts = yield* ChartRenderer
      const evil = "url(http://127.0.0.1:1/x.svg#a)"
      const table: ResultTable = {
        columns: [
          { name: "name", type: "text" },
          { name: "colour", type: "text" },
          { name: "value", type: "integer" }
        ],
        rows: [
          ["<script>alert(1)</script>", evil, 1],
          ['" onload="alert(1)', "red", 2]
        ],
        truncated: false
      }
      const marks = { mark: "bar", encoding: { x: { field: "name" }, y: { field: "value" } } }
      assertPlain((yield* charts.render(marks, table)).svg)
      const coloured = { ...marks, encoding: { ...marks.encoding, color: { field: "colour", scale: null } } }
      assert.match((yield* Effect.flip(charts.render(coloured, table))).message, /anything outside itself/)
    })
  )

  it.effect("too much data is refused with a way out", () =>
    Effect.gen(function* () {
      const charts = yield* ChartRenderer
      const table = (length: number): ResultTable => ({
        columns: [
          { name: "x", type: "integer" },
          { name: "y", type: "integer" }
        ],
        rows: Array.from({ length }, (_, index) => [index, (index * 7919) % 1000]),
        truncated: false
      })
      const points = { mark: "point", encoding: { x: { field: "x" }, y: { field: "y" } } }
      const few = yield* Effect.flip(charts.render(points, table(6000)))
      assert.match(few.message, /draws 6,000 marks, at most 5,000.*aggregate, bin or sample/)
      const many = yield* Effect.flip(charts.render(points, table(60_000)))
      assert.match(many.message, /60,000 rows.*aggregate/)
      const binned = { mark: "bar", encoding: { x: { field: "y", bin: true }, y: { aggregate: "count" } } }
      assert.include((yield* charts.render(binned, table(40_000))).svg, "Number of records")
    })
  )

  it.effect("categories by the thousand are refused", () =>
    Effect.gen(function* () {
      const table: ResultTable = {
        columns: [
          { name: "name", type: "text" },
          { name: "value", type: "integer" }
        ],
        rows: Array.from({ length: 2000 }, (_, index) => [`Customer ${index}`, index]),
        truncated: false
      }
      const bar = { mark: "bar", encoding: { y: { field: "name" }, x: { field: "value" } } }
      const { message } = yield* Effect.flip(ChartRenderer.use((charts) => charts.render(bar, table)))
      assert.match(message, /pixels.*fewer categories/)
    })
  )
})
