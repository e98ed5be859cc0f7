/**
 * Tables of times: one row for each host, beside ipykernel and beside CPython.
 */
import type { Section } from "../Benchmark.ts"
import { type Measured, slicesOf } from "../measure/Slices.ts"
import { quantile, ratio, type Summary, summarize } from "../measure/Statistics.ts"
import { figure, iqr, range, ratioWithRange } from "../report/Figure.ts"

/** What the others are compared with, as the columns name it. */
export interface Peer {
  /** The name of its row. */
  readonly name: string
  readonly title: string
}

/** One more column: its title, and what it says of the slices of a row. */
export interface Extra<Slice> {
  readonly title: string
  readonly of: (slices: ReadonlyArray<Slice>) => string
}

/** A value of every slice of a variant, summarized. */
export const summaryOf = <Slice>(
  measured: ReadonlyArray<Measured<Slice>>,
  name: string,
  of: (slice: Slice) => number
): Summary => summarize(slicesOf(measured, name).map(of))

/** The value below which a fraction of all values of all slices lies. */
export const quantileOfAll = (slices: ReadonlyArray<ReadonlyArray<number>>, fraction: number): number =>
  quantile(Float64Array.from(slices.flat()).toSorted(), fraction)

/** The table of one value of the slices, lower being better. */
export const section = <Slice>(
  caption: string,
  unit: string,
  measured: ReadonlyArray<Measured<Slice>>,
  of: (slice: Slice) => number,
  peers: ReadonlyArray<Peer>,
  extras: ReadonlyArray<Extra<Slice>> = []
): Section => {
  const present = peers.filter(({ name }) => measured.some((one) => one.name === name))
  return {
    caption,
    table: {
      columns: [
        "by",
        unit,
        "min–max",
        "IQR",
        ...extras.map(({ title }) => title),
        ...present.map(({ title }) => `÷ ${title}`)
      ],
      rows: measured.map(({ name, slices }) => {
        const summary = summaryOf(measured, name, of)
        return [
          name,
          figure(summary.median),
          range(summary),
          iqr(summary),
          ...extras.map((extra) => extra.of(slices)),
          ...present.map((peer) =>
            peer.name === name ? "1" : ratioWithRange(ratio(slices.map(of), slicesOf(measured, peer.name).map(of)))
          )
        ]
      })
    }
  }
}
