/**
 * Reads what a question says about time: days, months, quarters, years, ranges, open ends, stretches that come round
 * again, and stretches counted from today or from an end of the data.
 */
import {
  day,
  dayInWords,
  daysIn,
  type Grain,
  monthNames,
  partsOf,
  plusDays,
  shift,
  stretchInWords,
  weekdayNames
} from "./Calendar.ts"
import type { Period, TimeExpression } from "./Period.ts"
import type { Token } from "./Token.ts"

/** A reading that starts at a token and takes a number of them. */
export interface TimeReading {
  readonly length: number
  readonly expression: TimeExpression
  /** A bare number that may be a year, or may be just a number. */
  readonly bare: boolean
}

/** A point of a range: a period, or a month (and day) that still lacks its year. */
interface Point {
  readonly length: number
  readonly period?: Period
  readonly month?: number
  readonly dayOfMonth?: number
  readonly bare: boolean
}

const months: ReadonlyMap<string, number> = new Map(
  monthNames.flatMap((name, index) => {
    const word = name.toLowerCase()
    const forms = new Set([word, word.slice(0, 3), ...(word === "september" ? ["sept"] : [])])
    return [...forms].map((form) => [form, index + 1] as const)
  })
)

const weekdays: ReadonlyMap<string, number> = new Map(
  weekdayNames.flatMap((name, index) => {
    const word = name.toLowerCase()
    return [word, `${word}s`].map((form) => [form, index + 1] as const)
  })
)

const ordinalWords: ReadonlyMap<string, number> = new Map([
  ["first", 1],
  ["1st", 1],
  ["second", 2],
  ["2nd", 2],
  ["third", 3],
  ["3rd", 3],
  ["fourth", 4],
  ["4th", 4],
  ["last", -1]
])

const grainWords: ReadonlyMap<string, Grain> = new Map([
  ["year", "year"],
  ["quarter", "quarter"],
  ["month", "month"],
  ["week", "week"],
  ["day", "day"]
])

const smallNumbers: ReadonlyMap<string, number> = new Map(
  ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"].map(
    (word, index) => [word, index + 1] as const
  )
)

/** A stretch of one grain as a period. */
export const stretch = (from: string, grain: Grain, count = 1): Period => {
  const until = shift(from, grain, count)
  const last = shift(from, grain, count - 1)
  return {
    from,
    until,
    grain,
    label:
      count === 1 ? stretchInWords(from, grain) : `${stretchInWords(from, grain)} to ${stretchInWords(last, grain)}`
  }
}

/** A range from the start of one period to the end of another. */
export const range = (first: Period, last: Period): Period => ({
  ...(first.from === undefined ? {} : { from: first.from }),
  ...(last.until === undefined ? {} : { until: last.until }),
  label: `from ${first.label} to ${last.label}`,
  ...(first.grain === undefined ? {} : { grain: first.grain })
})

class Reader {
  readonly tokens: ReadonlyArray<Token>

  constructor(tokens: ReadonlyArray<Token>) {
    this.tokens = tokens
  }

  word(index: number): string {
    return this.tokens[index]?.word ?? ""
  }

  /** The length of the first of some phrases that stands at a token, or 0. */
  phrase(index: number, phrases: ReadonlyArray<string>): number {
    const first = this.word(index)
    for (const phrase of phrases) {
      if (!phrase.startsWith(first) || first === "") continue
      const words = phrase.split(" ")
      if (words.every((word, offset) => this.word(index + offset) === word)) return words.length
    }
    return 0
  }

  year(index: number): number | undefined {
    const token = this.tokens[index]
    if (token === undefined || !/^[12]\d{3}$/.test(token.text)) return undefined
    return Number(token.text)
  }

  dayOfMonth(index: number): number | undefined {
    const match = /^(\d{1,2})(?:st|nd|rd|th)?$/.exec(this.word(index))
    const value = Number(match?.[1] ?? 0)
    return value >= 1 && value <= 31 ? value : undefined
  }

  count(index: number): number | undefined {
    const word = this.word(index)
    const value = smallNumbers.get(word) ?? (/^\d{1,3}$/.test(word) ? Number(word) : undefined)
    return value !== undefined && value > 0 ? value : undefined
  }

