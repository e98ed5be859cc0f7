/**
 * Any JSON value as a specification, and any result, gives either a chart or a `ChartSpecificationInvalid`: never a
 * defect, never a hang, and the next chart is drawn as before.
 */
import * as VegaRenderer from "@castellan/charts/vega/VegaRenderer"
import type { JsonObject } from "../src/internal/specification/Json.ts"
import { ChartRenderer } from "@castellan/core/asset/ChartRenderer"
import { ColumnType, type ResultTable, Value } from "@castellan/core/connector/ResultTable"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { examples } from "./Gallery.ts"
import * as Mutation from "./Mutation.ts"

const bases = examples.map(({ specification }): JsonObject => JSON.parse(JSON.stringify(specification)))

/** A few rows of the example's data are enough to draw it. */
const few = (data: ResultTable): ResultTable => ({ ...data, rows: data.rows.slice(0, 40) })

/** Small tables of any values, whatever their columns claim to hold. */
const AnyTable = Schema.Struct({
  types: Schema.Tuple([ColumnType, ColumnType]),
  rows: Schema.Array(Schema.Tuple([Value, Value])).pipe(Schema.check(Schema.isMaxLength(6)))
})

/** How many were drawn: properties over nothing but refusals would say little. */
let drawn = 0

const outcome = (specification: unknown, data: ResultTable) =>
  ChartRenderer.use((charts) =>
    Effect.match(charts.render(specification, data), {
      onFailure: ({ _tag, message }) => {
        assert.strictEqual(_tag, "ChartSpecificationInvalid")
        assert.match(message, /^\S.*[.?!]$/s)
        return message
      },
      onSuccess: ({ png, specification: standalone, svg }) => {
        assert.isAbove(png.length, 100)
        assert.match(svg, /^<svg/)
        assert.isObject(JSON.parse(standalone))
        drawn++
        return "drawn"
      }
    })
  )

const drawing = VegaRenderer.layerWith({ timeLimit: "5 seconds" })

layer(drawing, { timeout: "240 seconds", excludeTestServices: true })("any specification", (it) => {
  it.effect.prop(
    "that is any JSON value",
    { specification: Schema.Json },
    ({ specification }) => outcome(specification, few(examples[0]?.data ?? assert.fail())),
    { arbitrary: { runs: 200 } }
  )

  it.effect.prop(
    "that is nearly right",
    { mutation: Mutation.Seed },
    ({ mutation }) => {
      const { data } = examples[mutation.base % examples.length] ?? assert.fail()
      return outcome(Mutation.apply(bases, mutation), few(data))
    },
    { arbitrary: { runs: 250 } }
  )

  it.effect.prop(
    "over any result",
    { table: AnyTable, mark: Schema.Literals(["bar", "line", "area", "point", "rect", "arc", "boxplot", "text"]) },
    ({ mark, table: { rows, types } }) => {
      const [first, second] = types
      const data: ResultTable = {
        columns: [
          { name: "a", type: first },
          { name: "b", type: second }
        ],
        rows,
        truncated: false
      }
      const encoding =
        mark === "arc" ? { theta: { field: "b" }, color: { field: "a" } } : { x: { field: "a" }, y: { field: "b" } }
      return outcome({ mark, encoding }, data)
    },
    { arbitrary: { runs: 250 } }
  )

  it.effect("and then it draws as before; and of those that are nearly right it drew a good part", () =>
    Effect.gen(function* () {
      assert.isAbove(drawn, 30)
      const { data, specification } = examples[0] ?? assert.fail()
      // On a busy machine a drawing may reach the limit of these, which is short for the sake of those that hang.
      const again = yield* Effect.repeat(outcome(specification, data), { until: (told) => told === "drawn", times: 10 })
      assert.strictEqual(again, "drawn")
    })
  )
})
