/**
 * Pass: averages, totals and their like, of the number that follows them or stands before them.
 */
import type { AggregateFunction } from "../../language/Operator.ts"
import type { Measure } from "../../plan/Plan.ts"
import { aggregated, candidates, isMeasure, isNumber, measured, oneField, rowCount } from "../Measuring.ts"
import type { Problem } from "../Problem.ts"
import { type Slot, type Work, doing, isEntity, isGlue } from "../Work.ts"
import { readCount } from "./Counts.ts"
import {
  addMeasure,
  conceptField,
  isModifier,
  isNumeric,
  isNumericName,
  numbersOf,
  timeMeasure
} from "./NumberWords.ts"
import * as Result from "effect/Result"

export const readAggregate = (work: Work, slot: Slot): Result.Result<void, Problem> =>
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
export const readAggregates = (
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

export const aggregatesAt = (
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

export const readConcept = (work: Work, slot: Slot): Result.Result<void, Problem> =>
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
