/**
 * What channels and aggregates ask of the fields that they show.
 */
import { at, isObject, textAt, type Json, type JsonObject } from "./Json.ts"
import type { Found } from "./Scope.ts"

/** Channels that have no type of their own: they share another channel's. */
export const secondary: ReadonlySet<string> = new Set([
  "x2",
  "y2",
  "theta2",
  "radius2",
  "latitude2",
  "longitude2",
  "xError",
  "xError2",
  "yError",
  "yError2"
])

/** Channels that split a chart into parts; they need discrete values. */
const discrete: ReadonlySet<string> = new Set([
  "row",
  "column",
  "facet",
  "shape",
  "strokeDash",
  "key",
  "xOffset",
  "yOffset"
])

/** Aggregates that compute with a field, and so need numbers. */
export const computing: ReadonlySet<Json | undefined> = new Set<Json | undefined>([
  "sum",
  "mean",
  "average",
  "median",
  "variance",
  "variancep",
  "stdev",
  "stdevp",
  "stderr",
  "product",
  "q1",
  "q3",
  "ci0",
  "ci1"
])

/** Aggregates that count and so take a field of any kind. */
export const counting: ReadonlySet<Json | undefined> = new Set<Json | undefined>([
  "count",
  "distinct",
  "valid",
  "missing"
])

/** The type of an encoding whose author left it out. `undefined` leaves it to Vega-Lite. */
export const typeOf = (channel: string, value: JsonObject, found: Found): string | undefined => {
  const given = textAt(value, "type")
  if (given !== undefined) return given
  if (Object.hasOwn(value, "timeUnit")) return discrete.has(channel) ? "ordinal" : "temporal"
  if (isObject(at(value, "aggregate")) || at(value, "bin") !== undefined) return undefined
  if (at(value, "aggregate") !== undefined) return "quantitative"
  switch (found.kind) {
    case "number":
      return discrete.has(channel) ? "ordinal" : "quantitative"
    case "temporal":
      return discrete.has(channel) ? "ordinal" : "temporal"
    case "text":
    case "boolean":
      return "nominal"
    case "structure":
    case "unknown":
      return undefined
  }
}
