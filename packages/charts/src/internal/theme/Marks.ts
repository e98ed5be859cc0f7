/**
 * Marks drawn for what they show: lines for the number of places that they go through, areas for their company, and
 * what shows no data only once.
 */
import { arrayAt, at, isArray, isObject, objectAt, textAt, type JsonObject } from "../specification/Json.ts"
import * as Plots from "./Plots.ts"
import { valuesOf, type Rows } from "./Rows.ts"
import { unitOf } from "./TimeGrain.ts"

/** A layer that shows no data (a line at a limit, and its name) is drawn once, not once for every row. */
export const once = (plot: JsonObject, shared: JsonObject = {}): JsonObject => {
  const encoding = { ...shared, ...objectAt(plot, "encoding") }
  const layer = at(plot, "layer")
  if (isArray(layer)) return { ...plot, layer: layer.map((each) => (isObject(each) ? once(each, encoding) : each)) }
  const shown = Object.keys(encoding).some((channel) => Plots.definitionsOf(encoding, channel).some(showsData))
  if (shown || Object.keys(encoding).length === 0) return plot
  return {
    ...plot,
    transform: [...arrayAt(plot, "transform"), { aggregate: [{ op: "count", as: "rows" }], groupby: [] }]
  }
}

const showsData = (definition: JsonObject): boolean =>
  Plots.isShown(definition) ||
  Object.hasOwn(definition, "condition") ||
  Object.values(definition).some((value) => isObject(value) && Object.hasOwn(value, "expr"))

/** The most places on the axis of a line at which each place is marked with a point. */
const fewPlaces = 14

/** Marks drawn for the number of places that they go through, and for the company they are in. */
export const drawn = (plot: JsonObject, rows: Rows, shared: JsonObject = {}): JsonObject => {
  const layer = at(plot, "layer")
  const encoding = { ...shared, ...objectAt(plot, "encoding") }
  if (isArray(layer)) {
    return { ...plot, layer: layer.map((each) => (isObject(each) ? drawn(each, rows, encoding) : each)) }
  }
  const mark = Plots.markOf(plot)
  if (spans(encoding)) return { ...plot, mark: { ...markProperties(plot), aria: false } }
  if (mark !== "line" && mark !== "area") return plot
  const [x] = Plots.definitionsOf(encoding, "x")
  const known = x !== undefined && unitOf(x) === undefined
  const places = known ? new Set(valuesOf(rows, textAt(x, "field")).filter((value) => value !== null)).size : undefined
  const decided = mark === "line" ? lineThrough(places) : areaThrough(places, encoding)
  return { ...plot, mark: { ...decided, ...markProperties(plot) } }
}

/**
 * Whether the marks of an encoding reach from one moment to another. Vega-Lite describes the second one to screen
 * readers in the time zone of the machine, and there is no way to tell it otherwise; no description is better.
 */
const spans = (encoding: JsonObject): boolean =>
  ["x", "y"].some(
    (channel) =>
      Object.hasOwn(encoding, `${channel}2`) &&
      Plots.definitionsOf(encoding, channel).some((each) => textAt(each, "type") === "temporal")
  )

const markProperties = (plot: JsonObject): JsonObject => {
  const mark = at(plot, "mark")
  return isObject(mark) ? mark : { type: mark ?? null }
}

const point: JsonObject = { filled: true, size: 40, opacity: 1 }

/** Lines through few places show them (one place alone would show nothing), lines through many are thin. */
const lineThrough = (places: number | undefined): JsonObject => {
  if (places === undefined || places === 0) return {}
  if (places <= fewPlaces) return { point }
  return places > 400 ? { strokeWidth: 1.25 } : places > 150 ? { strokeWidth: 1.75 } : {}
}

/** An area by itself is a line with its ground tinted; areas on top of one another are solid. */
const areaThrough = (places: number | undefined, encoding: JsonObject): JsonObject => {
  const single = !["color", "fill", "detail"].some((key) => Plots.definitionsOf(encoding, key).some(Plots.isShown))
  const edge = single
    ? { line: { strokeWidth: places !== undefined && places > 400 ? 1.25 : 2 }, fillOpacity: 0.18 }
    : {}
  return places === 1 ? { ...edge, point } : edge
}
