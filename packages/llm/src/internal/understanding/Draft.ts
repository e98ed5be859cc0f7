/**
 * What a question asks, as far as it says so: a plan that may lack parts, which a follow-up question fills from the
 * question before it.
 */
import type { AggregateFunction, StatisticKind } from "../language/Operator.ts"
import type { Period } from "../language/Period.ts"
import type { Filter, Group, Having, Measure } from "../plan/Plan.ts"
import type { FieldFacts, SourceFacts } from "./Facts.ts"

/** A statistic that a question asks for, and the numbers of each row that it is of; none where it is of a series. */
export interface Statistic {
  readonly kind: StatisticKind
  readonly columns: ReadonlyArray<FieldFacts>
}

/** What a question asks, as far as it says so. */
export interface Draft {
  readonly facts: SourceFacts
  readonly measures: ReadonlyArray<Measure>
  readonly groups: ReadonlyArray<Group>
  readonly filters: ReadonlyArray<Filter>
  readonly having: ReadonlyArray<Having>
  readonly ranking: { readonly descending: boolean } | undefined
  /** The ranking asks for the best or worst. */
  readonly judged: boolean
  readonly limit: number | undefined
  /** The question asks which groups or rows, so that those without a name are left out. */
  readonly target: boolean
  readonly share: boolean
  readonly portion: ReadonlyArray<Filter>
  readonly change:
    | { readonly facts: FieldFacts; readonly from: Period; readonly to: Period; readonly relative: boolean }
    | undefined
  readonly outer: AggregateFunction | undefined
  readonly alternative: Measure | undefined
  readonly rows: boolean
  readonly columns: ReadonlyArray<FieldFacts>
  readonly order: { readonly facts: FieldFacts; readonly descending: boolean } | undefined
  readonly scatter: readonly [FieldFacts, FieldFacts] | undefined
  readonly statistic: Statistic | undefined
  readonly sort: { readonly descending: boolean } | undefined
  /** Rows are ranked, by a number that stands beside them: whether the largest come first. */
  readonly ranked: boolean | undefined
  /** Rows are put in the order of the number that stands beside them. */
  readonly reordered: boolean
  /** Rows are to be counted where no other number is asked for. */
  readonly countsRows: boolean
  /** The rows of the source are named. */
  readonly mentionsRows: boolean
}
