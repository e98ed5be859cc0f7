/**
 * Numbers as people read them.
 */
import type { Summary } from "../measure/Statistics.ts"
import { middleHalf } from "../measure/Statistics.ts"

/** A number with about three significant digits, and thousands set apart. */
export const figure = (value: number): string => {
  const size = Math.abs(value)
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : 2
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

/** A count. */
export const count = (value: number): string => value.toLocaleString("en-US", { maximumFractionDigits: 0 })

/** The smallest and the largest of a series. */
export const range = (summary: Summary): string => `${figure(summary.minimum)}–${figure(summary.maximum)}`

/** The width of the middle half of a series. */
export const iqr = (summary: Summary): string => figure(middleHalf(summary))

/** A ratio with two digits behind the point, and where those would be naughts, with its first two. */
const ratioFigure = (value: number): string =>
  value < 0.1
    ? value.toLocaleString("en-US", { minimumSignificantDigits: 2, maximumSignificantDigits: 2 })
    : value.toFixed(2)

/** A ratio with its range, such as `0.41 (0.38–0.44)`. */
export const ratioWithRange = (summary: Summary): string =>
  `${ratioFigure(summary.median)} (${ratioFigure(summary.minimum)}–${ratioFigure(summary.maximum)})`
