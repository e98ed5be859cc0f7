/**
 * Pass: what the question says about time becomes filters, periods to compare, and the choice of a time field.
 */
import * as Result from "effect/Result"
import { day, dayInWords, partsOf, plusDays, shift, startOf } from "../../language/Calendar.ts"
import type { Period, TimeExpression } from "../../language/Period.ts"
import { stretch } from "../../language/TimePoints.ts"
import { type FieldFacts, nameOf } from "../Facts.ts"
import type { Problem } from "../Problem.ts"
import { doing, fieldsIn, isGlue, type Slot, type Work } from "../Work.ts"

const isTimeField = (slot: Slot | undefined): FieldFacts | undefined => {
  const times = fieldsIn(slot).filter((one) => one.facts.time !== undefined && one.facts.field.kind === "dimension")
  const [first] = times
  return first !== undefined && new Set(times.map((one) => one.facts)).size === 1 ? first.facts : undefined
}

/** A time field beside a time says which time is meant: "released in 2005", "release date per year". */
export const chooseTimeField = (work: Work): void => {
  for (const slot of work.unused()) {
    const facts = isTimeField(slot)
    if (facts === undefined || doing(slot, "Grain") !== undefined || slot.mention.time !== undefined) continue
    const beside = [work.after(slot, isTimeGlue), work.before(slot, isTimeGlue)]
    const explained = beside.some(
      (other) =>
        other !== undefined &&
        (isTimely(other) || doing(other, "Trend") !== undefined || doing(other, "Part") !== undefined)
    )
    if (explained) {
      work.timeField = facts
      work.use(slot)
    }
  }
}

const isTimeGlue = (slot: Slot): boolean => isGlue(slot) || doing(slot, "GroupBy") !== undefined

const isTimely = (slot: Slot): boolean =>
  slot.mention.time !== undefined || (doing(slot, "Grain") !== undefined && slot.mention.number === undefined)

/** Reads every time that is surely one. Bare numbers that may be years wait until nobody else claims them. */
export const readTimes = (work: Work, bare: boolean): Result.Result<void, Problem> =>
  Result.gen(function* () {
    for (const slot of work.unused()) {
      const { time } = slot.mention
      if (time === undefined || (time.bare && !bare)) continue
      if (time.bare && !mayBeYear(work, slot)) continue
      yield* readTime(work, slot, time.expression)
    }
  })

/** A bare number is a year where nothing else could have asked for a number. */
const mayBeYear = (work: Work, slot: Slot): boolean => {
  const before = work.previous(slot)
  if (doing(before, "Comparator") !== undefined || doing(before, "Superlative")?.top === true) return false
  return work.facts.fields.some((facts) => facts.time !== undefined)
}

const readTime = (work: Work, slot: Slot, expression: TimeExpression): Result.Result<void, Problem> =>
  Result.gen(function* () {
    const facts = yield* work.time(slot)
    const before = work.before(slot)
    const negated =
      doing(before, "Negation") !== undefined && before?.index === slot.index - (isGlueAt(work, slot.index - 1) ? 2 : 1)
    if (negated) work.use(before)
    work.use(slot)
    switch (expression._tag) {
      case "Recurring": {
        const fine = expression.part === "hour" ? "hour" : expression.part === "weekday" ? "day" : "month"
        yield* work.timeFor(slot, fine)
        const single = onlyYear(facts)
        const [month] = expression.numbers
        if (
          expression.part === "month" &&
          expression.numbers.length === 1 &&
          single !== undefined &&
          month !== undefined &&
          !negated
        ) {
          yield* addPeriod(work, slot, facts, stretch(day(single, month), "month"), false)
          return
        }
        work.addFilter(
          {
            _tag: "Recurring",
            facts,
            part: expression.part,
            numbers: expression.numbers,
            label: expression.label,
            negated
          },
          slot
        )
        return
      }
      case "Period":
        work.ends = expression.ends ?? work.ends
        yield* addPeriod(work, slot, facts, expression.period, negated)
        return
      case "OfData": {
        const range = facts.field.timeRange
        if (range === undefined) {
          return yield* incomplete(
            `I do not know where the time of ${nameOf(facts)} begins and ends; name a date or a year.`
          )
        }
        const edge = expression.end === "first" ? range.first : range.last
        const start = startOf(edge.slice(0, 10), expression.grain)
        const from = expression.end === "first" ? start : shift(start, expression.grain, 1 - expression.count)
        yield* addPeriod(work, slot, facts, stretch(from, expression.grain, expression.count), negated)
        return
      }
      case "FromToday": {
        if (work.today === undefined) {
          return yield* incomplete(
            `I do not know today's date, so I cannot tell what “${expression.words}” is; name a date or a year.`
          )
        }
        const start = startOf(work.today, expression.grain)
        const from = shift(start, expression.grain, expression.offset * expression.count)
        const period = stretch(from, expression.grain, expression.count)
        const last = facts.field.timeRange?.last.slice(0, 10)
        if (last !== undefined && from > last) {
          return yield* incomplete(
            `“${expression.words}” is ${period.label}, but the data end on ${dayInWords(last)}. Name a time before that, or ask for the last ${expression.grain} of the data.`
          )
        }
        yield* addPeriod(work, slot, facts, period, negated)
        return
      }
    }
  })

