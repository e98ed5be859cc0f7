/**
 * The few statistics that a benchmark needs. Medians and quartiles, because one disturbed slice must not move a figure.
 */

/** What is said of a series of measurements, all in the unit of its values. */
export interface Summary {
  readonly count: number
  readonly median: number
  readonly minimum: number
  readonly maximum: number
  readonly lowerQuartile: number
  readonly upperQuartile: number
}

/**
 * The value below which a fraction of sorted values lies, interpolated between neighbours: definition 7 of Hyndman and
 * Fan, which R and NumPy use too.
 */
export const quantile = (sorted: ArrayLike<number>, fraction: number): number => {
  if (sorted.length === 0) throw new Error("an empty series has no quantile")
  const position = (sorted.length - 1) * fraction
  const below = sorted[Math.floor(position)] ?? Number.NaN
  const above = sorted[Math.ceil(position)] ?? Number.NaN
  return below + (above - below) * (position - Math.floor(position))
}

/** The summary of a series, in any order. */
export const summarize = (values: ReadonlyArray<number>): Summary => {
  const sorted = Float64Array.from(values).toSorted()
  return {
    count: sorted.length,
    median: quantile(sorted, 0.5),
    minimum: quantile(sorted, 0),
    maximum: quantile(sorted, 1),
    lowerQuartile: quantile(sorted, 0.25),
    upperQuartile: quantile(sorted, 0.75)
  }
}

/** The width of the middle half: the interquartile range. */
export const middleHalf = (summary: Summary): number => summary.upperQuartile - summary.lowerQuartile

/**
 * The ratio of two series, taken slice by slice. Slices of one round are neighbours in time, so whatever else the
 * machine did then is in both, and goes out.
 */
export const ratio = (ours: ReadonlyArray<number>, peer: ReadonlyArray<number>): Summary => {
  if (ours.length !== peer.length) throw new Error(`cannot pair ${ours.length} slices with ${peer.length}`)
  return summarize(ours.map((value, index) => value / (peer[index] ?? Number.NaN)))
}

/** The difference of two series, taken slice by slice. */
export const difference = (ours: ReadonlyArray<number>, peer: ReadonlyArray<number>): Summary => {
  if (ours.length !== peer.length) throw new Error(`cannot pair ${ours.length} slices with ${peer.length}`)
  return summarize(ours.map((value, index) => value - (peer[index] ?? Number.NaN)))
}
