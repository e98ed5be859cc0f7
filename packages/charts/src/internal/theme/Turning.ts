/**
 * Columns whose names are too long to stand below them, turned into rows, where names of any length can be read.
 */
import { at, isObject, objectAt, textAt, without, type Json, type JsonObject } from "../specification/Json.ts"
import * as Categories from "./Categories.ts"
import * as Plots from "./Plots.ts"
import type { Survey } from "./Survey.ts"

/** More columns than this with names wider than that (in pixels) are better read as rows. */
const columns = { most: 12, widestName: 84 } as const

/** What stands for what when a chart is turned. */
const turns: Readonly<Record<string, string>> = {
  x: "y",
  y: "x",
  x2: "y2",
  y2: "x2",
  xOffset: "yOffset",
  yOffset: "xOffset"
}

/** The channels that a turned chart may have besides. */
const others: ReadonlySet<string> = new Set(["color", "fill", "opacity", "tooltip", "order", "detail"])

/** A chart turned by a right angle, or `undefined` when it reads well as it is. */
export const turned = (plot: JsonObject, survey: Survey): JsonObject | undefined => {
  const encoding = objectAt(plot, "encoding")
  const [x] = Plots.definitionsOf(encoding, "x")
  if (Plots.markOf(plot) !== "bar" || x === undefined || Object.hasOwn(x, "timeUnit")) return undefined
  if (["width", "height"].some((key) => Object.hasOwn(plot, key)) || Plots.lengthOf(encoding) !== "y") return undefined
  if (!Object.keys(encoding).every((channel) => others.has(channel) || Object.hasOwn(turns, channel))) return undefined
  const extent = survey.extent("x", [])
  if (extent?.kind !== "discrete" || !extent.values.some((value) => typeof value === "string")) return undefined
  if (extent.values.length <= columns.most || Categories.widestOf(extent.values) <= columns.widestName) return undefined
  const mark = at(plot, "mark")
  return {
    ...plot,
    ...(isObject(mark) ? { mark: without(mark, "orient") } : {}),
    encoding: Object.fromEntries(
      Object.entries(encoding).map(([channel, definition]): [string, Json] => [
        turns[channel] ?? channel,
        isObject(definition) ? turnedDefinition(definition) : definition
      ])
    )
  }
}

const turnedDefinition = (definition: JsonObject): JsonObject => {
  const sort = textAt(definition, "sort")
  const axis = at(definition, "axis")
  return {
    ...definition,
    ...(sort === undefined
      ? {}
      : { sort: sort.replace(/^(-?)([xy])$/, (_, sign, channel) => `${sign}${turns[channel]}`) }),
    // How its labels stood and where it was no longer fits.
    ...(isObject(axis)
      ? { axis: without(axis, "labelAngle", "labelAlign", "labelBaseline", "labelLimit", "orient") }
      : {})
  }
}
