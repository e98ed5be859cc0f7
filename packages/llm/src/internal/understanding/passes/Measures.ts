/**
 * Pass: what is counted, summed, averaged or ranked.
 */
import * as Result from "effect/Result"
import type { AggregateFunction } from "../../language/Operator.ts"
import { phraseKey } from "../../language/Words.ts"
import type { Measure } from "../../plan/Plan.ts"
import { alternativeOf } from "../Alternatives.ts"
import { type FieldFacts, nameOf } from "../Facts.ts"
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
  moreIsBetterFor,
  oneField,
  rowCount
} from "../Measuring.ts"
import type { Problem } from "../Problem.ts"
import { doing, fieldsIn, isEntity, isGlue, isSoft, type Slot, type Work } from "../Work.ts"
import { impliedRank } from "./Groups.ts"
import { fieldsOfConcept } from "./Limits.ts"

/** Adds a measure once. */
const addMeasure = (work: Work, measure: Measure): void => {
  if (!work.measures.some((known) => known.label === measure.label)) work.measures.push(measure)
}

const isNumeric = (slot: Slot | undefined): boolean =>
  slot !== undefined && !slot.used && candidates(slot, (facts) => isNumber(facts) || isMeasure(facts)).length > 0

/** "flight distance", "movie budget": the rows' own name in front of their number only says whose it is. */
const isModifier = (work: Work, slot: Slot): boolean => {
  const next = work.next(slot)
  return isEntity(slot) && next !== undefined && !next.used && candidates(next, isNumber).length > 0
}

/** Reads every measure in the order of the question. */
export const readMeasures = (work: Work): Result.Result<void, Problem> =>
  Result.gen(function* () {
    yield* readTrailingSuperlative(work)
    for (const slot of work.unused()) {
      if (slot.used) continue
      if (doing(slot, "Count") !== undefined && !isNumericName(slot)) yield* readCount(work, slot)
      else if (doing(slot, "HowMuch") !== undefined) yield* readHowMuch(work, slot)
      else if (doing(slot, "Extent") !== undefined) yield* readAggregates(work, slot, ["minimum", "maximum"])
      else if (doing(slot, "Aggregate") !== undefined) yield* readAggregate(work, slot)
      else if (doing(slot, "Superlative") !== undefined && !isNumericName(slot)) yield* readSuperlative(work, slot)
      else if (isNumeric(slot) && !isJustRows(work, slot)) yield* readBare(work, slot)
      else if (doing(slot, "Superlative") !== undefined) yield* readSuperlative(work, slot)
      else if (doing(slot, "Concept") !== undefined) yield* readConcept(work, slot)
    }
  })

/** A word of the grammar that the model declares as a number's own name. */
const isNumericName = (slot: Slot): boolean =>
  fieldsIn(slot).some((one) => one.strength === "exact" && (isNumber(one.facts) || isMeasure(one.facts)))

/** "when was the price highest": the number stands before what ranks by it. */
const readTrailingSuperlative = (work: Work): Result.Result<void, Problem> =>
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

/** "of flights", "for films": the rows by their name, beside another number that is asked for. */
const isJustRows = (work: Work, slot: Slot): boolean => {
  if (!isEntity(slot) || candidates(slot, isNumber).length > 0) return false
  if (isModifier(work, slot)) return true
  const before = work.previous(slot)
  const ranked = doing(before, "GroupBy") !== undefined || doing(before, "Superlative") !== undefined
  if (work.fragment && !ranked && doing(before, "And") === undefined) return true
  if (ranked || (doing(before, "And") !== undefined && work.measures.length > 0)) return false
  return (
    work.measures.length > 0 ||
    work
      .unused()
      .some(
        (other) =>
          other !== slot &&
          other.index > slot.index &&
          (doing(other, "Aggregate") !== undefined || (isNumeric(other) && !isEntity(other)))
      )
  )
}

/** Words between "how many" and what is counted that do not change it. */
const isPassed = (slot: Slot): boolean =>
  isGlue(slot) || doing(slot, "Distinct") !== undefined || doing(slot, "Aggregate")?.function === "total"

const readCount = (work: Work, slot: Slot): Result.Result<void, Problem> =>
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

const readHowMuch = (work: Work, slot: Slot): Result.Result<void, Problem> =>
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

const readAggregate = (work: Work, slot: Slot): Result.Result<void, Problem> =>
  Result.gen(function* () {
    const names: Array<AggregateFunction> = []
    let at: Slot | undefined = slot
    let last = slot
    while (at !== undefined) {
      const operator = doing(at, "Aggregate")
      if (operator === undefined || at.used) break
      names.push(operator.function)
      last = at
      const next = work.next(at)
      at = doing(next, "And") !== undefined && next !== undefined ? work.next(next) : next
    }
    for (const other of work.slots) if (other.index >= slot.index && other.index <= last.index) work.use(other)
    yield* readAggregates(work, last, names)
  })

