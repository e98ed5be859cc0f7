/**
 * The axes of a plot: where they begin and end, what stands at their ticks, and where their titles are.
 */
import { at, isObject, merge, objectAt, textAt, type JsonObject } from "../specification/Json.ts"
import * as Categories from "./Categories.ts"
import * as Fonts from "./Fonts.ts"
import * as Formats from "./Formats.ts"
import * as Palette from "./Palette.ts"
import * as Plots from "./Plots.ts"
import type { Facts } from "./Room.ts"
import type { Size } from "./Sizes.ts"
import type { Extent, Quantitative } from "./Survey.ts"
import * as Theme from "./Theme.ts"
import * as TimeBars from "./TimeBars.ts"
import { grainOf } from "./TimeGrain.ts"

/** What an axis is set by. */
export interface Known {
  readonly facts: Facts
  readonly size: Size
  readonly layers: ReadonlyArray<Plots.Layer>
  readonly views: ReadonlyArray<string>
  readonly small: boolean
  /** Whether the layers have vertical axes of their own. */
  readonly resolved: boolean
}

/** The definition of a position with its scale and its axis set. */
export const set = (channel: "x" | "y", definition: JsonObject, where: Plots.Where, known: Known): JsonObject => {
  const extent = known.facts.survey.extent(channel, where.views)
  const scaled =
    extent?.kind === "quantitative" ? { ...definition, ...scaleFor(definition, extent, known, channel) } : definition
  if (at(definition, "axis") === null) return scaled
  const own = objectAt(definition, "axis")
  const decided = axisFor(channel, definition, extent, own, known)
  const heading = channel === "y" && !known.small ? headingOf(extent, definition, own, known) : {}
  return { ...scaled, axis: merge({ ...decided, ...heading }, own) }
}

/** How many ticks an axis of numbers has. */
const tickCount = (channel: "x" | "y", size: Size): number =>
  channel === "x" ? clamp(size.width / 90, 2, 7) : clamp(size.height / 56, 2, 6)

const clamp = (value: number, least: number, most: number): number => Math.max(least, Math.min(most, Math.floor(value)))

/** Whether the marks of a plot say something by how far they reach along an axis. Then it begins at zero. */
const isLength = (channel: "x" | "y", layers: ReadonlyArray<Plots.Layer>): boolean =>
  layers.some(({ encoding, mark }) => (mark === "bar" || mark === "area") && Plots.lengthOf(encoding) === channel)

/** Whether an axis of numbers begins at zero: always for lengths, else where that wastes less than half of it. */
const includesZero = (channel: "x" | "y", { high, low }: Formats.Range, layers: ReadonlyArray<Plots.Layer>): boolean =>
  isLength(channel, layers) ||
  low * high <= 0 ||
  low === high ||
  Math.min(Math.abs(low), Math.abs(high)) < Math.max(Math.abs(low), Math.abs(high)) / 2

/** What a quantitative axis will cover. */
const covered = (
  channel: "x" | "y",
  extent: Quantitative,
  definition: JsonObject,
  { layers }: Known
): Formats.Range => {
  const zero = at(objectAt(definition, "scale"), "zero")
  const whole = typeof zero === "boolean" ? zero : !isBinned(definition) && includesZero(channel, extent, layers)
  return extent.logarithmic || !whole
    ? extent
    : { ...extent, low: Math.min(0, extent.low), high: Math.max(0, extent.high) }
}

const isBinned = (definition: JsonObject): boolean => Object.hasOwn(definition, "bin")

const scaleFor = (definition: JsonObject, extent: Quantitative, known: Known, channel: "x" | "y"): JsonObject => {
  const own = at(definition, "scale")
  if (own === null || isBinned(definition) || isNormalized(definition)) return {}
  const scale = isObject(own) ? own : {}
  if (Object.hasOwn(scale, "domain")) return {}
  // Vega rounds a logarithmic scale to whole powers of ten, which can leave most of it empty.
  if (extent.logarithmic) return { scale: { nice: false, ...scale } }
  // Rounded to its ticks a vertical axis ends with one; across, that would waste the width.
  const nice = channel === "y" ? Math.max(4, tickCount(channel, known.size)) : true
  const zero = includesZero(channel, extent, known.layers)
  // A bar that does not begin at zero says something that is not so.
  return { scale: { zero, nice, ...scale, ...(isLength(channel, known.layers) ? { zero: true } : {}) } }
}

