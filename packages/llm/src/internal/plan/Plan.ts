/**
 * A plan: what a question asks of one source, in terms that a query can be written from and a reader can check.
 */
import type { CalendarPart, Grain } from "../language/Calendar.ts"
import type { AggregateFunction, Relation, StatisticKind } from "../language/Operator.ts"
import type { Period } from "../language/Period.ts"
import type { FieldFacts, SourceFacts } from "../understanding/Facts.ts"

/** A number that is computed from rows. */
export type Expression =
  | { readonly _tag: "Declared"; readonly facts: FieldFacts }
  | { readonly _tag: "Rows" }
  | { readonly _tag: "Distinct"; readonly facts: FieldFacts; readonly grain?: Grain }
  | { readonly _tag: "Aggregate"; readonly function: AggregateFunction; readonly facts: FieldFacts }
  | { readonly _tag: "Ratio"; readonly numerator: Expression; readonly denominator: Expression }
  /** The percentage of a figure that falls to the rows for which filters hold. */
  | { readonly _tag: "Portion"; readonly of: Expression; readonly filters: ReadonlyArray<Filter> }

/** A column of numbers of the answer. */
export interface Measure {
  readonly expression: Expression
  /** Starts with a lower-case letter where it is not a name of the model: it stands inside sentences. */
  readonly label: string
  readonly unit: string | undefined
  /** Whether the sum over groups is the figure of the whole. */
  readonly summable: boolean
}

/** What rows are put together by. */
export type Group =
  | { readonly _tag: "Field"; readonly facts: FieldFacts }
  | { readonly _tag: "Grain"; readonly facts: FieldFacts; readonly grain: Grain }
  | { readonly _tag: "Part"; readonly facts: FieldFacts; readonly part: CalendarPart }
  | { readonly _tag: "Periods"; readonly facts: FieldFacts; readonly periods: ReadonlyArray<Period> }
  | { readonly _tag: "Bins"; readonly facts: FieldFacts }

/** Which rows count. */
export type Filter =
  | {
      readonly _tag: "OneOf"
      readonly facts: FieldFacts
      readonly values: ReadonlyArray<string>
      readonly negated: boolean
    }
  | { readonly _tag: "Compare"; readonly facts: FieldFacts; readonly relation: Relation; readonly value: number }
  | {
      readonly _tag: "Range"
      readonly facts: FieldFacts
      readonly from: number
      readonly to: number
      readonly negated: boolean
    }
  /** In any of some periods. */
  | {
      readonly _tag: "Within"
      readonly facts: FieldFacts
      readonly periods: ReadonlyArray<Period>
      readonly negated: boolean
    }
  | {
      readonly _tag: "Recurring"
      readonly facts: FieldFacts
      readonly part: CalendarPart
      readonly numbers: ReadonlyArray<number>
      readonly label: string
      readonly negated: boolean
    }
  | { readonly _tag: "Flag"; readonly facts: FieldFacts; readonly value: boolean }
  | { readonly _tag: "Known"; readonly facts: FieldFacts; readonly known: boolean }

/** A condition on a group's number. */
export interface Having {
  readonly measure: Measure
  readonly relation: Relation
  readonly value: number
}

/** Which groups or rows come first, and how many are wanted. */
export interface Ranking {
  readonly descending: boolean
  readonly limit: number
  /** The question said how many. */
  readonly asked: boolean
}

/** Numbers over groups of rows; one number where there is no group. */
export interface Summary {
  readonly _tag: "Summary"
  readonly facts: SourceFacts
  readonly measures: ReadonlyArray<Measure>
  readonly groups: ReadonlyArray<Group>
  readonly filters: ReadonlyArray<Filter>
  readonly having: ReadonlyArray<Having>
  readonly ranking?: Ranking
  /** All groups are wanted, in the order of their number. */
  readonly sort?: { readonly descending: boolean }
  /** Each group's part of the whole, in percent. */
  readonly share: boolean
  /** The groups themselves are asked for, not numbers of them. */
  readonly listing: boolean
  /** The two periods that a question about change compares. */
  readonly change?: {
    readonly facts: FieldFacts
    readonly from: Period
    readonly to: Period
    readonly relative: boolean
  }
  /** The groups' numbers in one: the average number of flights per day. */
  readonly outer?: AggregateFunction | "count"
  /** Another fair reading of what a ranking ranks by; the answer says whether it agrees. */
  readonly alternative?: Measure
}

/** Rows as they are. */
export interface Rows {
  readonly _tag: "Rows"
  readonly facts: SourceFacts
  readonly columns: ReadonlyArray<FieldFacts>
  readonly filters: ReadonlyArray<Filter>
  readonly order?: { readonly facts: FieldFacts; readonly descending: boolean }
  readonly limit: number
  readonly asked: boolean
}

/** How two numbers of each row go together. */
export interface Scatter {
  readonly _tag: "Scatter"
  readonly facts: SourceFacts
  readonly x: FieldFacts
  readonly y: FieldFacts
  readonly filters: ReadonlyArray<Filter>
}

/** A statistic that no query computes: what a query answers is handed to a program. */
export interface Statistics {
  readonly _tag: "Statistics"
  readonly facts: SourceFacts
  readonly kind: StatisticKind
  /**
   * Numbers of each row: those that are correlated; the one whose distribution or outliers are asked for; the one that is
   * regressed and the one on which it is. None where a series is.
   */
  readonly columns: ReadonlyArray<FieldFacts>
  /** One number by one group: what is decomposed, or looked through for outliers. */
  readonly series?: Summary
  readonly filters: ReadonlyArray<Filter>
}

/** What a question asks. */
export type Plan = Summary | Rows | Scatter | Statistics
