/**
 * Days and moments as texts: whatever form a source writes them in, one unmistakable form in UTC.
 *
 * JavaScript reads `2010-01-01` in UTC but `2010-01-01T00:00` and `Jan 1 2010` in the zone of the machine, so a chart
 * would move by a day depending on where it is drawn. Nothing is left to that here.
 */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

const monthNamed = (name: string): number => months.indexOf(name.slice(0, 3).toLowerCase()) + 1

const two = (value: number): string => String(value).padStart(2, "0")

const daysIn = (year: number, month: number): number => {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
  return [4, 6, 9, 11].includes(month) ? 30 : 31
}

/** `YYYY-MM-DD` when the calendar has that day. */
const day = (year: string, month: number, date: number): string | undefined =>
  month >= 1 && month <= 12 && date >= 1 && date <= daysIn(Number(year), month)
    ? `${year}-${two(month)}-${two(date)}`
    : undefined

/** Part of a match, or the empty text. */
const part = (match: RegExpExecArray, index: number): string => match[index] ?? ""

const number = (match: RegExpExecArray, index: number): number => Number(part(match, index))

const offset = /^([+-])(\d{2}):?(\d{2})?$/

/** A day, a time of that day and an offset (`Z`, `+02`, `-0530`, or nothing for UTC), as a moment. */
const moment = (match: RegExpExecArray): string | undefined => {
  const date = day(part(match, 1), number(match, 2), number(match, 3))
  const [hours, minutes, seconds] = [number(match, 4), number(match, 5), number(match, 6)]
  if (date === undefined || hours > 23 || minutes > 59 || seconds > 59) return undefined
  const fraction = part(match, 7).slice(0, 4)
  const time = `${two(hours)}:${two(minutes)}:${two(seconds)}${fraction}`
  const zone = offset.exec(part(match, 8))
  if (zone === null) return time === "00:00:00" || /^00:00:00\.0+$/.test(time) ? date : `${date}T${time}Z`
  const shifted = DateTime.make(`${date}T${time}${part(zone, 1)}${part(zone, 2)}:${zone[3] ?? "00"}`)
  return Option.getOrUndefined(Option.map(shifted, DateTime.formatIso))
}

/** The forms that are read. The first that fits decides. Days before months (1/2/2010) are ambiguous and not read. */
const forms: ReadonlyArray<readonly [RegExp, (match: RegExpExecArray) => string | undefined]> = [
  [/^(\d{4})-(\d{2})-(\d{2})$/, (match) => day(part(match, 1), number(match, 2), number(match, 3))],
  [/^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2}))?(\.\d+)?\s*(Z|UTC|[+-]\d{2}:?(?:\d{2})?)?$/i, moment],
  [/^(\d{4})$/, (match) => day(part(match, 1), 1, 1)],
  [/^(\d{4})[-/](\d{1,2})$/, (match) => day(part(match, 1), number(match, 2), 1)],
  [/^(\d{4})[/.](\d{1,2})[/.](\d{1,2})$/, (match) => day(part(match, 1), number(match, 2), number(match, 3))],
  [/^(\d{4})[-/ ]?Q([1-4])$/i, (match) => day(part(match, 1), number(match, 2) * 3 - 2, 1)],
  [
    /^([a-z]{3,9})\.? (\d{1,2}),? (\d{4})$/i,
    (match) => day(part(match, 3), monthNamed(part(match, 1)), number(match, 2))
  ],
  [
    /^(\d{1,2})[ -]([a-z]{3,9})\.?[ -](\d{4})$/i,
    (match) => day(part(match, 3), monthNamed(part(match, 2)), number(match, 1))
  ],
  [/^([a-z]{3,9})\.? (\d{4})$/i, (match) => day(part(match, 2), monthNamed(part(match, 1)), 1)]
]

/** Reads a day or a moment: `YYYY-MM-DD`, or `YYYY-MM-DDTHH:MM:SS[.fff]Z` where it has a time. */
export const read = (text: string): string | undefined => {
  const trimmed = text.trim()
  for (const [form, written] of forms) {
    const match = form.exec(trimmed)
    if (match !== null) return written(match)
  }
  return undefined
}

/** Reads a time of the day as a moment of 1970-01-01, so that an axis can show it. */
export const readTime = (text: string): string | undefined =>
  /^\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/.test(text) ? (read(`1970-01-01T${text}`) ?? undefined) : undefined

/** How finely moments are spaced. */
export type Grain = "year" | "quarter" | "month" | "day" | "minute" | "second"

const grains: ReadonlyArray<Grain> = ["year", "quarter", "month", "day", "minute", "second"]

/** Whether one grain is finer than another. */
export const isFiner = (grain: Grain, than: Grain): boolean => grains.indexOf(grain) > grains.indexOf(than)

/** The coarsest grain in which all moments (milliseconds) can be written. Quarters count as months. */
export const grainOf = (moments: ReadonlyArray<number>): Grain => {
  const parts = moments.map((each) => DateTime.toPartsUtc(DateTime.makeUnsafe(each)))
  if (moments.some((each) => each % 60_000 !== 0)) return "second"
  if (moments.some((each) => each % 86_400_000 !== 0)) return "minute"
  if (parts.some(({ day: date }) => date !== 1)) return "day"
  return parts.some(({ month }) => month !== 1) ? "month" : "year"
}

/** The beginnings of years, months or days from one moment to another (milliseconds, the end not included). */
export const beginnings = (grain: Grain, from: number, to: number): ReadonlyArray<number> => {
  const found: Array<number> = []
  const unit = grain === "quarter" ? "month" : grain
  const step = grain === "quarter" ? { months: 3 } : steps[unit]
  let next = DateTime.startOf(DateTime.makeUnsafe(from), unit)
  while (DateTime.toEpochMillis(next) < to && found.length < 1000) {
    const reached = DateTime.toEpochMillis(next)
    if (reached >= from) found.push(reached)
    next = DateTime.add(next, step)
  }
  return found
}

const steps = {
  year: { years: 1 },
  month: { months: 1 },
  day: { days: 1 },
  minute: { minutes: 1 },
  second: { seconds: 1 }
} as const

/** Whether all moments (milliseconds) are the first days of quarters. */
export const areQuarters = (moments: ReadonlyArray<number>): boolean =>
  moments.every((each) => (DateTime.toPartsUtc(DateTime.makeUnsafe(each)).month - 1) % 3 === 0)

/** A moment (milliseconds) as the day that it is in, `YYYY-MM-DD`. */
export const isoDay = (milliseconds: number): string => DateTime.formatIsoDateUtc(DateTime.makeUnsafe(milliseconds))
