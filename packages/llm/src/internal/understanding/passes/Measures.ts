/**
 * Pass: what is counted, summed, averaged or ranked.
 */
import { candidates, isCategory, isMeasure, isNumber, measured, oneField } from "../Measuring.ts"
import type { Problem } from "../Problem.ts"
import { type Slot, type Work, doing, isEntity } from "../Work.ts"
import { aggregatesAt, readAggregate, readAggregates, readConcept } from "./Aggregates.ts"
import { readCount, readHowMuch } from "./Counts.ts"
import { impliedRank } from "./Groups.ts"
import { addMeasure, baseOf, isModifier, isNumeric, isNumericName, numbersOf } from "./NumberWords.ts"
import { addAlternative, readSuperlative, readTrailingSuperlative } from "./Superlatives.ts"
import * as Result from "effect/Result"

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
