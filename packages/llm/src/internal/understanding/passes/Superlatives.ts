/**
 * Pass: "highest", "worst", "most": what is ranked by which number, or the largest value of one.
 */
import type { Measure } from "../../plan/Plan.ts"
import type { FieldFacts } from "../Facts.ts"
import {
  aggregated,
  byDefault,
  candidates,
  declared,
  isMeasure,
  isNumber,
  measured,
  moreIsBetterFor,
  oneField,
  rowCount
} from "../Measuring.ts"
import type { Problem } from "../Problem.ts"
import { type Slot, type Work, doing, fieldsIn, isEntity, isGlue, isSoft } from "../Work.ts"
import { readAggregates } from "./Aggregates.ts"
import { addMeasure, baseOf, conceptField, isModifier, isNumeric, numbersOf, timeMeasure } from "./NumberWords.ts"
import * as Result from "effect/Result"

/** "when was the price highest": the number stands before what ranks by it. */
export const readTrailingSuperlative = (work: Work): Result.Result<void, Problem> =>
  Result.gen(function* () {
    if (!(work.target || work.when !== undefined) || work.rows || work.rankedBy || work.has("Change")) return
    for (const [slot, operator] of work.all("Superlative")) {
      if (operator.concept !== undefined || operator.frequency === true || operator.top === true) continue
      const before = work.before(slot)
      const behind = work
        .unused()
        .some(
          (other) =>
            other.index > slot.index &&
            (isNumeric(other) ||
              isEntity(other) ||
              doing(other, "Count") !== undefined ||
              doing(other, "Aggregate") !== undefined)
        )
      if (behind || before === undefined || before.index < slot.index - 5 || !isNumeric(before)) continue
      yield* rankBy(work, slot, before, operator.most)
      work.judged = operator.judgement === true
      return
    }
  })

/** Ranks by a number, and keeps the other fair reading of "the highest" in mind. */
const rankBy = (work: Work, slot: Slot, target: Slot, most: boolean): Result.Result<void, Problem> =>
  Result.gen(function* () {
    // A moment is when one value was reached; a group of rows has a usual value as well.
    const extreme =
      work.when === undefined ? undefined : yield* measured(work.facts, target, most ? "maximum" : "minimum")
    const measure = extreme ?? (yield* measured(work.facts, target, undefined))
    if (measure === undefined) return
    work.use(slot, target)
    work.ranking = { descending: most, slot }
    addMeasure(work, measure)
    if (extreme === undefined) addAlternative(work, target, measure, most)
  })

