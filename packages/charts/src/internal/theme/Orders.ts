/**
 * The order of categories whose author gave none: the calendar's, the numbers' at their beginnings, or by length.
 */
import { at, isObject, objectAt, textAt, type Json, type JsonObject } from "../specification/Json.ts"
import * as Plots from "./Plots.ts"
import { valuesOf, type Rows } from "./Rows.ts"

/** Sequences that everybody knows in their order. */
const calendars: ReadonlyArray<ReadonlyArray<string>> = [
  "january february march april may june july august september october november december".split(" "),
  "jan feb mar apr may jun jul aug sep oct nov dec".split(" "),
  "monday tuesday wednesday thursday friday saturday sunday".split(" "),
  "mon tue wed thu fri sat sun".split(" "),
  "q1 q2 q3 q4".split(" "),
  "very low,low,medium,high,very high".split(","),
  "small,medium,large,extra large".split(","),
  "xs s m l xl xxl".split(" ")
]

/** An order that the names themselves have: the months of a year, or numbers at their beginnings. */
const naturalOrder = (names: ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
  const lower = names.map((name) => name.toLowerCase())
  const calendar = calendars.find((sequence) => lower.every((name) => sequence.includes(name)))
  if (calendar !== undefined) {
    return names.toSorted((left, right) => calendar.indexOf(left.toLowerCase()) - calendar.indexOf(right.toLowerCase()))
  }
  const numbers = new Map(names.map((name) => [name, leadingNumber(name)]))
  if (![...numbers.values()].every((number) => number !== undefined)) return undefined
  return names.toSorted((left, right) => (numbers.get(left) ?? 0) - (numbers.get(right) ?? 0))
}

/** `10-19` and `> 65` begin with a number; `3M Company` does not mean one. */
const leadingNumber = (name: string): number | undefined => {
  const match = /^([<≤>≥]=?)?\s*[$€£]?(-?\d+(?:[.,]\d+)?)(?=$|[^\p{L}\d]|[kKmM]?\b)/u.exec(name.trim())
  if (match === null) return undefined
  const number = Number((match[2] ?? "").replace(",", ""))
  // "Under 18" comes before 18, "over 65" after it.
  return number + (match[1]?.startsWith("<") === true || match[1] === "≤" ? -0.5 : match[1] === undefined ? 0 : 0.5)
}

/** The order of the categories on an axis, when its author gave none. */
export const orderOf = (
  layers: ReadonlyArray<Plots.Layer>,
  channel: "x" | "y",
  rows: Rows
): { readonly field: string; readonly sort: Json } | undefined => {
  const bar = layers.find(({ mark }) => mark === "bar")
  const layer = bar ?? layers[0]
  const definition = layer === undefined ? undefined : Plots.definitionsOf(layer.encoding, channel)[0]
  const field = textAt(definition, "field")
  if (layer === undefined || definition === undefined || field === undefined) return undefined
  if (layers.some(({ encoding }) => Object.hasOwn(objectAt(encoding, channel), "sort"))) return undefined
  const type = textAt(definition, "type")
  if ((type !== "nominal" && type !== "ordinal") || Object.hasOwn(definition, "timeUnit")) return undefined
  const names = [...new Set(valuesOf(rows, field))].filter((value) => typeof value === "string")
  const natural = names.length === 0 ? undefined : naturalOrder(names)
  if (natural !== undefined) return { field, sort: natural }
  if (type === "ordinal") return undefined
  if (bar !== undefined) {
    const sort = byLength(bar.encoding, channel)
    return sort === undefined ? undefined : { field, sort }
  }
  // A line through categories follows the order of the rows: the alphabet has nothing to say about it.
  return ["line", "area", "trail", "point", "circle", "square", "tick", "rule"].includes(layer.mark)
    ? { field, sort: null }
    : undefined
}

/** Longest bars first. */
const byLength = (encoding: JsonObject, channel: "x" | "y"): Json | undefined => {
  const other = channel === "x" ? "y" : "x"
  const [value] = Plots.definitionsOf(encoding, other)
  if (value === undefined || !Plots.isShown(value) || textAt(value, "type") === "nominal") return undefined
  if (Object.hasOwn(value, "bin") || Object.hasOwn(value, "timeUnit") || textAt(value, "type") === "temporal")
    return undefined
  const parts = ["color", "fill", "xOffset", "yOffset", "detail"].some((key) =>
    Plots.definitionsOf(encoding, key).some(Plots.isShown)
  )
  if (!parts) return `-${other}`
  const aggregate = at(value, "aggregate")
  const field = textAt(value, "field")
  if (aggregate === "count") return { op: "count", order: "descending" }
  if (field === undefined || isObject(aggregate)) return undefined
  return { field, op: typeof aggregate === "string" ? aggregate : "sum", order: "descending" }
}

/** A definition in an order, unless it has one. */
export const inOrder = (
  definition: JsonObject,
  order: { readonly field: string; readonly sort: Json } | undefined
): JsonObject =>
  order === undefined || textAt(definition, "field") !== order.field || Object.hasOwn(definition, "sort")
    ? definition
    : { ...definition, sort: order.sort }
