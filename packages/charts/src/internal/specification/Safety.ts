/**
 * What a specification may not do, whatever the schema of Vega-Lite says: reach outside, be interactive, or ask for
 * something whose size has no bound.
 */
import { at, isArray, isObject, numberAt, shown, type Json, type JsonObject, type Place, type Problem } from "./Json.ts"
import { isInherited } from "./Scope.ts"

/** The largest picture, in logical pixels. The bitmap has twice as many each way. */
export const largest = { width: 2000, height: 3000 } as const

/** Upper bounds of numbers, by the key they stand under. Beyond them a chart is not legible, only expensive. */
const bounds: Readonly<Record<string, number>> = {
  width: largest.width,
  height: largest.height,
  maxbins: 500,
  tickCount: 100,
  columns: 50,
  steps: 2000,
  minsteps: 2000,
  maxsteps: 2000,
  order: 10,
  sample: 100_000,
  fontSize: 100,
  labelFontSize: 100,
  titleFontSize: 100,
  subtitleFontSize: 100,
  size: 100_000,
  strokeWidth: 200,
  thickness: 500,
  padding: 500,
  labelPadding: 500,
  titlePadding: 500,
  offset: 1000,
  spacing: 500,
  outerRadius: 2000,
  innerRadius: 2000,
  symbolLimit: 200,
  titleLimit: 5000,
  labelLimit: 5000,
  limit: 5000
}

/** Keys that always reach outside the chart. */
const forbidden: Readonly<Record<string, string>> = {
  url: "a chart may not load anything: it draws the result of the query only",
  href: "a chart may not hold links",
  datasets: "the data is the result of the query: leave `datasets` out",
  usermeta: "leave `usermeta` out",
  bind: "a chart is a still picture: leave `bind` out",
  lookup: "there is only one table: join in the query instead of with `lookup`",
  time: "a chart is a still picture: leave the `time` channel out"
}

const forbiddenMarks: Readonly<Record<string, string>> = {
  image: "image marks are not available: a chart may not load anything",
  geoshape: "maps are not available: there are no shapes to draw"
}

/** Interaction inside a parameter; the events of a page may carry expressions. */
const interaction: ReadonlySet<string> = new Set(["on", "clear", "toggle", "translate", "zoom", "mark", "nearest"])

/** Keys whose text is shown and never interpreted. */
const prose: ReadonlySet<string> = new Set(["title", "subtitle", "text", "description", "name", "as"])

const outward = /url\s*\(|^\s*(?:javascript|vbscript):|^data:\w+\//i

/** The most values that a stated sequence may make. */
const longestSequence = 5000

const isLongSequence = (value: Json): boolean => {
  const stop = numberAt(value, "stop")
  if (stop === undefined) return false
  const step = numberAt(value, "step") ?? 1
  const count = (stop - (numberAt(value, "start") ?? 0)) / step
  return !(count <= longestSequence)
}

const problemWith = (key: string, value: Json, parent: JsonObject, place: Place): string | undefined => {
  const refusal = Object.hasOwn(forbidden, key) ? forbidden[key] : undefined
  if (refusal !== undefined && !(key === "bind" && (value === "scales" || value === "legend"))) return refusal
  if (key === "data") return problemWithData(value)
  if (key === "mark" || key === "type") {
    const mark = typeof value === "string" && Object.hasOwn(forbiddenMarks, value) ? forbiddenMarks[value] : undefined
    if (mark !== undefined) return mark
  }
  if (place.includes("select") && interaction.has(key)) return `a chart is a still picture: leave ${shown(key)} out`
  if (typeof value === "number") return problemWithNumber(key, value, parent, place)
  if (typeof value === "string" && !prose.has(key) && outward.test(value)) {
    return "a chart may not refer to anything outside itself"
  }
  if (key === "as" && [value].flat().some((name) => typeof name === "string" && isInherited(name))) {
    return "this name is taken: choose another one"
  }
  if (key === "keyvals" && isLongSequence(value)) return `makes more than ${longestSequence} values`
  return undefined
}

const problemWithData = (value: Json): string | undefined => {
  if (value === null || (isObject(value) && Object.keys(value).every((key) => key === "name"))) return undefined
  if (at(value, "url") !== undefined) return "a chart may not load data: it draws the result of the query only"
  if (at(value, "values") !== undefined) {
    return "the data is the result of the query: leave `data` out (for one fixed value use `datum` in the encoding)"
  }
  return "the data is the result of the query: leave `data` out"
}

const problemWithNumber = (key: string, value: number, parent: JsonObject, place: Place): string | undefined => {
  const most = Object.hasOwn(bounds, key) ? bounds[key] : undefined
  if (most !== undefined && Math.abs(value) > most) return `must be at most ${most}, but is ${value}`
  // A quantile for every step from 0 to 1.
  if (key === "step" && Object.hasOwn(parent, "quantile") && value < 0.001) return "must be at least 0.001"
  if (key === "step" && value <= 0) return "must be more than 0"
  const above = place.at(-1)
  if (key === "step" && (above === "width" || above === "height") && value > 500) return "must be at most 500"
  return undefined
}

/** Looks for what a specification may not do. */
export const check = (specification: JsonObject): Problem | undefined => checkIn(specification, [])

const checkIn = (value: Json, place: Place): Problem | undefined => {
  if (isArray(value)) {
    for (const [index, item] of value.entries()) {
      const problem = checkIn(item, [...place, index])
      if (problem !== undefined) return problem
    }
  }
  if (!isObject(value)) return undefined
  for (const [key, inner] of Object.entries(value)) {
    const message = problemWith(key, inner, value, place)
    if (message !== undefined) return { place: [...place, key], message }
    const problem = key === "data" ? undefined : checkIn(inner, [...place, key])
    if (problem !== undefined) return problem
  }
  return undefined
}
