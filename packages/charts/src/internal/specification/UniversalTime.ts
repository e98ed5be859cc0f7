/**
 * Specifications in which every moment is read and written in UTC, so that no day shifts with a reader's time zone.
 */
import { at, isArray, objectAt, textAt, type Json, type JsonObject } from "./Json.ts"

/** Channels without a scale, where a moment has to be written out. */
const written: ReadonlySet<string> = new Set(["text", "tooltip", "description"])
const headed: ReadonlySet<string> = new Set(["row", "column", "facet"])
const scaled: ReadonlySet<string> = new Set([
  "x",
  "y",
  "xOffset",
  "yOffset",
  "theta",
  "radius",
  "color",
  "fill",
  "stroke",
  "opacity",
  "fillOpacity",
  "strokeOpacity",
  "strokeWidth",
  "size",
  "angle"
])

const dateTimeKeys: ReadonlySet<string> = new Set([
  "year",
  "quarter",
  "month",
  "date",
  "day",
  "hours",
  "minutes",
  "seconds",
  "milliseconds"
])

/** Whether an object is a moment as Vega-Lite writes it: `{"year": 2010, "month": 1}`. */
export const isDateTime = (value: JsonObject): boolean => {
  const keys = Object.keys(value).filter((key) => key !== "utc")
  return keys.length > 0 && keys.every((key) => dateTimeKeys.has(key))
}

/** A time unit that is counted in UTC. */
export const unitInUtc = (unit: string): string => {
  if (/^(binned)?utc/.test(unit)) return unit
  return unit.startsWith("binned") ? `binnedutc${unit.slice("binned".length)}` : `utc${unit}`
}

/** A channel that shows moments, told to read them in UTC. */
export const momentInUtc = (channel: string, value: JsonObject): JsonObject => {
  if (scaled.has(channel) && at(value, "scale") !== null) {
    const scale = objectAt(value, "scale")
    const type = textAt(scale, "type")
    return type === undefined || type === "time" ? { ...value, scale: { ...scale, type: "utc" } } : value
  }
  if (Object.hasOwn(value, "timeUnit")) return value
  // `utcFormat` is Vega's own function; Vega-Lite calls it as a custom format type.
  if (written.has(channel))
    return { ...value, format: textAt(value, "format") ?? "%b %-d, %Y", formatType: "utcFormat" }
  if (headed.has(channel) && at(value, "header") !== null) {
    const header = objectAt(value, "header")
    return {
      ...value,
      header: { ...header, format: textAt(header, "format") ?? "%b %-d, %Y", formatType: "utcFormat" }
    }
  }
  return value
}

const isoDay = /^(\d{4})-(\d{2})(?:-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2}))?(?:\.\d+)?Z?)?)?$/

/** Days written as text, in the form in which Vega-Lite compares them with moments. */
export const moments = (value: Json): Json => {
  if (isArray(value)) return value.map(moments)
  const parts = typeof value === "string" ? isoDay.exec(value) : null
  if (parts === null) return value
  const [, year, month, date = "1", hours, minutes, seconds = "0"] = parts
  return {
    year: Number(year),
    month: Number(month),
    date: Number(date),
    ...(hours === undefined ? {} : { hours: Number(hours), minutes: Number(minutes), seconds: Number(seconds) })
  }
}