  /** Skips a comma or the word `of`. */
  glue(index: number): number {
    return this.word(index) === "of" || this.tokens[index]?.text === "," ? index + 1 : index
  }

  point(index: number): Point | undefined {
    return (
      this.datePoint(index) ??
      this.partOfYear(index) ??
      this.monthPoint(index) ??
      this.dayFirst(index) ??
      this.decade(index) ??
      this.yearPoint(index)
    )
  }

  datePoint(index: number): Point | undefined {
    const token = this.tokens[index]
    if (token?.kind !== "date") return undefined
    if (token.text.includes("-")) {
      const parts = partsOf(token.text)
      if (parts === undefined) return undefined
      const grain = token.text.length === 7 ? "month" : "day"
      return { length: 1, period: stretch(day(parts.year, parts.month, parts.day), grain), bare: false }
    }
    const [left = 0, right = 0, year = 0] = token.text.split("/").map(Number)
    // 03/05/2008 is a different day on each side of an ocean.
    if (left <= 12 && right <= 12 && left !== right) return undefined
    const [month, dayOfMonth] = left > 12 ? [right, left] : [left, right]
    if (month < 1 || month > 12 || dayOfMonth < 1 || dayOfMonth > daysIn(year, month)) return undefined
    return { length: 1, period: stretch(day(year, month, dayOfMonth), "day"), bare: false }
  }

  yearPoint(index: number): Point | undefined {
    const lead = this.phrase(index, ["the year", "calendar year", "year"])
    const year = this.year(index + lead)
    return year === undefined ? undefined : { length: lead + 1, period: stretch(day(year), "year"), bare: lead === 0 }
  }

  decade(index: number): Point | undefined {
    const start = this.word(index) === "the" ? index + 1 : index
    const match = /^(?:([12]\d{2})0|([2-9])0)s$/.exec(this.word(start))
    if (match === null) return undefined
    const first = match[1] === undefined ? 1900 + 10 * Number(match[2]) : 10 * Number(match[1])
    return {
      length: start - index + 1,
      period: { from: day(first), until: day(first + 10), label: `the ${first}s` },
      bare: false
    }
  }

  /** Quarters, halves and the first or last months of a year. */
  partOfYear(index: number): Point | undefined {
    const start = this.word(index) === "the" ? index + 1 : index
    const code = /^([qh])([1-4])$/.exec(this.word(start))
    if (code !== null) {
      const year = this.year(this.glue(start + 1))
      if (year === undefined) return undefined
      return this.fraction(
        year,
        code[1] === "q" ? "quarter" : "half",
        Number(code[2]),
        this.glue(start + 1) + 1 - index
      )
    }
    const year = this.year(start)
    const after = /^([qh])([1-4])$/.exec(this.word(start + 1))
    if (year !== undefined && after !== null) {
      return this.fraction(year, after[1] === "q" ? "quarter" : "half", Number(after[2]), start + 2 - index)
    }
    const which = ordinalWords.get(this.word(start))
    if (which === undefined) return undefined
    const unit = this.word(start + 1)
    if (unit === "quarter" || unit === "half") {
      const at = this.yearAfter(start + 2)
      if (at === undefined) return undefined
      const nth = which > 0 ? which : unit === "quarter" ? 4 : 2
      return this.fraction(at.year, unit, nth, at.next - index)
    }
    const count = this.count(start + 1)
    if (count !== undefined && /^months?$/.test(this.word(start + 2)) && Math.abs(which) === 1 && count <= 12) {
      const at = this.yearAfter(start + 3)
      if (at === undefined) return undefined
      const from = which === 1 ? day(at.year) : day(at.year, 13 - count)
      return { length: at.next - index, period: stretch(from, "month", count), bare: false }
    }
    return undefined
  }

  yearAfter(index: number): { readonly year: number; readonly next: number } | undefined {
    const lead = this.phrase(index, ["of the year", "in the year", "of", "in", ","])
    const year = this.year(index + lead)
    return year === undefined ? undefined : { year, next: index + lead + 1 }
  }

  fraction(year: number, unit: "quarter" | "half", nth: number, length: number): Point | undefined {
    if (unit === "quarter") {
      return nth > 4 ? undefined : { length, period: stretch(day(year, 3 * nth - 2), "quarter"), bare: false }
    }
    if (nth > 2) return undefined
    const from = day(year, 6 * nth - 5)
    const label = `the ${nth === 1 ? "first" : "second"} half of ${year}`
    return { length, period: { from, until: shift(from, "month", 6), label }, bare: false }
  }

