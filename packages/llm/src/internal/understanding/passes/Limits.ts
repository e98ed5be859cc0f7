/**
 * Pass: numbers with a limit become filters on rows (`delay over 60 minutes`) or conditions on groups (`airports with
 * more than 1,000 flights`); a number before a ranked thing says how many are wanted.
 */
import type { Relation } from "../../language/Operator.ts"
import { alternativeOf } from "../Alternatives.ts"
import { aggregated, candidates, declared, isCategory, isMeasure, isNumber, rowCount } from "../Measuring.ts"
import type { Problem } from "../Problem.ts"
import { type Slot, type Work, doing, isEntity, isGlue } from "../Work.ts"
import { type Limit, fits, inUnitOf, unitFor } from "./Limit.ts"
import { subjectOf, words } from "./LimitSubject.ts"
import * as Result from "effect/Result"

/** `top 5`, `5 highest`, `which 5 airports have the most`: how many of a ranking are wanted. */
export const readCounts = (work: Work): void => {
  const superlatives = work.all("Superlative").map(([slot]) => slot)
  if (superlatives.length === 0) return
  for (const slot of work.unused()) {
    const value = slot.mention.number?.value
    if (value === undefined || !Number.isInteger(value) || value < 1 || value > 1000) continue
    if (slot.mention.number?.currency !== undefined || slot.mention.number?.percent === true) continue
    const previous = work.previous(slot)
    const next = work.next(slot)
    const ranked =
      superlatives.includes(previous ?? slot) ||
      superlatives.includes(next ?? slot) ||
      (doing(previous, "Comparator") === undefined &&
        next !== undefined &&
        (isEntity(next) || candidates(next, isCategory).length > 0) &&
        doing(previous, "Between") === undefined)
    if (!ranked) continue
    work.limit = value
    work.use(slot)
    return
  }
}

/** Reads every number that limits something. */
export const readLimits = (work: Work): Result.Result<void, Problem> =>
  Result.gen(function* () {
    for (const slot of work.unused()) {
      if (slot.used) continue
      const limit = limitAt(work, slot)
      if (limit === undefined) continue
      yield* attach(work, limit)
    }
  })

const limitAt = (work: Work, slot: Slot): Limit | undefined => {
  const { number, time } = slot.mention
  if (time !== undefined && time.bare && time.expression._tag === "Period" && time.expression.ends !== undefined) {
    return yearsAsNumbers(work, slot)
  }
  if (number === undefined) return undefined
  const previous = work.previous(slot)
  if (previous?.used === true && doing(previous, "Comparator") !== undefined) return undefined
  const unitAt = work.next(slot)
  const unit = unitFor(number.currency, number.percent, unitAt)
  let last =
    unit !== undefined && number.currency === undefined && !number.percent && unitAt !== undefined ? unitAt : slot
  const next = work.next(last)
  if (doing(previous, "Between") !== undefined) {
    const and = next
    const second = and === undefined ? undefined : work.next(and)
    const to = second?.mention.number?.value
    if (and === undefined || second === undefined || to === undefined || doing(and, "And") === undefined)
      return undefined
    const secondUnit = unitFor(
      second.mention.number?.currency,
      second.mention.number?.percent ?? false,
      work.next(second)
    )
    const unitSlot = work.next(second)
    if (secondUnit !== undefined && second.mention.number?.currency === undefined && unitSlot !== undefined)
      last = unitSlot
    else last = second
    work.use(and, second)
    return {
      slot,
      relation: ">=",
      comparator: previous,
      concept: undefined,
      unit: secondUnit ?? unit,
      value: number.value,
      to,
      last
    }
  }
  const comparator = doing(previous, "Comparator")
  const afterwards = doing(next, "ComparatorAfter")
  if (comparator !== undefined) {
    return {
      slot,
      relation: comparator.relation,
      comparator: previous,
      concept: comparator.concept,
      unit,
      value: number.value,
      to: undefined,
      last
    }
  }
  if (afterwards !== undefined && next !== undefined) {
    return {
      slot,
      relation: afterwards.relation,
      comparator: next,
      concept: undefined,
      unit,
      value: number.value,
      to: undefined,
      last: next
    }
  }
  // "8 cylinders", "rating of 8": a plain number beside a number field means exactly that number.
  const left = work.before(slot)
  const right = work.next(last)
  const beside = [right, left].find(
    (one) =>
      one !== undefined &&
      !one.used &&
      candidates(one, isNumber).length > 0 &&
      (one === right || one.index >= slot.index - 2)
  )
  if (beside === undefined || time !== undefined) return undefined
  return {
    slot,
    relation: "=",
    comparator: undefined,
    concept: undefined,
    unit,
    value: number.value,
    to: undefined,
    last
  }
}

