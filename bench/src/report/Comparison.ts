/**
 * The table that compares: what each took, how far its rounds lie apart, and how many times that is of what it is
 * compared to.
 */
import type { Section } from "../Benchmark.ts"
import { type Measured, slicesOf } from "../measure/Slices.ts"
import { ratio, summarize } from "../measure/Statistics.ts"
import { figure, iqr, range, ratioWithRange } from "./Figure.ts"

/** What a table compares. */
export interface Comparison {
  readonly caption: string
  /** What the first column names. */
  readonly of: string
  /** What the measurements are in. */
  readonly unit: string
  readonly measured: ReadonlyArray<Measured<number>>
  /** The one whose ratio is 1. */
  readonly to: string
  /** What the last column divides by, where it is not said by the name alone. */
  readonly divisor?: string
}

/** The table of a comparison. */
export const comparison = ({ caption, divisor, measured, of, to, unit }: Comparison): Section => ({
  caption,
  table: {
    columns: [of, unit, "min–max", "IQR", `÷ ${divisor ?? to}`],
    rows: measured.map(({ name, slices }) => {
      const summary = summarize(slices)
      return [
        name,
        figure(summary.median),
        range(summary),
        iqr(summary),
        name === to ? "1" : ratioWithRange(ratio(slices, slicesOf(measured, to)))
      ]
    })
  }
})
