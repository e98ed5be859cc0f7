/**
 * The figures that a program printed, read. They come from a sandbox: whatever is not in the form that was asked for is
 * no figure.
 */
import type * as Option from "effect/Option"
import * as Schema from "effect/Schema"

const Maybe = Schema.NullOr(Schema.Finite)
const Season = Schema.Struct({ season: Schema.Int, effect: Schema.Finite })

/** How values are distributed. */
export const DistributionFigures = Schema.Struct({
  rows: Schema.Int,
  mean: Schema.Finite,
  deviation: Maybe,
  skewness: Maybe,
  lowest: Schema.Finite,
  highest: Schema.Finite,
  quantiles: Schema.Array(Schema.Struct({ share: Schema.Finite, value: Schema.Finite }))
})
export type DistributionFigures = typeof DistributionFigures.Type

/** How many values lie beyond the fences. */
export const OutlierFigures = Schema.Struct({
  rows: Schema.Int,
  below: Schema.Int,
  above: Schema.Int,
  lower: Schema.Finite,
  upper: Schema.Finite,
  quarter: Schema.Finite,
  three_quarters: Schema.Finite,
  lowest: Schema.Finite,
  highest: Schema.Finite
})
export type OutlierFigures = typeof OutlierFigures.Type

/** Correlations of each number with each. */
export const CorrelationFigures = Schema.Struct({
  rows: Schema.Int,
  matrix: Schema.Array(Schema.Array(Maybe))
})
export type CorrelationFigures = typeof CorrelationFigures.Type

/** The line that fits best. */
export const RegressionFigures = Schema.Struct({
  rows: Schema.Int,
  slope: Schema.Finite,
  intercept: Schema.Finite,
  /** The part of the variance that the line accounts for, 0 to 1. */
  explained: Schema.Finite,
  /** The standard error of the slope. */
  error: Maybe
})
export type RegressionFigures = typeof RegressionFigures.Type

/** A series taken apart. */
export const DecompositionFigures = Schema.Struct({
  steps: Schema.Int,
  first: Schema.String,
  last: Schema.String,
  trend_first: Schema.Finite,
  trend_last: Schema.Finite,
  /** 0 to 1: how much of what varies beside the season is trend; and the other way round. */
  trend_strength: Schema.Finite,
  season_strength: Schema.Finite,
  peak: Season,
  trough: Season
})
export type DecompositionFigures = typeof DecompositionFigures.Type

/** Groups that lie beyond the fences. */
export const FarFigures = Schema.Struct({
  groups: Schema.Int,
  lower: Schema.Finite,
  upper: Schema.Finite,
  outliers: Schema.Int,
  farthest: Schema.Array(Schema.Struct({ group: Schema.String, value: Schema.Finite }))
})
export type FarFigures = typeof FarFigures.Type

/** The last line of what a program put out that is its figures, as JSON; what was displayed may be named after it. */
export const figuresLine = (output: string): string => output.split("\n").findLast((line) => line.startsWith("{")) ?? ""

/** Reads figures of one form. */
export const read = <A>(schema: Schema.Codec<A, unknown>, output: string): Option.Option<A> =>
  Schema.decodeUnknownOption(Schema.fromJsonString(schema))(figuresLine(output))
