/**
 * What a chart needs before it is laid out: titles in words, bars in an order that says something, time in the grain
 * of the data, points where a line alone would not be seen.
 *
 * All of it only fills in what the author of the specification left open.
 */
import * as Instant from "../data/Instant.ts"
import { arrayAt, at, isArray, isObject, objectAt, textAt, type Json, type JsonObject } from "../specification/Json.ts"
import * as Pies from "./Pies.ts"
import * as Plots from "./Plots.ts"
import * as Titles from "./Titles.ts"

/** The rows that the chart draws. */
export type Rows = ReadonlyArray<JsonObject>

/** Dresses every plot of a specification. */
export const dress = (specification: JsonObject, rows: Rows): JsonObject =>
  Plots.mapPlots(specification, {
    plot: (plot) => dressPlot(plot, rows),
    facet: (definition) => titled("facet", definition)
  })

const dressPlot = (written: JsonObject, rows: Rows): JsonObject => {
  const plot = once(Pies.labelled(written))
  const timed = Plots.mapEncodings(plot, (encoding, { mark }) => {
    const place = mark === "bar" ? numberedPlace(encoding, rows) : undefined
    return Plots.mapDefinitions(encoding, (channel, definition) =>
      channel === place
        ? { ...definition, type: "ordinal" }
        : Object.hasOwn(encoding, `${channel}2`)
          ? definition
          : inGrain(channel, definition, mark, rows)
    )
  })
  const layers = Plots.layersOf(timed)
  const orders = new Map(
    (["x", "y"] as const).flatMap((channel) => {
      const order = orderOf(layers, channel, rows)
      return order === undefined ? [] : [[channel, order] as const]
    })
  )
  const titles = sharedTitles(layers)
  const ordered = Plots.mapEncodings(timed, (encoding) =>
    Plots.mapDefinitions(encoding, (channel, definition) => {
      if (channel !== "x" && channel !== "y") return titled(channel, definition)
      const sorted = inOrder(definition, orders.get(channel))
      const title = titles.get(channel)
      const untitled = Plots.isShown(definition) && !Titles.isTitled(definition)
      return title !== undefined && untitled ? { ...sorted, title } : titled(channel, sorted)
    })
  )
  return drawn(ordered, rows)
}

/** The titles that the author gave to the axes of one layer. The others would only be added to them. */
const sharedTitles = (layers: ReadonlyArray<Plots.Layer>): ReadonlyMap<string, Json> => {
  const given = (channel: "x" | "y"): ReadonlyArray<readonly [string, Json]> =>
    layers
      .flatMap(({ encoding }) => Plots.definitionsOf(encoding, channel))
      .flatMap((definition) => {
        const title = at(definition, "title") ?? at(objectAt(definition, "axis"), "title")
        return typeof title === "string" ? [[channel, title] as const] : []
      })
  return layers.length < 2 ? new Map() : new Map([...given("x").slice(0, 1), ...given("y").slice(0, 1)])
}

