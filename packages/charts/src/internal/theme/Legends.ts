/**
 * Legends: a line of names above the plot where they fit, beside it where they do not.
 */
import { at, objectAt, textAt, type JsonObject } from "../specification/Json.ts"
import * as Categories from "./Categories.ts"
import * as Fonts from "./Fonts.ts"
import * as Formats from "./Formats.ts"
import * as Palette from "./Palette.ts"
import * as Plots from "./Plots.ts"
import type { Facts, Room } from "./Room.ts"
import * as Theme from "./Theme.ts"

/** The channels that are explained by a legend. */
export const channels: ReadonlySet<string> = new Set([
  "color",
  "fill",
  "stroke",
  "opacity",
  "size",
  "shape",
  "strokeDash",
  "strokeWidth"
])

/** Where the legend stands and how much width it takes from the plot. */
export interface Legend {
  readonly properties: JsonObject
  readonly width: number
}

/** Decides where the legend of a plot stands. */
export const of = (
  layers: ReadonlyArray<Plots.Layer>,
  room: Room,
  views: ReadonlyArray<string>,
  { survey }: Facts
): Legend => {
  const shown = [...channels].flatMap((channel) => {
    const first = Plots.firstOf(layers, channel)
    if (first === undefined || at(first.definition, "legend") === null) return []
    return repeatsAxis(first.definition, first.layer) ? [] : [{ channel, ...first }]
  })
  if (shown.length === 0) return { properties: {}, width: 0 }
  const extents = shown.map(({ channel }) => survey.extent(channel, views))
  const discrete = extents.every((extent) => extent?.kind === "discrete")
  const labels = extents.flatMap((extent) => (extent?.kind === "discrete" ? extent.values.map(String) : []))
  const widths = labels.map((label) => Math.min(220, Fonts.width(label, Theme.size.legend)))
  const inARow = widths.reduce((sum, width) => sum + width + 32, 0)
  const same = new Set(shown.map(({ definition }) => textAt(definition, "field"))).size === 1
  const round = layers.some(({ encoding }) => Object.hasOwn(encoding, "theta"))
  if (discrete && same && !round && labels.length <= 8 && inARow <= room.width - 60) {
    const texts = extents.every(
      (extent) => extent?.kind === "discrete" && extent.values.every((value) => typeof value === "string")
    )
    // Names speak for themselves; numbers need to be told what they count.
    return {
      properties: {
        orient: "top",
        direction: "horizontal",
        offset: room.small ? 18 : 36,
        ...strokes(layers),
        ...(texts ? { title: null } : { titleOrient: "left" })
      },
      width: 0
    }
  }
  return {
    properties: { orient: "right", ...strokes(layers) },
    width: Math.max(90, ...widths.map((width) => width + 30))
  }
}

/** Whether a legend would say again what stands along an axis: each bar in a colour of its own, say. */
export const repeatsAxis = (definition: JsonObject, { encoding }: Plots.Layer): boolean =>
  ["x", "y"].some((channel) =>
    Plots.definitionsOf(encoding, channel).some(
      (position) =>
        textAt(position, "field") !== undefined &&
        textAt(position, "field") === textAt(definition, "field") &&
        (textAt(position, "type") === "nominal" || textAt(position, "type") === "ordinal")
    )
  )

/** Lines are explained by lines. */
const strokes = (layers: ReadonlyArray<Plots.Layer>): JsonObject =>
  layers.every(({ mark }) => mark === "line" || mark === "rule" || mark === "trail")
    ? { symbolType: "stroke", symbolStrokeWidth: 3, symbolSize: 160 }
    : {}

/** The definition of a channel with its legend set. */
export const set = (
  channel: string,
  definition: JsonObject,
  views: ReadonlyArray<string>,
  { survey }: Facts,
  placed: JsonObject
): JsonObject => {
  if (at(definition, "legend") === null) return definition
  const own = objectAt(definition, "legend")
  const extent = survey.extent(channel, views)
  const formatted =
    extent?.kind === "quantitative" && !Formats.isFormatted(own)
      ? Formats.numbers(extent, textAt(definition, "field")).properties
      : extent?.kind === "temporal" && !Formats.isFormatted(own)
        ? { format: "%b %-d, %Y" }
        : extent?.kind === "discrete" && !Formats.isFormatted(own)
          ? Categories.written(definition, extent.values)
          : {}
  const titled = Object.hasOwn(own, "title") ? { title: at(own, "title") ?? null } : {}
  const place =
    at(placed, "title") === null && textAt(definition, "title") !== undefined ? { ...placed, title: null } : placed
  // Size and opacity have no colour of their own; Vega would draw them black.
  const plain = channel === "size" || channel === "opacity" ? { symbolFillColor: Palette.ink.label } : {}
  const colored = extent?.kind === "quantitative" && channel !== "size"
  // A ramp of colours begins and ends at round numbers, as an axis does.
  const ramp = colored && at(definition, "scale") === undefined ? { scale: { nice: 4 } } : {}
  return {
    ...definition,
    ...ramp,
    legend: { ...(colored ? { tickCount: 4 } : {}), ...place, ...plain, ...formatted, ...own, ...titled }
  }
}
