/**
 * Measures variants by turns: every server is warm, each gets a short slice, one after the other, again and again. What
 * the machine does besides falls on all of them alike, and slices of one round can be compared one to one.
 */
import { Effect } from "effect"
import * as Progress from "../report/Progress.ts"

/** Something that is measured slice by slice. */
export interface Variant<Measure, Error, Requirements> {
  readonly name: string
  readonly slice: Effect.Effect<Measure, Error, Requirements>
  /** A few words about a slice, for whoever watches. */
  readonly tell: (measure: Measure) => string
}

/** What was measured of a variant: one measure a round, in the order of the rounds. */
export interface Measured<Measure> {
  readonly name: string
  readonly slices: ReadonlyArray<Measure>
}

/** How many rounds: those that only warm the servers up, and those that count. */
export interface Rounds {
  readonly warming: number
  readonly counted: number
}

/** The variants in the order of a round: each round begins with another, so that none always follows the same. */
export const orderOf = <Item>(items: ReadonlyArray<Item>, round: number): ReadonlyArray<Item> => {
  const start = items.length === 0 ? 0 : round % items.length
  return [...items.slice(start), ...items.slice(0, start)]
}

/** Measures the variants in turn. The first failure ends it: a wrong answer has no speed. */
export const alternate: <Measure, Error, Requirements>(
  variants: ReadonlyArray<Variant<Measure, Error, Requirements>>,
  rounds: Rounds
) => Effect.Effect<ReadonlyArray<Measured<Measure>>, Error, Requirements> = Effect.fnUntraced(function* <
  Measure,
  Error,
  Requirements
>(variants: ReadonlyArray<Variant<Measure, Error, Requirements>>, rounds: Rounds) {
  const measured = variants.map((variant) => ({ name: variant.name, slices: new Array<Measure>() }))
  for (let round = 0; round < rounds.warming + rounds.counted; round++) {
    const warming = round < rounds.warming
    const said: Array<string> = []
    for (const { name, slice, tell } of orderOf(variants, round)) {
      const measure = yield* slice
      said.push(`${name} ${tell(measure)}`)
      if (!warming) measured.find((one) => one.name === name)?.slices.push(measure)
    }
    const label = warming ? "warming up" : `round ${round - rounds.warming + 1} of ${rounds.counted}`
    yield* Progress.say(`  ${label}: ${said.join(", ")}`)
  }
  return measured
})

/** The slices of a variant by its name. */
export const slicesOf = <Measure>(measured: ReadonlyArray<Measured<Measure>>, name: string): ReadonlyArray<Measure> => {
  const found = measured.find((one) => one.name === name)
  if (found === undefined) throw new Error(`${name} was not measured`)
  return found.slices
}