/** A layer that shows no data (a line at a limit, and its name) is drawn once, not once for every row. */
const once = (plot: JsonObject, shared: JsonObject = {}): JsonObject => {
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

/** The most numbers that bars stand on as on categories. */
const mostNumbers = 150

/** The axis on which bars stand at plain numbers (hours, ratings, years): Vega-Lite would draw them as needles. */
const numberedPlace = (encoding: JsonObject, rows: Rows): "x" | "y" | undefined => {
  const [x] = Plots.definitionsOf(encoding, "x")
  const [y] = Plots.definitionsOf(encoding, "y")
  if (x === undefined || y === undefined || ["x2", "y2"].some((key) => Object.hasOwn(encoding, key))) return undefined
  if ([x, y].some((each) => textAt(each, "type") !== "quantitative" || Object.hasOwn(each, "bin"))) return undefined
  const place = Plots.lengthOf(encoding) === "y" ? "x" : "y"
  const definition = place === "x" ? x : y
  const values = new Set(valuesOf(rows, textAt(definition, "field")))
  const plain = !Object.hasOwn(definition, "aggregate") && !Object.hasOwn(definition, "scale")
  return plain && values.size > 0 && values.size <= mostNumbers ? place : undefined
}

/** Channels whose guide or tooltip has a title. */
const guided: ReadonlySet<string> = new Set(
  ["x", "y", "color", "fill", "stroke", "opacity", "size", "shape", "strokeDash", "strokeWidth", "tooltip"].concat([
    "row",
    "column",
    "facet",
    "theta",
    "radius",
    "angle",
    "fillOpacity",
    "strokeOpacity"
  ])
)

/** Units of time that come round again, by the names of what they show. */
const cycles: Readonly<Record<string, string>> = {
  month: "Month",
  quarter: "Quarter",
  week: "Week",
  day: "Weekday",
  date: "Day of the month",
  dayofyear: "Day of the year",
  hours: "Hour",
  minutes: "Minute"
}

const titled = (channel: string, definition: JsonObject): JsonObject => {
  // The names above small multiples say what they are.
  const isHeader = channel === "facet" || channel === "row" || channel === "column"
  if (isHeader && textAt(definition, "type") === "nominal" && !Titles.isTitled(definition)) {
    return { ...definition, title: null }
  }
  const cycle = cycles[unitOf(definition) ?? ""]
  if (cycle !== undefined && guided.has(channel) && !Titles.isTitled(definition)) return { ...definition, title: cycle }
  const title = guided.has(channel) && !Titles.isTitled(definition) ? Titles.titleOf(definition) : undefined
  return title === undefined ? definition : { ...definition, title }
}

/** The texts and numbers of a field, as far as it is a column. */
const valuesOf = (rows: Rows, field: string | undefined): ReadonlyArray<Json> =>
  field === undefined ? [] : rows.flatMap((row) => at(row, field.replaceAll(/\\(.)/g, "$1")) ?? [])

/** The moments of a field in milliseconds. */
const momentsOf = (rows: Rows, field: string | undefined): ReadonlyArray<number> =>
  [...new Set(valuesOf(rows, field))]
    .map((value) => (typeof value === "string" ? Date.parse(value) : Number(value)))
    .filter(Number.isFinite)

/** The grain of the moments that an encoding shows, where its time unit or its data tell. */
export const grainOf = (definition: JsonObject, rows: Rows): Instant.Grain | undefined => {
  const unit = unitOf(definition)
  if (unit === undefined) {
    const moments = momentsOf(rows, textAt(definition, "field"))
    if (moments.length === 0) return undefined
    const grain = Instant.grainOf(moments)
    return grain === "month" && moments.length > 1 && Instant.areQuarters(moments) ? "quarter" : grain
  }
  if (/seconds/.test(unit)) return "second"
  if (/hours|minutes/.test(unit)) return "minute"
  if (/date|day|week/.test(unit)) return "day"
  if (/month/.test(unit)) return "month"
  return unit.includes("quarter") ? "quarter" : "year"
}

/** The time unit of an encoding: `yearmonth`, without the zone. */
export const unitOf = (definition: JsonObject): string | undefined => {
  const unit = at(definition, "timeUnit")
  const name = isObject(unit) ? textAt(unit, "unit") : unit
  return typeof name === "string" ? name.replace(/^(binned)?(utc)?/, "") : undefined
}

const units: Readonly<Record<Instant.Grain, string>> = {
  year: "utcyear",
  quarter: "utcyearquarter",
  month: "utcyearmonth",
  day: "utcyearmonthdate",
  minute: "utcyearmonthdatehoursminutes",
  second: "utcyearmonthdatehoursminutesseconds"
}

const positions: ReadonlySet<string> = new Set(["x", "y"])

/** Time that is drawn as bars takes up the time that it stands for. */
const inGrain = (channel: string, definition: JsonObject, mark: string, rows: Rows): JsonObject => {
  if (!positions.has(channel) || textAt(definition, "type") !== "temporal" || Object.hasOwn(definition, "aggregate")) {
    return definition
  }
  const unit = unitOf(definition)
  // The months of any year, the hours of any day: they come round again, so they are categories in their order.
  if (unit !== undefined && unit !== "" && !unit.startsWith("year")) return withoutTimeScale(definition)
  if (unit !== undefined || mark !== "bar" || Object.hasOwn(definition, "bin")) return definition
  const grain = grainOf(definition, rows)
  if (grain === undefined) return definition
  const moments = momentsOf(rows, textAt(definition, "field")).toSorted((left, right) => left - right)
  // Some days of many (the ends of weeks, say) would be slivers with wide gaps.
  if (grain === "day" && isSparse(moments)) return { ...withoutTimeScale(definition), timeUnit: units.day }
  return { ...definition, timeUnit: units[grain] }
}

const isSparse = (moments: ReadonlyArray<number>): boolean => {
  const [first = 0] = moments
  const days = ((moments.at(-1) ?? first) - first) / 86_400_000 + 1
  return moments.length <= 60 && days > 2 * moments.length
}

const withoutTimeScale = (definition: JsonObject): JsonObject => {
  const scale = objectAt(definition, "scale")
  const rest = Object.fromEntries(Object.entries(scale).filter(([key]) => key !== "type"))
  return { ...definition, type: "ordinal", ...(Object.hasOwn(definition, "scale") ? { scale: rest } : {}) }
}

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
const orderOf = (
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

const inOrder = (
  definition: JsonObject,
  order: { readonly field: string; readonly sort: Json } | undefined
): JsonObject =>
  order === undefined || textAt(definition, "field") !== order.field || Object.hasOwn(definition, "sort")
    ? definition
    : { ...definition, sort: order.sort }

/** The most places on the axis of a line at which each place is marked with a point. */
const fewPlaces = 14

/** Marks drawn for the number of places that they go through, and for the company they are in. */
const drawn = (plot: JsonObject, rows: Rows, shared: JsonObject = {}): JsonObject => {
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
