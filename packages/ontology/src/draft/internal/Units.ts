/**
 * Units that a column's name tells for sure: `weight_kg`, `Body Mass (g)`, `Running Time min`. A name that might mean
 * something else (`_m`, `price`, `min` for the least) tells none.
 */
import { words } from "../../internal/Label.ts"

/** Words that are a unit wherever they end a name, with what a person writes for them. */
const sure = new Map<string, string>([
  ..."usd eur gbp jpy chf cad aud".split(" ").map((code) => [code, code.toUpperCase()] as const),
  ["dollars", "USD"],
  ["euros", "EUR"],
  ["seconds", "seconds"],
  ["secs", "seconds"],
  ["sec", "seconds"],
  ["milliseconds", "ms"],
  ["ms", "ms"],
  ["minutes", "minutes"],
  ["mins", "minutes"],
  ["hours", "hours"],
  ["hrs", "hours"],
  ["days", "days"],
  ["kg", "kg"],
  ["kilograms", "kg"],
  ["grams", "g"],
  ["lb", "lb"],
  ["lbs", "lb"],
  ["pounds", "lb"],
  ["tons", "tons"],
  ["tonnes", "t"],
  ["km", "km"],
  ["kilometers", "km"],
  ["kilometres", "km"],
  ["miles", "miles"],
  ["meters", "m"],
  ["metres", "m"],
  ["cm", "cm"],
  ["mm", "mm"],
  ["feet", "ft"],
  ["ft", "ft"],
  ["inches", "in"],
  ["kmh", "km/h"],
  ["kph", "km/h"],
  ["mph", "mph"],
  ["knots", "knots"],
  ["celsius", "°C"],
  ["fahrenheit", "°F"],
  ["kwh", "kWh"],
  ["mwh", "MWh"],
  ["ppm", "ppm"],
  ["bytes", "bytes"],
  ["liters", "l"],
  ["litres", "l"],
  ["gallons", "gallons"]
])

/** Units that are sure only in parentheses, where nothing else is written. */
const inParentheses = new Map([
  ...["g", "m", "l", "s", "h", "t", "W", "V", "A", "°C", "°F", "K", "Hz", "%", "km/h", "m/s", "€", "£", "$"].map(
    (unit) => [unit.toLowerCase(), unit] as const
  ),
  ["min", "minutes"] as const,
  ["in", "in"] as const
])

/** A unit, and the words of the name without it. */
export interface Unit {
  readonly unit: string
  readonly rest: ReadonlyArray<string>
}

/** The unit that a name tells, if it does. A name that is nothing but a unit keeps its words. */
export const unitOf = (name: string): Unit | undefined => {
  const parenthesis = /^(.*?)\s*[([]\s*([^()[\]]+?)\s*[)\]]\s*$/.exec(name)
  const [, before = "", inside = ""] = parenthesis ?? []
  const enclosed = inParentheses.get(inside.toLowerCase()) ?? sure.get(inside.toLowerCase())
  if (enclosed !== undefined) return { unit: enclosed, rest: nonEmpty(words(before), name) }
  if (/\$\s*$/.test(name)) return { unit: "$", rest: nonEmpty(words(name), name) }
  const all = words(name)
  const [last = "", previous = ""] = all.toReversed().map((word) => word.toLowerCase())
  const unit = last === "min" && /^(?:time|duration|runtime|length)$/.test(previous) ? "minutes" : sure.get(last)
  if (unit === undefined) return undefined
  // `weight_in_lbs` is a weight; `days` is nothing without its word.
  const rest = all.slice(0, previous === "in" ? -2 : -1)
  return { unit, rest: nonEmpty(rest, name) }
}

const nonEmpty = (rest: ReadonlyArray<string>, name: string): ReadonlyArray<string> =>
  rest.length === 0 ? words(name) : rest
