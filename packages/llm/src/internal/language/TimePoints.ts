/**
 * Reads points of time: days, months, quarters, halves, years, decades, and months that still lack their year.
 */
import { day, daysIn, type Grain, monthNames, partsOf, shift, stretchInWords } from "./Calendar.ts"
import type { Period } from "./Period.ts"
import type { Token } from "./Token.ts"

/** A point of a range: a period, or a month (and day) that still lacks its year. */
export interface Point {
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

/** Reads points of time among tokens. */
export class PointReader {
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
}
