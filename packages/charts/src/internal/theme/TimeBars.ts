/**
 * Bars of time: how long they are, how many fit, and where their labels stand.
 */
import * as DateTime from "effect/DateTime"
import type { JsonObject } from "../specification/Json.ts"
import * as Plots from "./Plots.ts"
import type { Temporal } from "./Survey.ts"
import { grainOf, unitOf } from "./TimeGrain.ts"

const days: Readonly<Record<string, number>> = {
  year: 365.25,
  quarter: 91.31,
  month: 30.44,
  day: 1,
  minute: 1 / 1440,
  second: 1 / 86_400
}

/** A moment in the form that Vega-Lite reads without a time zone. */
export const dateTime = (moment: number): JsonObject => {
  const parts = DateTime.toPartsUtc(DateTime.makeUnsafe(moment))
  const { day: date, hour: hours, minute: minutes, month, second: seconds, year } = parts
  return { year, month, date, ...(hours + minutes + seconds === 0 ? {} : { hours, minutes, seconds }), utc: true }
}

/** How long the time unit of a bar is, in milliseconds. */
const lengthOf = (definition: JsonObject): number | undefined => {
  const unit = unitOf(definition)
  if (unit === undefined) return undefined
  const count = unit.includes("week") ? 7 : (days[grainOf(definition, []) ?? "day"] ?? 1)
  return count * 86_400_000
}

/** How many bars of time stand beside one another. */
export const barsOf = (layers: ReadonlyArray<Plots.Layer>, extent: Temporal): number | undefined => {
  const length = lengthOf(Plots.firstOf(layers, "x")?.definition ?? {})
  return length === undefined ? undefined : Math.max(1, Math.round((extent.high - extent.low) / length))
}

/** Bars of time begin at their label; half of one further the label stands below the middle. */
export const halfABar = (definition: JsonObject, extent: Temporal, room: number): number => {
  const length = lengthOf(definition)
  const span = extent.high - extent.low
  return length === undefined || span <= 0 ? 0 : Math.round(((length / span) * room) / 2)
}

/** Whether a plot draws the time between two moments, not a moment. */
export const hasBars = (layers: ReadonlyArray<Plots.Layer>): boolean =>
  layers.some(({ mark }) => mark === "bar" || mark === "rect")