const isGlueAt = (work: Work, index: number): boolean => {
  const slot = work.slots[index]
  return slot !== undefined && isGlue(slot)
}

const incomplete = (message: string) => Result.fail<Problem>({ _tag: "Incomplete", message, alternatives: [] })

/** The year of the data, where they only have one. */
const onlyYear = (facts: FieldFacts): number | undefined => {
  const range = facts.field.timeRange
  if (range === undefined) return undefined
  const first = partsOf(range.first)
  const last = partsOf(range.last)
  return first !== undefined && first.year === last?.year ? first.year : undefined
}

const addPeriod = (
  work: Work,
  slot: Slot,
  facts: FieldFacts,
  period: Period,
  negated: boolean
): Result.Result<void, Problem> =>
  Result.gen(function* () {
    if (facts.time === "year" && !isWholeYears(period)) {
      return yield* incomplete(`${work.facts.source.label} only knows the year, not the day or the month.`)
    }
    if (!negated) work.periods.push(period)
    const known = work.filters.find(
      (filter) => filter._tag === "Within" && filter.facts === facts && filter.negated === negated
    )
    if (known !== undefined && known._tag === "Within") {
      // A second period narrows an open end ("since 2004 … before 2008") and adds to a closed one ("2004 and 2008").
      const [other] = known.periods
      if (other !== undefined && known.periods.length === 1 && isOpen(other) && isOpen(period)) {
        replace(work, known, { ...known, periods: [intersection(other, period)] })
        work.periods = [intersection(other, period)]
        return
      }
      replace(work, known, { ...known, periods: [...known.periods, period] })
      return
    }
    work.addFilter({ _tag: "Within", facts, periods: [period], negated }, slot)
  })

const replace = (work: Work, old: Work["filters"][number], next: Work["filters"][number]): void => {
  const slot = work.saidAt.get(old)
  work.filters = work.filters.map((filter) => (filter === old ? next : filter))
  if (slot !== undefined) work.saidAt.set(next, slot)
}

const isOpen = (period: Period): boolean => period.from === undefined || period.until === undefined

const intersection = (left: Period, right: Period): Period => {
  const from = [left.from, right.from]
    .filter((one) => one !== undefined)
    .toSorted()
    .at(-1)
  const until = [left.until, right.until].filter((one) => one !== undefined).toSorted()[0]
  return {
    ...(from === undefined ? {} : { from }),
    ...(until === undefined ? {} : { until }),
    label: `${left.label} and ${right.label}`
  }
}

const isWholeYears = (period: Period): boolean =>
  [period.from, period.until].every((edge) => edge === undefined || edge.endsWith("-01-01"))

/** The years that whole-year periods cover, inclusive. */
export const yearsOf = (period: Period): { readonly from?: number; readonly to?: number } => ({
  ...(period.from === undefined ? {} : { from: Number(period.from.slice(0, 4)) }),
  ...(period.until === undefined ? {} : { to: Number(plusDays(period.until, -1).slice(0, 4)) })
})
