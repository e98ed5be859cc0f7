/**
 * Days of the Gregorian calendar as text (`YYYY-MM-DD`), without a clock and without zones: questions name days, and
 * a day is the same in the question and in the data.
 */

/** A day as `YYYY-MM-DD`. */
export type Day = string

/** Stretches of time by which rows can be grouped, from long to short. */
export const grains = ["year", "quarter", "month", "week", "day", "hour"] as const
export type Grain = (typeof grains)[number]

/** Parts of the calendar that come round again. */
export type CalendarPart = "month" | "weekday" | "hour" | "quarter"

export const monthNames = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December"
] as const

/** In the order of Malloy's `day_of_week`, which counts Sunday as 1. */
export const weekdayNames = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const

const pad = (value: number, width: number): string => String(value).padStart(width, "0")

const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0

const monthLengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** How many days a month (1 to 12) has. */
export const daysIn = (year: number, month: number): number =>
  month === 2 && isLeap(year) ? 29 : (monthLengths[month - 1] ?? 30)

/** The day of a date; months beyond 12 roll over into the next years. */
export const day = (year: number, month = 1, dayOfMonth = 1): Day => {
  const months = year * 12 + (month - 1)
  return `${pad(Math.floor(months / 12), 4)}-${pad((((months % 12) + 12) % 12) + 1, 2)}-${pad(dayOfMonth, 2)}`
}

/** Year, month and day of the month of a text that starts with a date. */
export const partsOf = (
  text: string
): { readonly year: number; readonly month: number; readonly day: number } | undefined => {
  const match = /^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?/.exec(text)
  if (match === null) return undefined
  const month = Number(match[2] ?? 1)
  const dayOfMonth = Number(match[3] ?? 1)
  const year = Number(match[1])
  return month >= 1 && month <= 12 && dayOfMonth >= 1 && dayOfMonth <= daysIn(year, month)
    ? { year, month, day: dayOfMonth }
    : undefined
}

/** Days since 0000-03-01, by Howard Hinnant's `days_from_civil`, for differences. */
export const ordinal = (text: Day): number => {
  const parts = partsOf(text) ?? { year: 0, month: 1, day: 1 }
  const year = parts.month <= 2 ? parts.year - 1 : parts.year
  const era = Math.floor(year / 400)
  const yearOfEra = year - era * 400
  const dayOfYear = Math.floor((153 * (parts.month + (parts.month > 2 ? -3 : 9)) + 2) / 5) + parts.day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra
}

/** The day a number of days later (or earlier). */
export const plusDays = (text: Day, days: number): Day => {
  const count = ordinal(text) + days
  const era = Math.floor(count / 146_097)
  const dayOfEra = count - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const shifted = Math.floor((5 * dayOfYear + 2) / 153)
  const month = shifted < 10 ? shifted + 3 : shifted - 9
  return day(yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - Math.floor((153 * shifted + 2) / 5) + 1)
}

/** The first day of the stretch that a day lies in. */
export const startOf = (text: Day, grain: Grain): Day => {
  const parts = partsOf(text) ?? { year: 0, month: 1, day: 1 }
  switch (grain) {
    case "year":
      return day(parts.year)
    case "quarter":
      return day(parts.year, parts.month - ((parts.month - 1) % 3))
    case "month":
      return day(parts.year, parts.month)
    case "week":
      // A week starts on Sunday, as in Malloy. Day 0 of the count, 1 March of year 0, was a Wednesday.
      return plusDays(text, -((((ordinal(text) + 3) % 7) + 7) % 7))
    case "day":
    case "hour":
      return day(parts.year, parts.month, parts.day)
  }
}

/** The first day of the stretch that lies a number of stretches later (or earlier). */
export const shift = (text: Day, grain: Grain, count: number): Day => {
  const parts = partsOf(text) ?? { year: 0, month: 1, day: 1 }
  switch (grain) {
    case "year":
      return day(parts.year + count, parts.month, parts.day)
    case "quarter":
      return day(parts.year, parts.month + 3 * count, parts.day)
    case "month":
      return day(parts.year, parts.month + count, parts.day)
    case "week":
      return plusDays(text, 7 * count)
    case "day":
    case "hour":
      return plusDays(text, count)
  }
}

/** A day in words: `5 March 2008`. */
export const dayInWords = (text: Day): string => {
  const parts = partsOf(text)
  return parts === undefined ? text : `${parts.day} ${monthNames[parts.month - 1] ?? ""} ${parts.year}`
}

/** The stretch that starts on a day, in words: `2008`, `Q1 2008`, `March 2008`, `the week of 3 March 2008`. */
export const stretchInWords = (text: Day, grain: Grain): string => {
  const parts = partsOf(text)
  if (parts === undefined) return text
  switch (grain) {
    case "year":
      return String(parts.year)
    case "quarter":
      return `Q${Math.floor((parts.month - 1) / 3) + 1} ${parts.year}`
    case "month":
      return `${monthNames[parts.month - 1] ?? ""} ${parts.year}`
    case "week":
      return `the week of ${dayInWords(text)}`
    case "day":
      return dayInWords(text)
    case "hour": {
      const hour = /T?\s?(\d{2}):/.exec(text.slice(10))?.[1]
      return hour === undefined ? dayInWords(text) : `${dayInWords(text)}, ${hour}:00`
    }
  }
}