export const readSuperlative = (work: Work, slot: Slot): Result.Result<void, Problem> =>
  Result.gen(function* () {
    const operator = doing(slot, "Superlative")
    if (operator === undefined) return
    // "shortest and longest": one order is shown at a time.
    if (work.order !== undefined || work.ranking !== undefined || work.rowsRanked !== undefined) return
    const ranks = work.target || work.rows || work.when !== undefined || (work.fragment && work.limit !== undefined)
    if (
      work.fragment &&
      (work.limit !== undefined || work.ranksBefore) &&
      operator.concept === undefined &&
      work.measures.length === 0 &&
      work.unused().every((other) => other === slot || isSoft(other) || isEntity(other))
    ) {
      // "only the top 3", "what about the fewest?": of the ranking before.
      work.use(slot)
      work.ranking = { descending: operator.most, slot }
      work.rowsRanked = operator.most
      return
    }
    if (operator.frequency === true) {
      if (!work.target) return
      work.use(
        slot,
        work.unused().find((other) => isEntity(other))
      )
      addMeasure(work, rowCount(work.facts))
      work.ranking = { descending: operator.most, slot }
      return
    }
    const target = work
      .unused()
      .find(
        (other) =>
          other.index > slot.index &&
          !isModifier(work, other) &&
          (isNumeric(other) ||
            doing(other, "Aggregate") !== undefined ||
            doing(other, "Count") !== undefined ||
            doing(other, "HowMuch") !== undefined)
      )
    if (
      work.has("Change") &&
      operator.concept === undefined &&
      ranks &&
      (target === undefined || work.measures.length > 0 || target.index < slot.index)
    ) {
      // "which stock grew the most": the change is ranked.
      work.use(slot)
      work.ranking = {
        descending: operator.most !== work.all("Change").some(([, change]) => change.falls === true),
        slot
      }
      return
    }
    const [behind] = work.groups
    if (
      operator.top === true &&
      work.limit !== undefined &&
      !ranks &&
      target === undefined &&
      work.measures.length > 0 &&
      behind?._tag === "Field"
    ) {
      // "total gross by distributor, top 3"
      work.use(slot)
      work.ranking = { descending: operator.most, slot }
      work.target = true
      return
    }
    if (operator.concept === "time") {
      yield* readFirstOrLast(work, slot, operator.most)
      return
    }
    // "longest flipper length": the number says itself what is long.
    const named =
      target !== undefined &&
      isNumeric(target) &&
      work.after(slot, (other) => isGlue(other) || isModifier(work, other)) === target
    if (operator.concept !== undefined && !named) {
      const own = fieldsIn(slot).find((one) => one.strength === "exact" && isMeasure(one.facts))
      work.use(slot)
      if (own !== undefined && !work.rows) {
        addMeasure(work, declared(own.facts))
        if (ranks) work.ranking = { descending: operator.most, slot }
        return
      }
      const facts = yield* conceptField(work, slot, operator.concept, !operator.most)
      rankOrAggregate(work, slot, facts, operator.most, ranks)
      return
    }
    if (work.rows) {
      if (work.rankedBy && operator.judgement !== true) {
        work.use(slot)
        work.rowsRanked = operator.most
        return
      }
      yield* orderRows(work, slot, target, operator.most, operator.judgement === true)
      return
    }
    if (target === undefined || (doing(target, "Aggregate") === undefined && !isNear(work, slot, target))) {
      const entity = work.after(slot)
      if (entity !== undefined && isEntity(entity) && ranks) {
        work.use(slot, entity)
        addMeasure(work, rowCount(work.facts))
        work.ranking = { descending: operator.most, slot }
        return
      }
      if (work.rankedBy && target !== undefined && ranks) {
        work.use(slot)
        work.ranking = { descending: operator.most, slot }
        work.judged = operator.judgement === true
        return
      }
      if (ranks && work.measures.length > 0) {
        work.use(slot)
        work.ranking = { descending: operator.most, slot }
        work.judged = operator.judgement === true
        return
      }
      if (ranks && work.saidAt.size > 0 && target === undefined && entity === undefined) {
        // "which director made the most thrillers": the rows that the filters leave.
        work.use(slot)
        addMeasure(work, rowCount(work.facts))
        work.ranking = { descending: operator.most, slot }
        return
      }
      return yield* Result.fail<Problem>({
        _tag: "Incomplete",
        message: `I do not know by which number to find the “${slot.mention.text}”.`,
        alternatives: numbersOf(work)
      })
    }
    if (ranks) {
      work.judged = operator.judgement === true
      if (isNumeric(target) && !work.rankedBy) {
        yield* rankBy(work, slot, target, operator.most)
        return
      }
      work.use(slot)
      work.ranking = { descending: operator.most, slot }
      return
    }
    work.use(slot)
    if (doing(target, "Aggregate") !== undefined || doing(target, "Count") !== undefined) {
      work.outer = operator.most ? "maximum" : "minimum"
      return
    }
    if (operator.judgement === true) {
      const facts = candidates(target, isNumber)[0]
      const better = moreIsBetterFor(`${facts?.field.name ?? ""} ${target.mention.text}`)
      if (better === undefined) return yield* Result.fail<Problem>(judgementProblem(slot, target))
      yield* readAggregates(work, slot, [better === operator.most ? "maximum" : "minimum"])
      return
    }
    yield* readAggregates(work, slot, [operator.most ? "maximum" : "minimum"])
  })

const judgementProblem = (slot: Slot, target: Slot): Problem => ({
  _tag: "Ambiguous",
  words: slot.mention.text,
  alternatives: ["highest", "lowest"].map((word) => ({ label: `${word} ${target.mention.text}`, words: word }))
})