/** Aggregates of the number that follows (or precedes): "minimum and maximum price", "price on average". */
const readAggregates = (
  work: Work,
  slot: Slot,
  names: ReadonlyArray<AggregateFunction>
): Result.Result<void, Problem> =>
  Result.gen(function* () {
    work.use(slot)
    let target = work.after(
      slot,
      (other) => isGlue(other) || (isEntity(other) && !isNumeric(other)) || isModifier(work, other)
    )
    const [name] = names
    if (name !== undefined && names.length === 1 && target !== undefined) {
      // "average number of flights per day": the days' counts in one figure.
      const counting = doing(target, "Count") !== undefined && !isNumericName(target)
      const entity = work.after(slot)
      const countable =
        entity !== undefined &&
        (isEntity(entity) || (isNumeric(entity) && candidates(entity, isMeasure).some((one) => one.kind === "count")))
      const isCountMeasure = countable && candidates(target, isNumber).length === 0
      if (counting || (isCountMeasure && name !== "total")) {
        if (name !== "total") work.outer = name
        if (counting) yield* readCount(work, target)
        else {
          work.use(entity)
          const measure = entity === undefined ? undefined : yield* measured(work.facts, entity, undefined)
          addMeasure(work, measure ?? rowCount(work.facts))
        }
        return
      }
    }
    if (name === "average" && names.length === 1 && target !== undefined && addsUpPerStep(work, target)) {
      // "average monthly rainfall": the months' totals in one figure, not the average of the days for each month.
      const total = yield* measured(work.facts, target, "total")
      if (total !== undefined) {
        work.outer = name
        work.use(target)
        addMeasure(work, total)
        return
      }
    }
    if (!isNumeric(target) && doing(target, "Concept") === undefined && name !== undefined) target = work.before(slot)
    if (target === undefined || target.used) {
      // "in total", behind a count or a sum, says nothing more.
      if (name === "total" && work.measures.length > 0) return
      const [measure] = work.measures
      if (name === "average" && work.groups.length > 0 && measure?.summable === true && names.length === 1) {
        work.outer = name
        return
      }
      return yield* Result.fail<Problem>({
        _tag: "Incomplete",
        message: `I do not know what to take the “${slot.mention.text}” of.`,
        alternatives: numbersOf(work)
      })
    }
    const skipped = work.slots.filter(
      (other) => other.index > slot.index && other.index < target.index && isEntity(other)
    )
    work.use(...skipped)
    let at: Slot | undefined = target
    while (at !== undefined && !at.used) {
      const found = yield* aggregatesAt(work, at, names)
      if (!found) break
      const next: Slot | undefined = work.next(at)
      const beyond: Slot | undefined =
        next === undefined || doing(next, "And") === undefined ? undefined : work.next(next)
      at = beyond !== undefined && isNumeric(beyond) ? beyond : undefined
    }
    if (!target.used) {
      return yield* Result.fail<Problem>({
        _tag: "Incomplete",
        message: `I cannot take the “${slot.mention.text}” of “${target.mention.text}”.`,
        alternatives: numbersOf(work)
      })
    }
  })

/** Whether a number that adds up is asked for per step of time, and by nothing else. */
const addsUpPerStep = (work: Work, target: Slot): boolean => {
  const numbers = candidates(target, isNumber)
  const [group] = work.groups
  return (
    work.perStep &&
    work.groups.length === 1 &&
    group?._tag === "Grain" &&
    numbers.length > 0 &&
    numbers.every((facts) => facts.nature === "additive")
  )
}

const aggregatesAt = (
  work: Work,
  slot: Slot,
  names: ReadonlyArray<AggregateFunction>
): Result.Result<boolean, Problem> =>
  Result.gen(function* () {
    for (const name of names) {
      const concept = doing(slot, "Concept")
      const measure =
        concept !== undefined && !isNumeric(slot)
          ? aggregated(work.facts, name, yield* conceptField(work, slot, concept.concept, name === "minimum"))
          : ((yield* measured(work.facts, slot, name)) ?? (yield* timeAggregate(slot, name)))
      if (measure === undefined) return false
      addMeasure(work, measure)
    }
    work.use(slot)
    return true
  })

/** The earliest or latest of a time field. */
const timeAggregate = (slot: Slot, name: AggregateFunction): Result.Result<Measure | undefined, Problem> =>
  Result.map(
    oneField(slot, (facts) => facts.time === "moment" && (name === "maximum" || name === "minimum")),
    (facts) => (facts === undefined ? undefined : timeMeasure(facts, name === "maximum"))
  )

/** The first or last moment of a time field. */
export const timeMeasure = (facts: FieldFacts, last: boolean): Measure => ({
  expression: { _tag: "Aggregate", function: last ? "maximum" : "minimum", facts },
  label: `${last ? "last" : "first"} ${nameOf(facts).toLowerCase()}`,
  unit: undefined,
  summable: false
})

