/**
 * What the words of a question do: they count, compare, group, rank. Which words do what is in the grammar.
 */
import type { CalendarPart, Grain } from "./Calendar.ts"

/** How many values become one. */
export type AggregateFunction = "average" | "total" | "maximum" | "minimum" | "median" | "deviation"

/** How a value relates to a limit. */
export type Relation = ">" | ">=" | "<" | "<=" | "=" | "!="

/** What a question asks for that data cannot tell, or that this model does not do. */
export type BeyondKind = "cause" | "future" | "advice" | "statistics" | "change" | "meaning"

/** A statistic that no query computes: rows are handed to a program. */
export type StatisticKind = "correlation" | "distribution" | "regression" | "outliers" | "decomposition"

/** What the words of a question do. */
export type Operator =
  | { readonly _tag: "Aggregate"; readonly function: AggregateFunction }
  /** Smallest and largest. */
  | { readonly _tag: "Extent" }
  | { readonly _tag: "Count" }
  | { readonly _tag: "HowMuch" }
  | { readonly _tag: "Distinct" }
  /** `concept` names a quality (`longest`); `judgement` depends on whether more is better (`best`, `worst`). */
  | {
      readonly _tag: "Superlative"
      readonly most: boolean
      readonly concept?: string
      readonly judgement?: boolean
      readonly frequency?: boolean
      readonly top?: boolean
    }
  | { readonly _tag: "Comparator"; readonly relation: Relation; readonly concept?: string }
  /** Stands behind its number: `100 or more`. */
  | { readonly _tag: "ComparatorAfter"; readonly relation: Relation }
  | { readonly _tag: "Between" }
  | { readonly _tag: "GroupBy"; readonly each: boolean; readonly agent: boolean }
  | { readonly _tag: "Grain"; readonly grain: Grain; readonly adverb: boolean }
  | { readonly _tag: "Part"; readonly part: CalendarPart }
  | { readonly _tag: "Which" }
  | { readonly _tag: "When" }
  | { readonly _tag: "Share" }
  | { readonly _tag: "Change"; readonly relative: boolean; readonly falls?: boolean }
  | { readonly _tag: "Trend" }
  | { readonly _tag: "Relationship" }
  | { readonly _tag: "Distribution" }
  | { readonly _tag: "Statistic"; readonly kind: StatisticKind }
  | { readonly _tag: "List" }
  | { readonly _tag: "Versus" }
  /** Which end of the result comes first. */
  | { readonly _tag: "Sort"; readonly descending: boolean }
  | { readonly _tag: "Negation" }
  | { readonly _tag: "Role"; readonly role: "origin" | "destination" }
  | { readonly _tag: "Preposition" }
  | { readonly _tag: "And" }
  | { readonly _tag: "Or" }
  | { readonly _tag: "Concept"; readonly concept: string }
  | { readonly _tag: "Missing" }
  | { readonly _tag: "Ratio" }
  | { readonly _tag: "DividedBy" }
  /** Rows of whatever the question is about. */
  | { readonly _tag: "Records" }
  | { readonly _tag: "Beyond"; readonly kind: BeyondKind }
  | { readonly _tag: "Continue" }
  | { readonly _tag: "Pronoun" }
  | { readonly _tag: "Unit"; readonly unit: string }
  | { readonly _tag: "Harmless" }