const isNear = (work: Work, slot: Slot, target: Slot): boolean =>
  work.slots.every(
    (other) =>
      other.index <= slot.index ||
      other.index >= target.index ||
      isGlue(other) ||
      other.mention.number !== undefined ||
      (other.used && !isEntity(other)) ||
      isEntity(other)
  )

/** Orders rows by the number that the superlative is about. */
const orderRows = (
  work: Work,
  slot: Slot,
  target: Slot | undefined,
  most: boolean,
  judgement: boolean
): Result.Result<void, Problem> =>
  Result.gen(function* () {
    if (target === undefined || !isNumeric(target)) {
      return yield* Result.fail<Problem>({
        _tag: "Incomplete",
        message: `I do not know by which number to find the “${slot.mention.text}”.`,
        alternatives: numbersOf(work)
      })
    }
    const number = yield* oneField(target, isNumber)
    const measure = number === undefined ? yield* oneField(target, isMeasure) : undefined
    const facts = number ?? (measure === undefined ? undefined : baseOf(work, measure))
    if (facts === undefined) {
      return yield* Result.fail<Problem>({
        _tag: "Incomplete",
        message: `“${target.mention.text}” is not a number of a single row.`,
        alternatives: numbersOf(work)
      })
    }
    const better = judgement ? moreIsBetterFor(`${facts?.field.name ?? ""} ${target.mention.text}`) : true
    if (better === undefined) return yield* Result.fail<Problem>(judgementProblem(slot, target))
    work.use(slot, target)
    work.order = { facts, descending: better === most }
  })

const rankOrAggregate = (work: Work, slot: Slot, facts: FieldFacts, most: boolean, ranks: boolean): void => {
  if (work.rows) {
    work.order = { facts, descending: most }
    return
  }
  if (!ranks) {
    addMeasure(work, aggregated(work.facts, most ? "maximum" : "minimum", facts))
    return
  }
  // A day is hottest by its highest temperature; a city may be by its average as well.
  const byTime = work.groups.some((group) => group._tag === "Grain" && group.grain === "day") || work.when !== undefined
  const extreme = aggregated(work.facts, most ? "maximum" : "minimum", facts)
  const usual = aggregated(work.facts, facts.nature === "additive" ? "total" : "average", facts)
  addMeasure(work, byTime ? extreme : usual)
  work.ranking = { descending: most, slot }
  if (!byTime) work.alternative = extreme
}

/** What else "the highest price" of a group may rank by: its single highest price, or its average. */
export const addAlternative = (work: Work, slot: Slot, measure: Measure, most: boolean): void => {
  const { expression } = measure
  const field =
    expression._tag === "Declared"
      ? baseOf(work, expression.facts)
      : expression._tag === "Aggregate"
        ? expression.facts
        : undefined
  if (field === undefined) return
  const kind =
    expression._tag === "Declared"
      ? expression.facts.kind
      : expression._tag === "Aggregate"
        ? expression.function
        : "unknown"
  if (kind === "maximum" || kind === "minimum") {
    const usual = byDefaultOrNothing(work, slot, field)
    if (usual !== undefined && usual.label !== measure.label) work.alternative = usual
  } else {
    work.alternative = aggregated(work.facts, most ? "maximum" : "minimum", field)
  }
}

const byDefaultOrNothing = (work: Work, slot: Slot, facts: FieldFacts): Measure | undefined =>
  Result.getOrUndefined(byDefault(work.facts, facts, slot))

/** "the latest film", "when was the first flight", "the earliest release date". */
const readFirstOrLast = (work: Work, slot: Slot, last: boolean): Result.Result<void, Problem> =>
  Result.gen(function* () {
    const target = work.after(slot)
    const field = target === undefined ? undefined : yield* oneField(target, (facts) => facts.time === "moment")
    if (field !== undefined && target !== undefined && !isEntity(target)) {
      work.use(slot, target)
      addMeasure(work, timeMeasure(field, last))
      return
    }
    const facts = yield* work.time(slot)
    if (work.rows) {
      work.use(slot)
      work.order = { facts, descending: last }
      return
    }
    if (target !== undefined && isEntity(target) && work.when !== undefined && facts.time === "moment") {
      work.use(slot, target)
      addMeasure(work, timeMeasure(facts, last))
      work.when = undefined
    }
  })
