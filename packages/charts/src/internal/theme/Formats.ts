/**
 * How the values of an axis are written: numbers as short as their range allows, days and times in the grain of the
 * ticks with the year said once.
 *
 * Everything is plain Vega: a specification that was typeset here looks the same wherever it is opened.
 */
import * as Instant from "../data/Instant.ts"
import type { Grain } from "../data/Instant.ts"
import type { JsonObject } from "../specification/Json.ts"
import type { Temporal } from "./Survey.ts"

/** A range of numbers. */
export interface Range {
  readonly low: number
  readonly high: number
  readonly logarithmic: boolean
}

const units = [
  { from: 1e12, divisor: 1e12, symbol: "T" },
  { from: 1e9, divisor: 1e9, symbol: "B" },
  { from: 1e6, divisor: 1e6, symbol: "M" },
  { from: 1e4, divisor: 1e3, symbol: "k" }
] as const

/** The columns whose whole numbers are years. */
const yearName = /(^|[^a-z])(year|yr)s?($|[^a-z])/i

/** The columns whose fractions are shares of a whole. */
const shareName = /(percent|pct|share|rate|ratio|proportion|fraction)/i

/** How numbers are written. */
export interface NumberFormat {
  /** The properties of an axis or a legend that write them so. */
  readonly properties: JsonObject
  /** One of them as it will be written, to measure it. */
  readonly text: (value: number) => string
}

/** The format that tells the numbers of a range apart in as few characters as that takes. */
export const numbers = (range: Range, field: string | undefined): NumberFormat => {
  const { high, logarithmic, low } = range
  const largest = Math.max(Math.abs(low), Math.abs(high))
  if (field !== undefined && yearName.test(field) && low >= 1000 && high <= 3000) {
    return { properties: { format: "d", tickMinStep: 1 }, text: (value) => value.toFixed(0) }
  }
  if (field !== undefined && shareName.test(field) && largest <= 1 && largest > 0) {
    const places = Math.max(0, decimals(high - low) - 2)
    return { properties: { format: `.${places}~%` }, text: (value) => `${grouped(value * 100, places)}%` }
  }
  if (logarithmic) return { properties: { labelExpr: short }, text: () => "100k" }
  if (largest !== 0 && largest < 1e-4)
    return { properties: { format: ".2~e" }, text: (value) => value.toExponential(2) }
  const unit = units.find(({ from }) => largest >= from)
  const divisor = unit?.divisor ?? 1
  const places = decimals((high - low) / divisor)
  if (unit === undefined) return { properties: { format: `,.${places}~f` }, text: (value) => grouped(value, places) }
  // What would be written as "0M" is written as "0".
  const nothing = divisor / 10 ** places / 2
  const written = `format(datum.value / ${divisor}, ',.${places}~f') + '${unit.symbol}'`
  return {
    properties: { labelExpr: `abs(datum.value) < ${nothing} ? '0' : ${written}` },
    text: (value) => (Math.abs(value) < nothing ? "0" : `${grouped(value / divisor, places)}${unit.symbol}`)
  }
}

/** Decimal places that keep the ticks of a span apart. */
const decimals = (span: number): number => (span > 0 ? Math.min(8, Math.max(0, Math.ceil(1.3 - Math.log10(span)))) : 2)

const grouped = (value: number, places: number): string =>
  value.toLocaleString("en-US", { maximumFractionDigits: places })

/** The ticks of a logarithmic scale: powers of ten, and 2 and 5 times them where there are few. */
export const powers = (low: number, high: number): ReadonlyArray<number> => {
  if (!(low > 0) || !Number.isFinite(high)) return []
  const first = Math.floor(Math.log10(low))
  const last = Math.ceil(Math.log10(high))
  const factors = last - first <= 3 ? [1, 2, 5] : [1]
  return Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index))
    .flatMap((power) => factors.map((factor) => factor * power))
    .filter((value) => value >= low && value <= high)
}

/** Each number by its own size: for scales that run over many powers of ten. */
const short = "abs(datum.value) >= 1000 ? replace(format(datum.value, '~s'), 'G', 'B') : format(datum.value, '.3~g')"

/** How moments are written, and at which of them. */
export interface MomentFormat {
  /** The properties of an axis that write them so. */
  readonly properties: JsonObject
  /** The ticks, in milliseconds. */
  readonly ticks: ReadonlyArray<number>
  /** Whether they are the ones that Vega would set anyway. */
  readonly isNatural?: boolean
}

/** The format that says a moment in the grain of the ticks, and what it belongs to once. */
export const moments = (extent: Temporal, room: number, grain: Grain | undefined): MomentFormat => {
  const count = Math.max(2, Math.min(10, Math.floor(room / 76)))
  const natural = extent.ticks(count)
  const found = Instant.grainOf(natural)
  // Ticks between the days of daily data, or the months of monthly data, would promise more than there is.
  if (grain !== undefined && Instant.isFiner(found, grain)) {
    return { properties: labels[grain], ticks: Instant.beginnings(grain, extent.low, extent.high + 1) }
  }
  const written = grain === "quarter" && found === "month" ? "quarter" : found
  return { properties: { tickCount: count, ...labels[written] }, ticks: natural, isNatural: true }
}

/** Two lines: the moment, and below it what it belongs to, where that begins. */
const twoLines = (moment: string, begins: string, whole: string): JsonObject => ({
  labelExpr: `[utcFormat(datum.value, '${moment}'), datum.index === 0 || ${begins} ? utcFormat(datum.value, '${whole}') : '']`
})

/** How each grain is written, by the properties of an axis. */
export const labels: Readonly<Record<Grain, JsonObject>> = {
  year: { format: "%Y" },
  quarter: twoLines("Q%q", "utcmonth(datum.value) === 0", "%Y"),
  month: twoLines("%b", "utcmonth(datum.value) === 0", "%Y"),
  day: twoLines("%b %-d", "(utcmonth(datum.value) === 0 && utcdate(datum.value) <= 7)", "%Y"),
  minute: twoLines("%H:%M", "(utchours(datum.value) === 0 && utcminutes(datum.value) === 0)", "%b %-d"),
  second: twoLines("%H:%M:%S", "(utchours(datum.value) === 0 && utcminutes(datum.value) === 0)", "%b %-d")
}

/** Whether the author of an axis or a legend said how its values are written. */
export const isFormatted = (guide: JsonObject): boolean =>
  ["format", "labelExpr", "formatType"].some((key) => Object.hasOwn(guide, key))
