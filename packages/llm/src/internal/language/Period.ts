/**
 * Stretches of time as questions name them.
 */
import type { CalendarPart, Day, Grain } from "./Calendar.ts"

/** A stretch of time: from a day on, until before another. An open end is missing. */
export interface Period {
  readonly from?: Day
  readonly until?: Day
  /** In words, as the answer repeats it: `2008`, `from 2004 to 2008`, `since March 2005`. */
  readonly label: string
  /** How fine the words were: the grain that names the period as one thing. */
  readonly grain?: Grain
}

/** What a question says about time. */
export type TimeExpression =
  | {
      readonly _tag: "Period"
      readonly period: Period
      /** First and last stretch of a range, so that a question about change can compare them. */
      readonly ends?: readonly [Period, Period]
    }
  /** Comes round again: every March, every Monday. */
  | {
      readonly _tag: "Recurring"
      readonly part: CalendarPart
      readonly numbers: ReadonlyArray<number>
      readonly label: string
    }
  /** Counted from an end of the data. */
  | { readonly _tag: "OfData"; readonly end: "first" | "last"; readonly grain: Grain; readonly count: number }
  /** Counted from today: `last year` is -1, `this month` 0; `count` stretches that end there. */
  | {
      readonly _tag: "FromToday"
      readonly grain: Grain
      readonly offset: number
      readonly count: number
      readonly words: string
    }