  /** `March`, `March 2008`, `March 5, 2008`, `March of 2008`. */
  monthPoint(index: number): Point | undefined {
    const month = months.get(this.word(index))
    if (month === undefined) return undefined
    const dayOfMonth = this.dayOfMonth(index + 1)
    if (dayOfMonth !== undefined && this.year(index + 1) === undefined) {
      const at = this.glue(index + 2)
      const year = this.year(at)
      if (year === undefined) return { length: 2, month, dayOfMonth, bare: false }
      return dayOfMonth > daysIn(year, month)
        ? undefined
        : { length: at + 1 - index, period: stretch(day(year, month, dayOfMonth), "day"), bare: false }
    }
    const at = this.glue(index + 1)
    const year = this.year(at)
    if (year !== undefined) return { length: at + 1 - index, period: stretch(day(year, month), "month"), bare: false }
    return { length: 1, month, bare: false }
  }

  /** `5 March 2008`, `5th of March 2008`. */
  dayFirst(index: number): Point | undefined {
    const start = this.word(index) === "the" ? index + 1 : index
    const dayOfMonth = this.dayOfMonth(start)
    if (dayOfMonth === undefined) return undefined
    const monthAt = this.word(start + 1) === "of" ? start + 2 : start + 1
    const month = months.get(this.word(monthAt))
    if (month === undefined) return undefined
    const at = this.glue(monthAt + 1)
    const year = this.year(at)
    if (year === undefined) return { length: monthAt + 1 - index, month, dayOfMonth, bare: false }
    return dayOfMonth > daysIn(year, month)
      ? undefined
      : { length: at + 1 - index, period: stretch(day(year, month, dayOfMonth), "day"), bare: false }
  }

  /** A point that a preposition, a capital or a neighbour makes surely one: `may` alone is a verb. */
  isFirm(point: Point, index: number): boolean {
    const token = this.tokens[index]
    if (point.period !== undefined || point.dayOfMonth !== undefined || token === undefined) return true
    if (this.word(index).length > 3 && !["march"].includes(token.word)) return true
    return (
      token.proper ||
      /^(?:in|of|for|during|since|and|to|vs|versus|until|till|through|after|before|every|between|from|than|with|only)$/.test(
        this.word(index - 1)
      )
    )
  }

  ranges(index: number): TimeReading | undefined {
    const lead = this.phrase(index, ["in between", "between", "starting in", "starting from", "starting", "from"])
    const first = this.point(index + lead)
    if (first === undefined) return undefined
    const opener = this.word(index + (lead > 0 && this.word(index) === "in" ? 1 : 0))
    const linkAt = index + lead + first.length
    const link =
      lead > 0 && opener === "between"
        ? this.phrase(linkAt, ["and", "to", "-", "–"])
        : this.phrase(linkAt, ["up to", "to", "until", "till", "through", "thru", "-", "–", "—"]) ||
          this.markLink(linkAt)
    if (link === 0) return undefined
    const last = this.point(linkAt + link)
    if (last === undefined) return undefined
    const length = linkAt + link + last.length - index
    const ends = completed(first, last)
    if (ends !== undefined) {
      const [from, to] = ends
      if ((from.from ?? "") >= (to.until ?? "9999")) return undefined
      return {
        length,
        expression: { _tag: "Period", period: range(from, to), ends },
        bare: first.bare && last.bare
      }
    }
    if (first.month === undefined || last.month === undefined) return undefined
    if (first.dayOfMonth !== undefined || last.dayOfMonth !== undefined) return undefined
    const numbers: Array<number> = []
    for (let month = first.month; ; month = (month % 12) + 1) {
      numbers.push(month)
      if (month === last.month) break
    }
    const label = `${monthNames[first.month - 1] ?? ""} to ${monthNames[last.month - 1] ?? ""}`
    return { length, expression: { _tag: "Recurring", part: "month", numbers, label }, bare: false }
  }

  markLink(index: number): number {
    const text = this.tokens[index]?.text
    return text === "-" || text === "–" || text === "—" ? 1 : 0
  }

