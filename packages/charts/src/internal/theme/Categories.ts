/**
 * The labels of categories: level where they fit, slanted where they do not, thinned out only where nothing is lost.
 */
import type { Json, JsonObject } from "../specification/Json.ts"
import * as Fonts from "./Fonts.ts"
import * as Formats from "./Formats.ts"
import * as Theme from "./Theme.ts"
import { grainOf, unitOf } from "./TimeGrain.ts"

/** The properties of a horizontal axis that set the labels of its categories in the room that there is. */
export const across = (definition: JsonObject, values: ReadonlyArray<Json>, room: number): JsonObject => {
  const step = room / Math.max(1, values.length)
  const timed = unitOf(definition)
  const widest = timed === undefined ? widestOf(values) : timed.startsWith("year") ? 42 : 28
  if (widest <= step - 8) return { labelAngle: 0, labelLimit: Math.max(20, Math.floor(step)) }
  // Numbers and times may leave labels out: what is between two of them is clear.
  if (timed !== undefined || values.every((value) => typeof value === "number")) {
    return { labelAngle: 0, labelOverlap: true, ...roundNumbers(values, widest + 10, step) }
  }
  return { labelAngle: -40, labelLimit: 150, labelOverlap: step < 13 ? "parity" : false }
}

/** The properties of an axis or a legend that write categories, unless their names already say it all. */
export const written = (definition: JsonObject, values: ReadonlyArray<Json>): JsonObject => {
  const unit = unitOf(definition)
  const grain = unit?.startsWith("year") === true ? grainOf(definition, []) : undefined
  if (grain !== undefined) return Formats.labels[grain]
  return values.some((value) => value === null || value === "") && unit === undefined
    ? { labelExpr: "isValid(datum.value) && datum.value !== '' ? datum.label : '(blank)'" }
    : {}
}

/** The numbers that are labelled where there is no room for all: every second, fifth, tenth, … */
const roundNumbers = (values: ReadonlyArray<Json>, width: number, step: number): JsonObject => {
  if (!values.every((value) => Number.isSafeInteger(value))) return {}
  const every = [2, 5, 10, 20, 25, 50, 100, 200, 500, 1000].find((candidate) => candidate * step >= width)
  const shown = values.filter((value) => Number(value) % (every ?? 1000) === 0)
  return shown.length < 2 ? {} : { values: shown }
}

/** The width of the widest of some labels. */
export const widestOf = (values: ReadonlyArray<Json>): number =>
  Math.max(0, ...values.map((value) => Fonts.width(String(value), Theme.size.label)))
