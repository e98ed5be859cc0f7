/**
 * How large a plot is: as wide as the page leaves it, as high as its categories need.
 */
import { at, type JsonObject } from "../specification/Json.ts"
import * as Fonts from "./Fonts.ts"
import type * as Plots from "./Plots.ts"
import type { Facts, Room } from "./Room.ts"
import type { Extent } from "./Survey.ts"
import * as Theme from "./Theme.ts"
import * as TimeBars from "./TimeBars.ts"

/** The size of a plot: what Vega-Lite is told, and what it will be in pixels. */
export interface Size {
  readonly properties: JsonObject
  readonly width: number
  readonly height: number
}

/** Chooses the size of a plot in its room, beside a legend of some width. */
export const of = (
  plot: JsonObject,
  layers: ReadonlyArray<Plots.Layer>,
  room: Room,
  views: ReadonlyArray<string>,
  { survey }: Facts,
  legendWidth: number
): Size => {
  if (layers.some(({ encoding }) => Object.hasOwn(encoding, "theta") || Object.hasOwn(encoding, "radius"))) {
    const side = Math.min(room.height - 40, room.width, 300)
    return given(plot, side, side)
  }
  const x = survey.extent("x", views)
  const y = survey.extent("y", views)
  const beside = (room.faceted ? 0 : labelWidth(y)) + (legendWidth === 0 ? 0 : legendWidth + 24)
  const width = Math.round(Math.max(room.small ? 120 : 280, room.width - beside))
  const height = y?.kind === "discrete" ? rowsHeight(y.values.length, survey.extent("yOffset", views)) : room.height
  const columns = columnsIn(x, layers)
  return given(plot, columns === undefined ? width : columnsWidth(columns, width, room.small), height)
}

const columnsIn = (x: Extent | undefined, layers: ReadonlyArray<Plots.Layer>): number | undefined => {
  if (x?.kind === "discrete") return x.values.length
  return x?.kind === "temporal" && TimeBars.hasBars(layers) ? TimeBars.barsOf(layers, x) : undefined
}

/** Sizes that the author gave as numbers or steps stand; `container` has no meaning on paper. */
const given = (plot: JsonObject, chosenWidth: number, chosenHeight: number): Size => {
  const width = at(plot, "width")
  const height = at(plot, "height")
  return {
    properties: {
      width: width === undefined || width === "container" ? chosenWidth : width,
      height: height === undefined || height === "container" ? chosenHeight : height
    },
    width: typeof width === "number" ? width : chosenWidth,
    height: typeof height === "number" ? height : chosenHeight
  }
}

/** The width of the labels on the left, as far as it matters. */
const labelWidth = (extent: Extent | undefined): number => {
  if (extent?.kind !== "discrete") return extent === undefined ? 0 : 44
  const widest = Math.max(0, ...extent.values.map((value) => Fonts.width(String(value), Theme.size.label)))
  return Math.min(widest, Theme.longestLabel) + 10
}

/** The height of a plot whose categories stand below one another. */
const rowsHeight = (count: number, parts: Extent | undefined): number => {
  const inside = parts?.kind === "discrete" ? parts.values.length : 1
  const step =
    inside > 1 ? 12 + 13 * inside : count <= 3 ? 46 : count <= 8 ? 36 : count <= 16 ? 28 : count <= 60 ? 22 : 17
  return Math.max(60, count * step)
}

/** The width of a plot whose categories stand beside one another: a few do not fill the page, many get a little more. */
const columnsWidth = (count: number, width: number, small: boolean): number => {
  if (small) return width
  if (count * 4 > width) return Math.min(1400, count * 4)
  return Math.round(Math.min(width, Math.max(220, count * 120)))
}