/** The title of a vertical axis stands above it, where it is read without turning the head. */
const headingOf = (extent: Extent | undefined, definition: JsonObject, own: JsonObject, known: Known): JsonObject => {
  const right = textAt(own, "orient") === "right" || isSecond(definition, known)
  const labels = labelsWidth("y", extent, definition, known)
  const aside = labels === 0 ? 0 : labels + 8
  return {
    titleAngle: 0,
    titleAnchor: "end",
    titleBaseline: "bottom",
    titleAlign: right ? "right" : "left",
    titleX: right ? aside : -aside,
    titleY: -12
  }
}

/** Whether an axis is the second of two that do not share a scale: Vega-Lite puts it on the right. */
const isSecond = (definition: JsonObject, { layers, resolved }: Known): boolean => {
  if (!resolved) return false
  const shown = layers.flatMap(({ encoding }) => Plots.definitionsOf(encoding, "y").filter(Plots.isShown))
  return shown.findIndex((each) => textAt(each, "title") === textAt(definition, "title")) > 0
}

const labelsWidth = (channel: "x" | "y", extent: Extent | undefined, definition: JsonObject, known: Known): number => {
  const measured = (text: string): number => Fonts.width(text, Theme.size.label)
  switch (extent?.kind) {
    case "quantitative": {
      if (isNormalized(definition)) return measured("100%")
      const range = covered(channel, extent, definition, known)
      const { text } = Formats.numbers(range, textAt(definition, "field"))
      return Math.max(measured(text(range.low)), measured(text(range.high)))
    }
    case "discrete":
      return Math.min(Theme.longestLabel, Categories.widestOf(extent.values))
    case "temporal":
      return measured("Sep 30")
    case undefined:
      return 0
  }
}

const axisFor = (
  channel: "x" | "y",
  definition: JsonObject,
  extent: Extent | undefined,
  own: JsonObject,
  known: Known
): JsonObject => {
  const room = channel === "x" ? known.size.width : known.size.height
  switch (extent?.kind) {
    case "quantitative": {
      const range = covered(channel, extent, definition, known)
      const format = Formats.numbers(range, textAt(definition, "field"))
      const crosses = range.low < 0 && range.high > 0 && !isBinned(definition)
      const values = extent.logarithmic ? Formats.powers(extent.low, extent.high) : []
      return {
        ...(Formats.isFormatted(own) || isNormalized(definition) ? {} : format.properties),
        ...(known.small && channel === "x" ? { labelFlush: true } : {}),
        ...(isBinned(definition) ? { grid: false } : { tickCount: tickCount(channel, known.size) }),
        ...(values.length > 1 ? { values } : {}),
        ...(crosses ? zeroLine : {})
      }
    }
    case "temporal": {
      if (Formats.isFormatted(own) || Object.hasOwn(own, "values")) return {}
      const format = Formats.moments(extent, room, grainOf(definition, known.facts.rows))
      const values = format.isNatural === true ? {} : { values: format.ticks.map(TimeBars.dateTime) }
      if (!TimeBars.hasBars(known.layers)) {
        return { ...format.properties, ...values, ...(known.small ? { labelFlush: true } : {}) }
      }
      // A scale of bars ends where the last one does. A tick there would name a time that is not shown.
      const shown = format.ticks.filter((tick) => tick < extent.high)
      return {
        ...format.properties,
        values: shown.map(TimeBars.dateTime),
        ticks: false,
        labelOffset: TimeBars.halfABar(definition, extent, room)
      }
    }
    case "discrete":
      return {
        ...(channel === "x" ? Categories.across(definition, extent.values, room) : { labelLimit: Theme.longestLabel }),
        ...(channel === "x" && crossesZero(known) ? { domain: false } : {}),
        ...(Formats.isFormatted(own) ? {} : Categories.written(definition, extent.values))
      }
    case undefined:
      return {}
  }
}

const isNormalized = (definition: JsonObject): boolean => at(definition, "stack") === "normalize"

/** Where values go below zero, zero is the line to look for. */
const zeroLine: JsonObject = {
  gridColor: { condition: { test: "datum.value === 0", value: Palette.ink.axis }, value: Palette.ink.grid }
}

/** Whether the values beside the categories lie on both sides of zero: then zero is the base line, not the edge. */
const crossesZero = ({ facts, views }: Known): boolean => {
  const values = facts.survey.extent("y", views)
  return values?.kind === "quantitative" && values.low < 0 && values.high > 0
}
