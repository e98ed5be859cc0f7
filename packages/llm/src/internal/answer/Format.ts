/**
 * Numbers, moments and names as people read them. Nothing is rounded below the precision that a comparison needs:
 * counts and money stay whole, averages keep what tells them apart.
 */
import type { Column as ResultColumn, Value } from "@castellan/core/connector/ResultTable"
import { monthNames, stretchInWords, type Grain } from "../language/Calendar.ts"
import { unitNamed } from "../language/Units.ts"
import type { Group } from "../plan/Plan.ts"
import { numeric } from "../plan/Statement.ts"

const currency: Readonly<Record<string, string>> = { USD: "$", EUR: "€", GBP: "£" }

/** Decimal places for a number: whole from a thousand on, three telling digits for small ones. */
const places = (value: number): number => {
  const size = Math.abs(value)
  if (Number.isInteger(value) || size >= 1000) return 0
  if (size >= 100) return 1
  if (size >= 1) return 2
  return size === 0 ? 0 : Math.min(12, 2 - Math.floor(Math.log10(size)))
}

/** A number with thousands separators and no more digits than tell something. */
export const plainNumber = (value: number): string => {
  const text = value.toLocaleString("en-US", { minimumFractionDigits: 0, maximumFractionDigits: places(value) })
  return text === "-0" ? "0" : text.replace("-", "−")
}

/** The sign of a currency, the words of any other unit. */
export const withUnit = (value: number, unit: string | undefined): string => {
  const known = unit === undefined ? undefined : (unitNamed(unit)?.name ?? unit)
  const sign = known === undefined ? undefined : currency[known]
  if (sign !== undefined) {
    const cents = Math.abs(value) < 1000 && !Number.isInteger(value)
    const digits = cents ? 2 : places(value)
    const text = Math.abs(value).toLocaleString("en-US", {
      minimumFractionDigits: cents ? 2 : 0,
      maximumFractionDigits: digits
    })
    return `${value < 0 ? "−" : ""}${sign}${text}`
  }
  if (known === "%")
    return `${plainNumber(Math.abs(value) >= 100 || Number.isInteger(value) ? value : Number(value.toPrecision(Math.abs(value) >= 10 ? 3 : 2)))} %`
  return unit === undefined ? plainNumber(value) : `${plainNumber(value)} ${spelledUnit(unit, value)}`
}

/** `1 minute`, `2 minutes`; symbols stay. */
const spelledUnit = (unit: string, value: number): string =>
  value === 1 && /^[a-z]{4,}s$/.test(unit) ? unit.slice(0, -1) : unit

/** A moment as its grain tells it. */
export const moment = (value: string, grain: Grain): string =>
  stretchInWords(value.slice(0, 10) + value.slice(10, 16), grain)

/** A group's value in words. */
export const groupValue = (value: Value, group: Group): string => {
  if (value === null) return "(none)"
  if (group._tag === "Grain") {
    if (group.facts.time === "year") return String(value)
    return typeof value === "string" ? moment(value, group.grain) : String(value)
  }
  if (group._tag === "Part") {
    const number = numeric(value)
    if (group.part === "hour" && number !== undefined) return `${String(number).padStart(2, "0")}:00`
    if (group.part === "quarter" && number !== undefined) return `Q${number}`
    return String(value)
  }
  if (group._tag === "Bins") {
    const number = numeric(value)
    return number === undefined ? String(value) : withUnit(Number(number.toPrecision(10)), group.facts.unit)
  }
  if (typeof value === "boolean") return value ? "yes" : "no"
  if (typeof value === "number")
    return group.facts.unit === undefined ? String(value) : withUnit(value, group.facts.unit)
  return value.trim() === "" ? "(blank)" : value
}

/** Any value of a row, by the type of its column. */
export const anyValue = (value: Value, column: ResultColumn | undefined, unit: string | undefined): string => {
  if (value === null) return "–"
  if (typeof value === "boolean") return value ? "yes" : "no"
  if (column?.type === "date" && typeof value === "string") return stretchInWords(value, "day")
  if (column?.type === "timestamp" && typeof value === "string") return momentInWords(value)
  const number = column?.type === "decimal" || typeof value === "number" ? numeric(value) : undefined
  return number === undefined ? String(value) : withUnit(number, unit)
}

/** A moment to the minute: `1 January 2001, 00:01`; midnight is just the day. */
export const momentInWords = (value: string): string => {
  const time = /[T ](\d{2}:\d{2})/.exec(value)?.[1]
  const day = stretchInWords(value.slice(0, 10), "day")
  return time === undefined || time === "00:00" ? day : `${day}, ${time}`
}

/** Where a name of a month or a day of the week stands in its round. */
export const calendarOrder = (value: string): number => {
  const month = monthNames.findIndex((name) => name === value)
  if (month !== -1) return month
  return ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"].indexOf(value)
}

/** Text that stands in Markdown as itself. */
export const escaped = (text: string): string => text.replace(/([\\`*_[\]<>|#])/g, "\\$1").replace(/\s+/g, " ")
