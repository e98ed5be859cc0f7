/**
 * Pass: statistics that no query computes (`the correlation matrix of delay, distance and hour`, `quantiles of ratings`,
 * `regression of gross on budget`, `outliers in delay`, `decompose the monthly average temperature`).
 */
import * as Result from "effect/Result"
import type { StatisticKind } from "../../language/Operator.ts"
import { alternativeOf } from "../Alternatives.ts"
import type { FieldFacts } from "../Facts.ts"
import { candidates, isNumber, oneField } from "../Measuring.ts"
import type { Problem } from "../Problem.ts"
import { doing, isEntity, type Slot, type Work } from "../Work.ts"

/** Numbers of one correlation matrix. */
const maxColumns = 8

const isNumberSlot = (slot: Slot): boolean => candidates(slot, isNumber).length > 0

const own = (work: Work): ReadonlyArray<FieldFacts> =>
  work.facts.fields.filter((facts) => isNumber(facts) && facts.path.length === 0)

/** Words that the forms of statistics bring along, and that say nothing besides. */
const companions: { readonly [Kind in StatisticKind]: ReadonlyArray<string> } = {
  correlation: ["Relationship", "Versus", "Between"],
  distribution: ["Distribution"],
  regression: ["Relationship", "Versus", "Between", "Trend"],
  outliers: ["Distribution"],
  decomposition: ["Trend", "Part"]
}

/** Whether a question asks for a number by groups, so that a statistic is of these. */
const isSeries = (work: Work): boolean =>
  work.has("GroupBy") || work.has("Grain") || work.has("Trend") || work.has("Count")

const needs = (work: Work, message: string) =>
  Result.fail<Problem>({ _tag: "Incomplete", message, alternatives: own(work).slice(0, maxColumns).map(alternativeOf) })

/** Reads which statistic is asked for, and of which numbers. */
export const readStatistics = (work: Work): Result.Result<void, Problem> =>
  Result.gen(function* () {
    const found = work.all("Statistic")
    const kinds = new Set(found.map(([, { kind }]) => kind))
    const [kind] = kinds
    if (kind === undefined) return
    if (kinds.size > 1)
      return yield* needs(work, "That is more than one statistic at a time; ask for one after the other.")
    work.use(...found.map(([slot]) => slot))
    for (const slot of work.unused()) {
      const says = slot.mention.operators.some(({ _tag }) => companions[kind].includes(_tag))
      if (says && slot.mention.terms.length === 0) work.use(slot)
    }
    if (kind === "decomposition" || (kind === "outliers" && isSeries(work))) {
      work.statistic = { kind, columns: [] }
      return
    }
    const slots = work.unused().filter(isNumberSlot)
    const columns: Array<FieldFacts> = []
    for (const slot of slots) {
      const facts = yield* oneField(slot, isNumber)
      if (facts !== undefined && !columns.includes(facts)) columns.push(facts)
    }
    const all = kind === "correlation" && columns.length === 0 ? own(work).slice(0, maxColumns) : columns
    const said = columns.length === 0 ? "none" : String(columns.length)
    if (kind === "correlation" && (all.length < 2 || all.length > maxColumns)) {
      return yield* needs(work, `Correlations take two to ${maxColumns} numbers of the same rows; I found ${said}.`)
    }
    if (kind === "regression" && all.length !== 2) {
      return yield* needs(
        work,
        `A regression takes two numbers of the same rows, such as “regression of … on …”; I found ${said}.`
      )
    }
    if ((kind === "distribution" || kind === "outliers") && all.length !== 1) {
      return yield* needs(work, `This takes one number of each row; I found ${said}.`)
    }
    work.use(...slots, ...work.unused().filter((slot) => isEntity(slot) || doing(slot, "Records") !== undefined))
    work.statistic = { kind, columns: all }
  })