  openEnded(index: number): TimeReading | undefined {
    const sinceLength = this.phrase(index, [
      "since the start of",
      "since",
      "starting in",
      "starting from",
      "starting",
      "beginning in",
      "from"
    ])
    if (sinceLength > 0) {
      const point = this.point(index + sinceLength)
      if (point?.period?.from !== undefined) {
        const end = index + sinceLength + point.length
        const tail = this.phrase(end, ["onwards", "onward", "on", "and later", "and after"])
        if (this.word(index) === "from" && tail === 0) return undefined
        return open({ from: point.period.from, label: `since ${point.period.label}` }, end + tail - index)
      }
      return undefined
    }
    const afterLength = this.phrase(index, ["after the end of", "after", "later than"])
    if (afterLength > 0) {
      const point = this.point(index + afterLength)
      return point?.period?.until === undefined
        ? undefined
        : open({ from: point.period.until, label: `after ${point.period.label}` }, afterLength + point.length)
    }
    const beforeLength = this.phrase(index, ["before the start of", "before", "prior to", "earlier than"])
    if (beforeLength > 0) {
      const point = this.point(index + beforeLength)
      return point?.period?.from === undefined
        ? undefined
        : open({ until: point.period.from, label: `before ${point.period.label}` }, beforeLength + point.length)
    }
    const untilLength = this.phrase(index, ["up until", "until", "till", "through", "up to and including", "up to"])
    if (untilLength > 0) {
      const point = this.point(index + untilLength)
      return point?.period?.until === undefined ||
        (point.bare &&
          this.word(index + untilLength - 1) === "to" &&
          this.word(index) === "up" &&
          this.year(index + untilLength) === undefined)
        ? undefined
        : open(
            { until: point.period.until, label: `up to the end of ${point.period.label}` },
            untilLength + point.length
          )
    }
    return undefined
  }

  recurring(index: number): TimeReading | undefined {
    const lead = this.phrase(index, ["on", "during", "in", "at", "for", "every", "each"])
    const at = index + lead + (this.word(index + lead) === "the" ? 1 : 0)
    const weekday = weekdays.get(this.word(at))
    const only = (
      part: "weekday" | "hour",
      numbers: ReadonlyArray<number>,
      label: string,
      length: number
    ): TimeReading => ({
      length,
      expression: { _tag: "Recurring", part, numbers, label },
      bare: false
    })
    if (weekday !== undefined) return only("weekday", [weekday], `${weekdayNames[weekday - 1] ?? ""}s`, at + 1 - index)
    if (/^weekends?$/.test(this.word(at)) && (lead > 0 || this.word(at) === "weekends")) {
      return only("weekday", [1, 7], "weekends", at + 1 - index)
    }
    if (this.word(at) === "weekdays" && /^(?:on|during)$/.test(this.word(index))) {
      return only("weekday", [2, 3, 4, 5, 6], "weekdays (Monday to Friday)", at + 1 - index)
    }
    if (this.word(index) === "at") {
      const hour = this.dayOfMonth(index + 1)
      const half = this.word(index + 2)
      if (hour !== undefined && hour <= 12 && (half === "am" || half === "pm")) {
        const number = (hour % 12) + (half === "pm" ? 12 : 0)
        return only("hour", [number], `the hour from ${number}:00`, 3)
      }
    }
    return undefined
  }

