/**
 * What a chart needs before it is laid out: titles in words, bars in an order that says something, time in the grain
 * of the data, points where a line alone would not be seen.
 *
 * All of it only fills in what the author of the specification left open.
 */
import { at, objectAt, textAt, type Json, type JsonObject } from "../specification/Json.ts"
import { drawn, once } from "./Marks.ts"
import { inOrder, orderOf } from "./Orders.ts"
import * as Pies from "./Pies.ts"
import * as Plots from "./Plots.ts"
import { valuesOf, type Rows } from "./Rows.ts"
import { inGrain, unitOf } from "./TimeGrain.ts"
import * as Titles from "./Titles.ts"

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
