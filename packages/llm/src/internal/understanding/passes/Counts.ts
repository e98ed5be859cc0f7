/**
 * Pass: "how many" and "how much": rows, different values, or the sum of what adds up.
 */
import type { Measure } from "../../plan/Plan.ts"
import {
  aggregated,
  byDefault,
  candidates,
  declared,
  distinctCount,
  isCategory,
  isMeasure,
  isNumber,
  measured,
  oneField,
  rowCount
} from "../Measuring.ts"
import type { Problem } from "../Problem.ts"
import { type Slot, type Work, doing, fieldsIn, isEntity, isGlue } from "../Work.ts"
import { addMeasure, isNumeric } from "./NumberWords.ts"
import * as Result from "effect/Result"

/** Words between "how many" and what is counted that do not change it. */
const isPassed = (slot: Slot): boolean =>
  isGlue(slot) || doing(slot, "Distinct") !== undefined || doing(slot, "Aggregate")?.function === "total"

export const readCount = (work: Work, slot: Slot): Result.Result<void, Problem> =>
  Result.gen(function* () {
    const distinct = work.slots.find(
      (other) =>
        other.index > slot.index &&
        other.index <= slot.index + 2 &&
        !other.used &&
        doing(other, "Distinct") !== undefined
    )
    const total = work.previous(slot)
    if (doing(total, "Aggregate")?.function === "total") work.use(total)
    const target = work.after(slot, isPassed)
    const counted = work.slots.find((other) => other.index > slot.index && other.mention.time !== undefined)
    if (
      counted !== undefined &&
      counted.index <= slot.index + 3 &&
      /^(?:week|mon|tues|wednes|thurs|fri|satur|sun)/i.test(counted.mention.text)
    ) {
      // "how many weekends": the days would be counted, not the weekends.
      return yield* Result.fail<Problem>({ _tag: "Leftover", words: [counted.mention.text] })
    }
    work.use(slot)
    if (target !== undefined && target.index <= slot.index + 4) {
      const passed = work.slots.filter((other) => other.index > slot.index && other.index < target.index && !other.used)
      const measure = yield* countOf(work, target, distinct !== undefined)
      if (measure !== undefined) {
        work.use(target, distinct, ...passed)
        addMeasure(work, measure)
        return
      }
    }
    // "how many of them were rainy": the rows that are left.
    const entity = work.unused().find((other) => isEntity(other))
    work.use(entity)
    if (distinct !== undefined) return
    addMeasure(work, rowCount(work.facts))
  })

const countOf = (work: Work, target: Slot, distinct: boolean): Result.Result<Measure | undefined, Problem> =>
  Result.gen(function* () {
    const measures = fieldsIn(target).filter(
      (one) =>
        one.strength === "exact" && isMeasure(one.facts) && ["count", "total", "unknown"].includes(one.facts.kind)
    )
    const counts = measures.filter((one) => one.facts.kind === "count")
    const [measure] = counts.length > 0 ? counts : measures
    if (measure !== undefined && !(distinct && measure.facts === work.facts.rowCount && measure.facts.kind !== "count"))
      return declared(measure.facts)
    if ((isEntity(target) || doing(target, "Records") !== undefined) && !distinct) return rowCount(work.facts)
    const numbers = candidates(target, isNumber)
    const categories = candidates(target, isCategory)
    if (categories.length > 0) {
      const facts = yield* oneField(target, isCategory)
      if (facts !== undefined) return distinctCount(facts)
    }
    const grain = doing(target, "Grain")
    if (grain !== undefined && !grain.adverb)
      return distinctCount(yield* work.timeFor(target, grain.grain), grain.grain)
    if (isEntity(target)) {
      const [name] = work.facts.names
      return name === undefined ? rowCount(work.facts) : distinctCount(name)
    }
    if (numbers.length > 0) {
      const facts = yield* oneField(target, isNumber)
      if (facts === undefined) return undefined
      if (distinct) return distinctCount(facts)
      if (facts.nature === "additive") return aggregated(work.facts, "total", facts)
      return yield* byDefault(work.facts, facts, target)
    }
    return undefined
  })

export const readHowMuch = (work: Work, slot: Slot): Result.Result<void, Problem> =>
  Result.gen(function* () {
    work.use(slot)
    const target = work.after(slot)
    if (target === undefined || !isNumeric(target)) return
    const measure = yield* measured(work.facts, target, undefined)
    const total = yield* measured(work.facts, target, "total")
    const additive = candidates(target, isNumber).some((facts) => facts.nature === "additive")
    const chosen = additive ? (total ?? measure) : measure
    if (chosen === undefined) return
    work.use(target)
    addMeasure(work, chosen)
  })
