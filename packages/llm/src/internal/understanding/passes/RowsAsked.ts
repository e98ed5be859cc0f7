/**
 * Pass: whether the question asks for rows themselves (`the ten longest films`, `films by this director`) rather than
 * for numbers over them.
 */
import * as Result from "effect/Result"
import { candidates, isCategory, isMeasure, isNumber } from "../Measuring.ts"
import { doing, isEntity, isGlue, type Slot, valuesIn, type Work } from "../Work.ts"
import { describesNext, impliedRank } from "./Groups.ts"

/** A look at the data that tells whether each row has a name of its own. */
export interface Census {
  readonly _tag: "Census"
  readonly source: string
  readonly field: string
}

const sums = [
  "Count",
  "HowMuch",
  "Share",
  "Trend",
  "Distribution",
  "Relationship",
  "Change",
  "Ratio",
  "DividedBy"
] as const

/** Decides whether rows are asked for; asks for a census where only the data can tell. */
export const readRowsAsked = (work: Work): Result.Result<void, Census> => {
  if (work.scatter !== undefined || work.measures.length > 0 || work.groups.length > 0) return Result.succeed(undefined)
  if (sums.some((tag) => work.has(tag))) return Result.succeed(undefined)
  const entity = work
    .unused()
    .find(
      (slot) =>
        isEntity(slot) &&
        doing(slot, "Grain") === undefined &&
        doing(slot, "Part") === undefined &&
        !describesNext(work, slot)
    )
  const named = entity === undefined ? [] : candidates(entity, isCategory)
  // "the stock with the lowest volatility": a stock is many rows, by their symbol.
  if (named.length > 0 && !named.some((facts) => work.facts.names.includes(facts))) return Result.succeed(undefined)
  const noun = entity === undefined ? rankedValue(work) : undefined
  if (groupsFollow(work) || (entity === undefined ? noun === undefined : !asksForRows(work, entity)))
    return Result.succeed(undefined)
  const [name] = work.facts.names
  const isKey = name !== undefined && name.field.name === work.facts.source.primaryKey
  if (name !== undefined && !isKey) {
    if (work.rowsAreNamed === undefined)
      return Result.fail({ _tag: "Census", source: work.facts.source.name, field: name.field.name })
    if (!work.rowsAreNamed) {
      // The same name on many rows: "which country" is a group of rows, not a row.
      const [own] = entity === undefined ? [] : candidates(entity, isCategory)
      work.groups.push({ _tag: "Field", facts: own ?? name })
      work.use(entity)
      work.target = true
      return Result.succeed(undefined)
    }
  }
  work.rows = true
  work.target = true
  work.use(entity)
  return Result.succeed(undefined)
}

/** "the highest grossing comedy", "the longest drama": a value that stands for the rows that have it. */
const rankedValue = (work: Work): Slot | undefined =>
  work.facts.names.length === 0
    ? undefined
    : work.slots.find((slot) => {
        if (!slot.used || valuesIn(slot).length === 0) return false
        const before = work.previous(slot)
        if (before === undefined || before.used) return false
        const special = doing(before, "Superlative")
        if (special !== undefined)
          return special.concept !== undefined || special.judgement === true || special.top === true
        if (impliedRank(before) !== undefined) return true
        const further = work.previous(before)
        return (
          candidates(before, isNumber).length > 0 &&
          doing(further, "Superlative") !== undefined &&
          further?.used === false
        )
      })

/** Whether the question groups by something that is not a number to rank by. */
const groupsFollow = (work: Work): boolean =>
  work.all("Grain").some(([, operator]) => operator.adverb) ||
  work.all("GroupBy").some(([slot, operator]) => {
    const target = work.after(slot)
    if (target === undefined) return false
    if (!operator.agent) return true
    return (
      candidates(target, (facts) => isNumber(facts) || isMeasure(facts)).length === 0 &&
      doing(target, "Aggregate") === undefined
    )
  })

const asksForRows = (work: Work, entity: Slot): boolean => {
  for (let index = entity.index - 1; index >= 0; index--) {
    const slot = work.slots[index]
    if (slot === undefined) break
    if (doing(slot, "Which") !== undefined || doing(slot, "List") !== undefined)
      return !measuresBetween(work, slot, entity)
    const superlative = doing(slot, "Superlative")
    if (superlative !== undefined) {
      const next = work.next(entity)
      const describes = next !== undefined && !next.used && candidates(next, isNumber).length > 0
      if (describes && superlative.top !== true && work.limit === undefined) return false
      const special = superlative.top === true || superlative.concept !== undefined || superlative.judgement === true
      return (special && superlative.frequency !== true) || work.limit !== undefined
    }
    const passed =
      (slot.mention.number !== undefined && slot.used) ||
      (slot.used && doing(slot, "Comparator") === undefined) ||
      isGlue(slot)
    if (!passed) break
  }
  const categoryBefore = work
    .unused()
    .some(
      (slot) =>
        slot.index < entity.index &&
        !isEntity(slot) &&
        (candidates(slot, isCategory).length > 0 || doing(slot, "Grain") !== undefined)
    )
  const aggregates = work
    .unused()
    .some(
      (slot) =>
        doing(slot, "Aggregate") !== undefined ||
        (doing(slot, "GroupBy") !== undefined && doing(slot, "GroupBy")?.agent !== true)
    )
  const superlative = work
    .unused()
    .find((slot) => doing(slot, "Superlative") !== undefined || impliedRank(slot) !== undefined)
  if (superlative !== undefined) return !categoryBefore && !aggregates && superlative.index > entity.index
  const measures = work
    .unused()
    .some((slot) => slot !== entity && candidates(slot, (facts) => isNumber(facts) || isMeasure(facts)).length > 0)
  return (
    !aggregates &&
    !measures &&
    !categoryBefore &&
    work.filters.some((filter) => filter._tag !== "Within") &&
    work.facts.names.length > 0
  )
}

const measuresBetween = (work: Work, from: Slot, to: Slot): boolean =>
  work.slots.some(
    (slot) =>
      slot.index > from.index &&
      slot.index < to.index &&
      !slot.used &&
      candidates(slot, (facts) => isNumber(facts) || isMeasure(facts)).length > 0
  )
