/**
 * Where the data begin and end, in words.
 */
import type { FieldFacts } from "../understanding/Facts.ts"
import { stretchInWords } from "../language/Calendar.ts"

/** The time that a field covers: `1 January 2001 to 30 June 2001`; years where only years are known. */
export const momentRangeInWords = (facts: FieldFacts): string | undefined => {
  const range = facts.field.timeRange
  if (range === undefined) return undefined
  const years = /-01-01/.test(range.first) && /-01-01/.test(range.last) && facts.field.type === "date"
  const words = (value: string): string => stretchInWords(value.slice(0, 10), years ? "year" : "day")
  return `${words(range.first)} to ${words(range.last)}`
}
