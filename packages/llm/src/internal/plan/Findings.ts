/**
 * What queries found, and what is still to be asked.
 */
import type { Rows, Scatter, Statistics, Summary } from "./Plan.ts"
import type { Query } from "./Statement.ts"
import type { QueryResult } from "@castellan/core/analyst/Tool"

/** What has been found so far; `undefined` for a query that was not asked yet. */
export type Answered = (query: Query) => QueryResult | undefined

/** Everything that an answer is written from. */
export type Findings =
  | {
      readonly _tag: "Summary"
      readonly plan: Summary
      readonly main: QueryResult
      readonly alternative: QueryResult | undefined
      readonly width: number
    }
  | { readonly _tag: "Rows"; readonly plan: Rows; readonly main: QueryResult; readonly count: number | undefined }
  | {
      readonly _tag: "Scatter"
      readonly plan: Scatter
      readonly main: QueryResult
      readonly pairs: number
      readonly correlation: number | undefined
      /** Averages of y over bins of x, where there are too many pairs to draw. */
      readonly binned: boolean
    }
  | StatisticsFindings

/** What a program is to be given. */
export interface StatisticsFindings {
  readonly _tag: "Statistics"
  readonly plan: Statistics
  /** What the statistic is computed from. */
  readonly main: QueryResult
  /** How that is laid out: each row; each different value with the number of rows; means of products; one row a group. */
  readonly form: "rows" | "counts" | "moments" | "series"
  /** Averages over ranges, to draw where there are too many rows to. */
  readonly bins: QueryResult | undefined
  /** Rows that the statistic is over. */
  readonly count: number
}

/** What is told without a program. */
export type PlainFindings = Exclude<Findings, StatisticsFindings>

/** Queries to ask next, or what they found. */
export type Progress =
  | { readonly _tag: "Ask"; readonly queries: ReadonlyArray<Query> }
  | { readonly _tag: "Found"; readonly findings: Findings }
