/**
 * Pass: forms that take two numbers (`the relationship between budget and gross`, `the ratio of deaths to cases`) or
 * the spread of one (`the distribution of ratings`).
 */
import * as Result from "effect/Result"
import { alternativeOf } from "../Alternatives.ts"
import {
  aggregated,
  candidates,
  declared,
  isCategory,
  isMeasure,
  isNumber,
  lowerFirst,
  oneField,
  rowCount
} from "../Measuring.ts"
import type { FieldFacts } from "../Facts.ts"
import type { Problem } from "../Problem.ts"
import type { Measure } from "../../plan/Plan.ts"
import { doing, isEntity, isGlue, type Slot, type Work } from "../Work.ts"
import { addGroup, isDiscrete } from "./Groups.ts"

const isNumberSlot = (slot: Slot): boolean => candidates(slot, isNumber).length > 0

const numbers = (work: Work) =>
  work.facts.fields
    .filter((facts) => isNumber(facts) && facts.path.length === 0)
    .slice(0, 8)
    .map(alternativeOf)

/** Reads relationships, distributions and ratios. */
export const readPairs = (work: Work): Result.Result<void, Problem> =>
  Result.gen(function* () {
    for (const [slot] of work.all("Relationship")) yield* readRelationship(work, slot)
    for (const [slot] of work.all("Distribution")) yield* readDistribution(work, slot)
    for (const [slot] of [...work.all("Ratio"), ...work.all("DividedBy")]) yield* readRatio(work, slot)
    if (work.scatter === undefined && !work.has("Share")) yield* readVersus(work)
  })

const readRelationship = (work: Work, slot: Slot): Result.Result<void, Problem> =>
  Result.gen(function* () {
    if (work.scatter !== undefined || work.statistic !== undefined) {
      work.use(slot)
      return
    }
    const found = work.unused().filter(isNumberSlot)
    const fields: Array<FieldFacts> = []
    for (const one of found) {
      const facts = yield* oneField(one, isNumber)
      if (facts !== undefined && !fields.includes(facts)) fields.push(facts)
    }
    const [x, y] = fields
    if (fields.length > 2) {
      work.use(slot, ...found, ...work.unused().filter((one) => isEntity(one)))
      work.statistic = { kind: "correlation", columns: fields }
      return
    }
    if (x === undefined || y === undefined) {
      return yield* Result.fail<Problem>({
        _tag: "Incomplete",
        message:
          "A relationship takes two numbers of the same rows; I found " + (fields.length === 0 ? "none." : "one."),
        alternatives: numbers(work)
      })
    }
    work.use(slot, ...found, ...work.unused().filter((one) => isEntity(one)))
    work.scatter = [x, y]
  })

/** "budget vs gross" are two numbers against each other, not two values to compare. */
const readVersus = (work: Work): Result.Result<void, Problem> =>
  Result.gen(function* () {
    for (const [slot] of work.all("Versus")) {
      const left = work.before(slot)
      const right = work.after(slot)
      if (left === undefined || right === undefined || !isNumberSlot(left) || !isNumberSlot(right)) continue
      if (
        !/^(?:vs|versus|against)$/.test(slot.mention.text.toLowerCase()) ||
        work.groups.length > 0 ||
        work.has("GroupBy") ||
        work.has("Aggregate")
      )
        continue
      const x = yield* oneField(left, isNumber)
      const y = yield* oneField(right, isNumber)
      if (x === undefined || y === undefined || x === y) continue
      work.use(slot, left, right, ...work.unused().filter((one) => isEntity(one)))
      work.scatter = [x, y]
      return
    }
  })

const readDistribution = (work: Work, slot: Slot): Result.Result<void, Problem> =>
  Result.gen(function* () {
    const target =
      work.after(slot, (other) => isGlue(other) || (isEntity(other) && !isNumberSlot(other))) ?? work.before(slot)
    if (target === undefined) return
    if (isNumberSlot(target)) {
      const facts = yield* oneField(target, isNumber)
      if (facts === undefined) return
      addGroup(work, isDiscrete(facts) ? { _tag: "Field", facts } : { _tag: "Bins", facts }, target)
    } else if (candidates(target, isCategory).length > 0) {
      const facts = yield* oneField(target, isCategory)
      if (facts === undefined) return
      addGroup(work, { _tag: "Field", facts }, target)
    } else {
      return
    }
    work.use(slot, ...work.unused().filter((one) => isEntity(one)))
    work.measures.push(rowCount(work.facts))
  })

/** One side of a ratio: a declared measure, a total, or the number of rows. */
const side = (work: Work, slot: Slot): Result.Result<Measure | undefined, Problem> =>
  Result.gen(function* () {
    if (isNumberSlot(slot)) {
      const facts = yield* oneField(slot, isNumber)
      if (facts !== undefined) return aggregated(work.facts, "total", facts)
    }
    if (candidates(slot, isMeasure).length > 0) {
      const facts = yield* oneField(slot, isMeasure)
      if (facts !== undefined) return declared(facts)
    }
    return isEntity(slot) ? rowCount(work.facts) : undefined
  })

const readRatio = (work: Work, slot: Slot): Result.Result<void, Problem> =>
  Result.gen(function* () {
    const dividing = doing(slot, "DividedBy") !== undefined
    const isSide = (other: Slot): boolean =>
      candidates(other, (facts) => isNumber(facts) || isMeasure(facts)).length > 0 || isEntity(other)
    const before = work.unused().filter((other) => other.index < slot.index && isSide(other))
    const after = work.unused().filter((other) => other.index > slot.index && isSide(other))
    const first = dividing ? before.at(-1) : after[0]
    const second = dividing ? after[0] : after[1]
    if (first === undefined || second === undefined) return
    const totals = work
      .unused()
      .filter((other) => doing(other, "Aggregate")?.function === "total" && other.index < second.index)
    const numerator = yield* side(work, first)
    const denominator = yield* side(work, second)
    if (numerator === undefined || denominator === undefined) return
    const percent = /%|percent|share|proportion|fraction/.test(slot.mention.text.toLowerCase())
    if (percent) return
    work.use(slot, first, second, ...totals)
    work.measures.push({
      expression: { _tag: "Ratio", numerator: numerator.expression, denominator: denominator.expression },
      label: `ratio of ${lowerFirst(numerator.label)} to ${lowerFirst(denominator.label)}`,
      unit: undefined,
      summable: false
    })
  })