/** "votes between 1000 and 2000": what reads like years is numbers behind a number field. */
const yearsAsNumbers = (work: Work, slot: Slot): Limit | undefined => {
  const left = work.before(slot)
  const { time } = slot.mention
  if (left === undefined || left.index < slot.index - 2 || candidates(left, isNumber).length === 0) return undefined
  if (time?.expression._tag !== "Period" || time.expression.ends === undefined) return undefined
  const [from, to] = time.expression.ends
  if (isInTheData(work, from.from, to.from)) return undefined
  return {
    slot,
    relation: ">=",
    comparator: undefined,
    concept: undefined,
    unit: undefined,
    value: Number(from.from?.slice(0, 4)),
    to: Number(to.from?.slice(0, 4)),
    last: slot
  }
}

/** Whether years lie where the data do: then they are years. */
const isInTheData = (work: Work, from: string | undefined, to: string | undefined): boolean => {
  const time = work.timeField ?? work.facts.time
  if (time === undefined) return false
  const range = time.field.timeRange
  if (range === undefined || from === undefined || to === undefined) return true
  return (
    from.slice(0, 4) <= range.last.slice(0, 4) &&
    to.slice(0, 4) >= range.first.slice(0, 4) &&
    Number(from.slice(0, 4)) >= Number(range.first.slice(0, 4)) - 100
  )
}

const attach = (work: Work, limit: Limit): Result.Result<void, Problem> =>
  Result.gen(function* () {
    const start =
      limit.comparator !== undefined && limit.comparator.index < limit.slot.index ? limit.comparator : limit.slot
    const left = work.before(start)
    const right = nearRight(work, limit.last)
    const leftIsNear = left !== undefined && left.index >= start.index - 2
    // "with at least 5 films" looks ahead, "a rating of at least 5" looks back.
    const looksAhead =
      /^(?:with|having|has|have|had|that have|that has|which have|who have|that had|made|in|among)$/.test(
        work.previous(start)?.mention.text.toLowerCase() ?? ""
      )
    const subject = yield* subjectOf(work, limit, leftIsNear ? left : undefined, right, looksAhead)
    if (subject === undefined) {
      const numbers = work.facts.fields.filter((facts) => isNumber(facts) && fits(facts, limit.unit))
      // A bare year that limits nothing is left for time; anything else cannot be left.
      if (limit.comparator === undefined) return
      return yield* Result.fail<Problem>({
        _tag: "Incomplete",
        message: `I do not know what “${words(work, start, limit.last)}” limits.`,
        alternatives: numbers.slice(0, 6).map(alternativeOf)
      })
    }
    work.use(limit.comparator, limit.slot, limit.last, ...between(work, limit.slot, limit.last))
    if (subject._tag === "Rows") {
      work.use(subject.slot)
      work.having.push({ measure: rowCount(work.facts), relation: limit.relation, value: limit.value })
      return
    }
    const { facts, slot } = subject
    const aggregate = slot === undefined ? undefined : work.previous(slot)
    const name = doing(aggregate, "Aggregate")
    const value = yield* inUnitOf(facts, limit, limit.value)
    work.use(slot)
    if (isMeasure(facts) || (name !== undefined && aggregate?.used === false && subject.side === "left")) {
      if (name !== undefined) work.use(aggregate)
      const measure =
        isMeasure(facts) || name === undefined ? declared(facts) : aggregated(work.facts, name.function, facts)
      work.having.push({ measure, relation: limit.relation, value })
      if (limit.to !== undefined)
        work.having.push({ measure, relation: "<=", value: yield* inUnitOf(facts, limit, limit.to) })
      return
    }
    const negation = work.previous(start)
    const negated = doing(negation, "Negation") !== undefined && negation?.used === false
    if (negated) work.use(negation)
    if (limit.to !== undefined) {
      const to = yield* inUnitOf(facts, limit, limit.to)
      work.addFilter({ _tag: "Range", facts, from: value, to, negated }, limit.slot)
      return
    }
    const relation = negated ? opposite[limit.relation] : limit.relation
    work.addFilter({ _tag: "Compare", facts, relation, value }, limit.slot)
  })

const opposite: Readonly<Record<Relation, Relation>> = {
  ">": "<=",
  ">=": "<",
  "<": ">=",
  "<=": ">",
  "=": "!=",
  "!=": "="
}

const between = (work: Work, from: Slot, to: Slot): ReadonlyArray<Slot> =>
  work.slots.filter((slot) => slot.index > from.index && slot.index < to.index)

const nearRight = (work: Work, last: Slot): Slot | undefined => {
  const next = work.next(last)
  if (next === undefined || next.used) return undefined
  if (!isGlue(next) || doing(next, "And") !== undefined) return next
  const further = work.next(next)
  return further?.used === true ? undefined : further
}
