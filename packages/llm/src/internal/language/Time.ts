/**
 * Reads what a question says about time: days, months, quarters, years, ranges, open ends, stretches that come round
 * again, and stretches counted from today or from an end of the data.
 */
import { day, daysIn, type Grain, monthNames, partsOf, weekdayNames } from "./Calendar.ts"
import type { Period, TimeExpression } from "./Period.ts"
import { type Point, PointReader, stretch } from "./TimePoints.ts"
import type { Token } from "./Token.ts"

/** A reading that starts at a token and takes a number of them. */
export interface TimeReading {
  readonly length: number
  readonly expression: TimeExpression
  /** A bare number that may be a year, or may be just a number. */
  readonly bare: boolean
}

const weekdays: ReadonlyMap<string, number> = new Map(
  weekdayNames.flatMap((name, index) => {
    const word = name.toLowerCase()
    return [word, `${word}s`].map((form) => [form, index + 1] as const)
  })
)

const grainWords: ReadonlyMap<string, Grain> = new Map([
  ["year", "year"],
  ["quarter", "quarter"],
  ["month", "month"],
  ["week", "week"],
  ["day", "day"]
])

/** A range from the start of one period to the end of another. */
export const range = (first: Period, last: Period): Period => ({
  ...(first.from === undefined ? {} : { from: first.from }),
  ...(last.until === undefined ? {} : { until: last.until }),
  label: `from ${first.label} to ${last.label}`,
  ...(first.grain === undefined ? {} : { grain: first.grain })
})

class Reader extends PointReader {
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
    // "the first week of March" is not the first week of the data.
    if (tail === 0 && /^(?:of|in|during)$/.test(this.word(unitAt + 1)) && this.point(unitAt + 2) !== undefined)
      return undefined
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