  relative(index: number): TimeReading | undefined {
    const reading = (expression: TimeExpression, length: number): TimeReading => ({ length, expression, bare: false })
    const simple = this.word(index)
    if (simple === "today" || simple === "yesterday") {
      return reading(
        { _tag: "FromToday", grain: "day", offset: simple === "today" ? 0 : -1, count: 1, words: simple },
        1
      )
    }
    const ytd = this.phrase(index, ["year to date", "ytd"])
    if (ytd > 0)
      return reading({ _tag: "FromToday", grain: "year", offset: 0, count: 1, words: "the year to date" }, ytd)
    const lead = this.phrase(index, [
      "in the",
      "during the",
      "over the",
      "for the",
      "within the",
      "of the",
      "the",
      "in",
      "for",
      "over",
      "during"
    ])
    const at = index + lead
    const which = this.phrase(at, [
      "most recent",
      "latest",
      "newest",
      "final",
      "last",
      "past",
      "previous",
      "first",
      "earliest",
      "this",
      "current"
    ])
    if (which === 0) return undefined
    const words = this.tokens
      .slice(at, at + which)
      .map((token) => token.word)
      .join(" ")
    const count = this.count(at + which)
    const unitAt = at + which + (count === undefined ? 0 : 1)
    const grain = grainWords.get(this.word(unitAt).replace(/s$/, ""))
    if (grain === undefined || (count === undefined && this.word(unitAt).endsWith("s"))) return undefined
    const tail = this.phrase(unitAt + 1, [
      "of the dataset",
      "in the dataset",
      "of the data set",
      "in the data set",
      "of the data",
      "in the data",
      "of data",
      "in data",
      "of the series",
      "on record",
      "recorded",
      "available",
      "we have",
      "of the record",
      "covered",
      "of available data"
    ])
    const length = unitAt + 1 + tail - index
    const isFirst = words === "first" || words === "earliest"
    if (isFirst || tail > 0 || /^(?:most recent|latest|newest|final)$/.test(words)) {
      if (words === "this" || words === "current") return undefined
      return reading({ _tag: "OfData", end: isFirst ? "first" : "last", grain, count: count ?? 1 }, length)
    }
    const shown = this.tokens
      .slice(at, unitAt + 1)
      .map((token) => token.text)
      .join(" ")
    if (words === "this" || words === "current") {
      return count === undefined
        ? reading({ _tag: "FromToday", grain, offset: 0, count: 1, words: shown }, length)
        : undefined
    }
    return reading({ _tag: "FromToday", grain, offset: -1, count: count ?? 1, words: shown }, length)
  }

  within(index: number): TimeReading | undefined {
    const lead = this.phrase(index, [
      "in the month of",
      "during the month of",
      "for the month of",
      "the month of",
      "month of",
      "as of",
      "in",
      "during",
      "throughout",
      "within",
      "for",
      "of",
      "on",
      "only",
      "over"
    ])
    // "over 2000" compares; only longer forms of time can follow "over".
    const opener = this.word(index)
    const point = this.point(index + lead)
    if (point === undefined || opener === "as") return undefined
    const length = lead + point.length
    if (point.period !== undefined) {
      if (opener === "over" && lead > 0 && point.bare) return undefined
      return {
        length,
        expression: { _tag: "Period", period: point.period },
        bare: point.bare && (lead === 0 || opener === "of" || opener === "for")
      }
    }
    if (point.month === undefined || point.dayOfMonth !== undefined || !this.isFirm(point, index + lead))
      return undefined
    const label = `${monthNames[point.month - 1] ?? ""} of any year`
    return { length, expression: { _tag: "Recurring", part: "month", numbers: [point.month], label }, bare: false }
  }
}

/** Both ends of a range with their years, where at least one of them says which. */
const completed = (first: Point, last: Point): readonly [Period, Period] | undefined => {
  const year = (point: Point): number | undefined =>
    point.period?.from === undefined ? undefined : partsOf(point.period.from)?.year
  const filled = (point: Point, other: number | undefined): Period | undefined => {
    if (point.period !== undefined) return point.period
    if (point.month === undefined || other === undefined) return undefined
    return point.dayOfMonth === undefined
      ? stretch(day(other, point.month), "month")
      : point.dayOfMonth > daysIn(other, point.month)
        ? undefined
        : stretch(day(other, point.month, point.dayOfMonth), "day")
  }
  const from = filled(first, year(last))
  const to = filled(last, year(first))
  return from === undefined || to === undefined ? undefined : [from, to]
}

const open = (period: Period, length: number): TimeReading => ({
  length,
  expression: { _tag: "Period", period },
  bare: false
})

/** Every reading of time that starts at a token, longest first. */
export const readTime = (tokens: ReadonlyArray<Token>, index: number): ReadonlyArray<TimeReading> => {
  const reader = new Reader(tokens)
  return [
    reader.ranges(index),
    reader.openEnded(index),
    reader.relative(index),
    reader.recurring(index),
    reader.within(index)
  ]
    .filter((reading) => reading !== undefined)
    .toSorted((left, right) => right.length - left.length)
}

/** The last day that a period covers, in words, for open ends. */
export const lastDay = (period: Period): string | undefined =>
  period.until === undefined ? undefined : dayInWords(plusDays(period.until, -1))
