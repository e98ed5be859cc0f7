/**
 * How fine a trend is drawn when the question does not say: fine enough to show a shape, coarse enough to be read.
 */
import { type Grain, ordinal } from "../language/Calendar.ts"
import type { Period } from "../language/Period.ts"
import type { FieldFacts } from "./Facts.ts"

/** The grain for the stretch of time that a question is about. */
export const autoGrain = (facts: FieldFacts, periods: ReadonlyArray<Period>): Grain => {
  if (facts.time === "year") return "year"
  const range = facts.field.timeRange
  const [period] = periods
  const edges = [period?.from, range?.first.slice(0, 10)].filter((one) => one !== undefined)
  const ends = [period?.until, range?.last.slice(0, 10)].filter((one) => one !== undefined)
  const from = edges.toSorted().at(-1)
  const until = ends.toSorted()[0]
  if (from === undefined || until === undefined) return "month"
  const days = ordinal(until) - ordinal(from)
  if (days <= 3 && facts.field.type === "timestamp") return "hour"
  if (days <= 92) return "day"
  // Data that only have the first days of years have nothing between them.
  if (/-01-01/.test(range?.first ?? "") && /-01-01/.test(range?.last ?? "") && facts.field.type === "date")
    return "year"
  return days <= 366 * 15 ? "month" : "year"
}