const numbersOf = (work: Work) =>
  work.facts.fields
    .filter((facts) => isNumber(facts) && facts.path.length === 0)
    .slice(0, 8)
    .map(alternativeOf)

/** The one number field that measures a quality. */
const conceptField = (work: Work, slot: Slot, concept: string, least: boolean): Result.Result<FieldFacts, Problem> => {
  const named = candidates(slot, isNumber)
  const own = fieldsOfConcept(work.facts, concept).filter((facts) => facts.path.length === 0)
  const extreme = own.filter((facts) => facts.extreme === (least ? "minimum" : "maximum"))
  const found = named.length > 0 ? named : own.length > 1 && extreme.length > 0 ? extreme : own
  const [only] = found
  return only !== undefined && found.length === 1
    ? Result.succeed(only)
    : Result.fail(
        found.length > 1
          ? { _tag: "Ambiguous", words: slot.mention.text, alternatives: found.map(alternativeOf) }
          : {
              _tag: "Incomplete",
              message: `I do not know which number “${slot.mention.text}” is about.`,
              alternatives: numbersOf(work)
            }
      )
}

const readConcept = (work: Work, slot: Slot): Result.Result<void, Problem> =>
  Result.gen(function* () {
    const operator = doing(slot, "Concept")
    if (operator === undefined || !/^how/i.test(slot.mention.text)) return
    const facts = yield* conceptField(work, slot, operator.concept, false)
    const aggregate = work.all("Aggregate").find(([other]) => other.index > slot.index)
    work.use(slot)
    const name = aggregate?.[1].function ?? "average"
    if (aggregate !== undefined) work.use(aggregate[0])
    addMeasure(work, aggregated(work.facts, name, facts))
  })

const readBare = (work: Work, slot: Slot): Result.Result<void, Problem> =>
  Result.gen(function* () {
    if (work.rows) {
      yield* readColumn(work, slot)
      return
    }
    const aggregate = work.next(slot)
    const behind = doing(aggregate, "Aggregate")
    if (behind !== undefined && aggregate?.used === false && !isNumeric(work.after(aggregate))) {
      work.use(aggregate)
      yield* aggregatesAt(work, slot, [behind.function])
      return
    }
    // "the distance of late flights": a second number behind "of" says of which rows, which a number cannot.
    const before = work.previous(slot)?.mention.text.toLowerCase() ?? ""
    if (work.measures.length > 0 && /^(?:of|for|in|among|from|to|on|at)$/.test(before)) return
    const rank = impliedRank(slot)
    const measure = yield* measured(work.facts, slot, undefined)
    if (measure === undefined) return
    work.use(slot)
    addMeasure(work, measure)
    if (rank !== undefined && (work.target || work.when !== undefined)) {
      work.ranking ??= { descending: rank.descending, slot }
      addAlternative(work, slot, measure, rank.descending)
    }
  })

/** The number field behind a declared measure: the price behind the highest price. */
const baseOf = (work: Work, measure: FieldFacts): FieldFacts | undefined => {
  const bases = new Set(measure.bases.map(phraseKey))
  return work.facts.fields.find(
    (facts) =>
      isNumber(facts) &&
      facts.path.join(" ") === measure.path.join(" ") &&
      facts.phrases.some((phrase) => bases.has(phraseKey(phrase)))
  )
}

/** A number beside rows: a column of the listing, or what they are ordered by. */
const readColumn = (work: Work, slot: Slot): Result.Result<void, Problem> =>
  Result.gen(function* () {
    const rank = impliedRank(slot)
    const number = yield* oneField(slot, isNumber)
    const measure = number === undefined ? yield* oneField(slot, isMeasure) : undefined
    const facts = number ?? (measure === undefined ? undefined : baseOf(work, measure))
    if (facts === undefined) {
      return yield* Result.fail<Problem>({
        _tag: "Incomplete",
        message: `“${slot.mention.text}” is not a number of a single row.`,
        alternatives: numbersOf(work)
      })
    }
    work.use(slot)
    work.columns.push(facts)
    if (rank !== undefined) work.order = { facts, descending: rank.descending }
  })

const readSuperlative = (work: Work, slot: Slot): Result.Result<void, Problem> =>
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
const addAlternative = (work: Work, slot: Slot, measure: Measure, most: boolean): void => {
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

/** Whether a field of text may be shown beside rows. */
export const readCategoryColumns = (work: Work): Result.Result<void, Problem> =>
  Result.gen(function* () {
    if (!work.rows) return
    for (const slot of work.unused()) {
      if (candidates(slot, (facts) => isCategory(facts) || facts.time !== undefined).length === 0) continue
      const facts = yield* oneField(slot, (one) => isCategory(one) || one.time !== undefined)
      if (facts === undefined) continue
      work.use(slot)
      work.columns.push(facts)
    }
  })
