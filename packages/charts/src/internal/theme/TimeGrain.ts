/**
 * Time in the grain of its data: what a time unit means, which one bars of time need, and which units are categories.
 */
import * as Instant from "../data/Instant.ts"
import { at, isObject, objectAt, textAt, type JsonObject } from "../specification/Json.ts"
import { momentsOf, type Rows } from "./Rows.ts"

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
export const inGrain = (channel: string, definition: JsonObject, mark: string, rows: Rows): JsonObject => {
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
