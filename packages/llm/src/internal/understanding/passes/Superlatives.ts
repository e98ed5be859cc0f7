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
import type { Operator } from "../../language/Operator.ts"
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

/** A superlative with what surrounds it. */
interface Superlative {
  readonly work: Work
  readonly slot: Slot
  readonly operator: Operator & { readonly _tag: "Superlative" }
  /** The number behind it, or the words that make one: "average", "number of". */
  readonly target: Slot | undefined
  /** The question asks which groups or rows, so that it ranks; else it asks for the largest value. */
  readonly ranks: boolean
}

/** One way to read a superlative; whether it was that. */
type Way = (one: Superlative) => Result.Result<boolean, Problem>

const yes = Result.succeed(true)
const no = Result.succeed(false)

const rank = ({ operator, slot, work }: Superlative, descending = operator.most): void => {
  work.use(slot)
  work.ranking = { descending, slot }
}

/** "only the top 3", "what about the fewest?": of the ranking before. */
const ofTheRankingBefore: Way = (one) => {
  const { operator, slot, work } = one
  const bare = work.unused().every((other) => other === slot || isSoft(other) || isEntity(other))
  const before = work.fragment && (work.limit !== undefined || work.ranksBefore)
  if (!before || operator.concept !== undefined || work.measures.length > 0 || !bare) return no
  rank(one)
  work.rowsRanked = operator.most
  return yes
}

/** "the most common weather", "the busiest day". */
const byFrequency: Way = (one) => {
  const { operator, work } = one
  if (operator.frequency !== true) return no
  if (!work.target) return yes
  work.use(work.unused().find((other) => isEntity(other)))
  addMeasure(work, rowCount(work.facts))
  rank(one)
  return yes
}

/** "which stock grew the most": the change is ranked. */
const ofTheChange: Way = (one) => {
  const { operator, ranks, target, work } = one
  if (!work.has("Change") || operator.concept !== undefined || !ranks) return no
  if (target !== undefined && work.measures.length === 0) return no
  const falls = work.all("Change").some(([, change]) => change.falls === true)
  rank(one, operator.most !== falls)
  return yes
}

/** "total gross by distributor, top 3". */
const topOfGroups: Way = (one) => {
  const { operator, ranks, target, work } = one
  const [group] = work.groups
  const behind = work.limit !== undefined && work.measures.length > 0 && group?._tag === "Field"
  if (operator.top !== true || ranks || target !== undefined || !behind) return no
  rank(one)
  work.target = true
  return yes
}

const firstOrLast: Way = ({ operator, slot, work }) =>
  operator.concept === "time" ? Result.map(readFirstOrLast(work, slot, operator.most), () => true) : no

/** "the longest films", "the hottest city": by the number that measures the quality. */
const byQuality: Way = (one) => {
  const { operator, ranks, slot, target, work } = one
  // "longest flipper length": the number says itself what is long.
  const itself =
    target !== undefined &&
    isNumeric(target) &&
    work.after(slot, (other) => isGlue(other) || isModifier(work, other)) === target
  if (operator.concept === undefined || itself) return no
  const own = fieldsIn(slot).find((field) => field.strength === "exact" && isMeasure(field.facts))
  work.use(slot)
  if (own !== undefined && !work.rows) {
    addMeasure(work, declared(own.facts))
    if (ranks) rank(one)
    return yes
  }
  return Result.map(conceptField(work, slot, operator.concept, !operator.most), (facts) => {
    rankOrAggregate(work, slot, facts, operator.most, ranks)
    return true
  })
}

const ofRows: Way = ({ operator, slot, target, work }) => {
  if (!work.rows) return no
  if (work.rankedBy && operator.judgement !== true) {
    work.use(slot)
    work.rowsRanked = operator.most
    return yes
  }
  return Result.map(orderRows(work, slot, target, operator.most, operator.judgement === true), () => true)
}

/** No number stands behind it: rows are counted, or the number was named elsewhere. */
const withoutNumber: Way = (one) => {
  const { operator, ranks, slot, target, work } = one
  if (target !== undefined && (doing(target, "Aggregate") !== undefined || isNear(work, slot, target))) return no
  const entity = work.after(slot)
  if (ranks && entity !== undefined && isEntity(entity)) {
    work.use(entity)
    addMeasure(work, rowCount(work.facts))
    rank(one)
    return yes
  }
  if (ranks && (work.measures.length > 0 || (work.rankedBy && target !== undefined))) {
    rank(one)
    work.judged = operator.judgement === true
    return yes
  }
  if (ranks && work.saidAt.size > 0 && target === undefined && entity === undefined) {
    // "which director made the most thrillers": the rows that the filters leave.
    addMeasure(work, rowCount(work.facts))
    rank(one)
    return yes
  }
  return Result.fail({
    _tag: "Incomplete",
    message: `I do not know by which number to find the “${slot.mention.text}”.`,
    alternatives: numbersOf(work)
  })
}

const amongGroups: Way = (one) => {
  const { operator, ranks, slot, target, work } = one
  if (!ranks || target === undefined) return no
  work.judged = operator.judgement === true
  if (isNumeric(target) && !work.rankedBy) return Result.map(rankBy(work, slot, target, operator.most), () => true)
  rank(one)
  return yes
}

/** "the highest price", "the highest number of flights per day". */
const ofAll: Way = ({ operator, slot, target, work }) => {
  if (target === undefined) return no
  work.use(slot)
  if (doing(target, "Aggregate") !== undefined || doing(target, "Count") !== undefined) {
    work.outer = operator.most ? "maximum" : "minimum"
    return yes
  }
  const [facts] = candidates(target, isNumber)
  const better =
    operator.judgement === true ? moreIsBetterFor(`${facts?.field.name ?? ""} ${target.mention.text}`) : true
  if (better === undefined) return Result.fail(judgementProblem(slot, target))
  return Result.map(readAggregates(work, slot, [better === operator.most ? "maximum" : "minimum"]), () => true)
}

/** The ways to read a superlative, in the order in which they are tried. */
const ways: ReadonlyArray<Way> = [
  ofTheRankingBefore,
  byFrequency,
  ofTheChange,
  topOfGroups,
  firstOrLast,
  byQuality,
  ofRows,
  withoutNumber,
  amongGroups,
  ofAll
]

/** Reads a superlative the first way that fits. */
export const readSuperlative = (work: Work, slot: Slot): Result.Result<void, Problem> =>
  Result.gen(function* () {
    const operator = doing(slot, "Superlative")
    // "shortest and longest": one order is shown at a time.
    const ordered = work.order !== undefined || work.ranking !== undefined || work.rowsRanked !== undefined
    if (operator === undefined || ordered) return
    const makesNumber = (other: Slot): boolean =>
      isNumeric(other) || (["Aggregate", "Count", "HowMuch"] as const).some((tag) => doing(other, tag) !== undefined)
    const one: Superlative = {
      work,
      slot,
      operator,
      target: work.unused().find((other) => other.index > slot.index && !isModifier(work, other) && makesNumber(other)),
      ranks: work.target || work.rows || work.when !== undefined || (work.fragment && work.limit !== undefined)
    }
    for (const way of ways) if (yield* way(one)) return
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
