/**
 * Pies that can be read: slices from large to small, each with its share beside it.
 *
 * Angles are hard to compare, so a pie without numbers says little. The shares are computed in the specification
 * itself, which therefore still stands alone.
 */
import { arrayAt, at, isObject, objectAt, textAt, without, type Json, type JsonObject } from "../specification/Json.ts"
import * as Plots from "./Plots.ts"
import * as Titles from "./Titles.ts"

/** The fields that the transforms below make. */
const fields = { value: "slice_value", whole: "slice_whole", share: "slice_share" } as const

/** Channels that a plain pie has. With any other it is left as it was written. */
const plain: ReadonlySet<string> = new Set(["theta", "color", "fill", "tooltip", "order"])

/** Slices below this share have no room for a label. */
const smallest = 0.03

/** The distances of a pie, in pixels. */
const radius = { inner: 68, outer: 126, label: 147 } as const

/** Writes the shares beside the slices of a plain pie; anything else comes back unchanged. */
export const labelled = (plot: JsonObject): JsonObject => {
  const encoding = objectAt(plot, "encoding")
  const [theta] = Plots.definitionsOf(encoding, "theta")
  const channel = Object.hasOwn(encoding, "color") ? "color" : "fill"
  const [color] = Plots.definitionsOf(encoding, channel)
  const category = textAt(color, "field")
  if (Plots.markOf(plot) !== "arc" || theta === undefined || color === undefined || category === undefined) return plot
  if (!Plots.isShown(theta) || !Object.keys(encoding).every((key) => plain.has(key))) return plot
  if (Object.hasOwn(theta, "bin") || Object.hasOwn(color, "aggregate") || Object.hasOwn(color, "timeUnit")) return plot
  const slices = sliced(theta, category)
  if (slices === undefined) return plot

  const written = at(plot, "mark")
  const mark = isObject(written) ? written : {}
  const measure: JsonObject = { field: fields.value, type: "quantitative" }
  const title = Titles.isTitled(theta) ? (at(theta, "title") ?? null) : (Titles.titleOf(theta) ?? null)
  return {
    ...without(plot, "mark", "encoding"),
    transform: [...arrayAt(plot, "transform"), ...slices],
    encoding: {
      theta: { ...measure, title, stack: true },
      order: at(encoding, "order") ?? { ...measure, sort: "descending" },
      ...(Object.hasOwn(encoding, "tooltip") ? { tooltip: at(encoding, "tooltip") ?? null } : {})
    },
    layer: [
      {
        mark: { innerRadius: radius.inner, outerRadius: radius.outer, ...mark, type: "arc" },
        encoding: {
          [channel]: { ...color, sort: at(color, "sort") ?? { field: fields.value, op: "sum", order: "descending" } }
        }
      },
      {
        mark: { type: "text", radius: radius.label, fontWeight: 500 },
        encoding: {
          text: { field: fields.share, type: "quantitative", format: ".0%" },
          detail: { field: category, type: "nominal" },
          opacity: { condition: { test: `datum.${fields.share} < ${smallest}`, value: 0 }, value: 1 }
        }
      }
    ]
  }
}

/** The transforms that make one row a slice, with its value and its share. */
const sliced = (theta: JsonObject, category: string): ReadonlyArray<Json> | undefined => {
  const aggregate = at(theta, "aggregate")
  const field = textAt(theta, "field")
  if (isObject(aggregate)) return undefined
  const op = typeof aggregate === "string" ? aggregate : "sum"
  return [
    { aggregate: [{ op, as: fields.value, ...(field === undefined ? {} : { field }) }], groupby: [category] },
    { joinaggregate: [{ op: "sum", field: fields.value, as: fields.whole }] },
    { calculate: `datum.${fields.value} / datum.${fields.whole}`, as: fields.share }
  ]
}
