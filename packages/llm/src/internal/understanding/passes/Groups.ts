/**
 * Pass: what rows are put together by (`by carrier`, `per month`, `for each`), and what is asked for among groups
 * (`which airport`, `the hottest day`, `top 5 directors`).
 */
import * as Result from "effect/Result"
import type { Grain } from "../../language/Calendar.ts"
import type { Group } from "../../plan/Plan.ts"
import { autoGrain } from "../AutoGrain.ts"
import type { FieldFacts } from "../Facts.ts"
import { candidates, isCategory, isMeasure, isNumber, oneField } from "../Measuring.ts"
import type { Problem } from "../Problem.ts"
import { doing, fieldsIn, isEntity, isGlue, type Slot, valuesIn, type Work } from "../Work.ts"

/** Reads every group that words like `by` and `per` name. */
export const readGroupings = (work: Work): Result.Result<void, Problem> =>
  Result.gen(function* () {
    for (const [marker, operator] of work.all("GroupBy")) {
      if (marker.used) continue
      const first = work.after(marker, (slot) => isGlue(slot) || doing(slot, "Distinct") !== undefined)
      // "by" before a value that is a filter already: "released by Universal".
      const next = work.next(marker)
      if (next?.used === true && valuesIn(next).length > 0) {
        work.use(marker)
        continue
      }
      if (first === undefined || first.index > marker.index + 3) continue
      if (operator.agent && isRankedBy(work, marker, first)) {
        work.use(marker)
        work.rankedBy = true
        continue
      }
      if (!operator.agent && /^(?:per|each|every|for each|for every|in each|in every)$/i.test(marker.mention.text))
        work.perStep = true
      yield* readList(work, marker, first)
    }
    for (const [slot, operator] of work.all("Grain")) {
      if (!operator.adverb) continue
      if (!/^by\b/i.test(slot.mention.text)) work.perStep = true
      const group = yield* grainGroup(work, slot, operator.grain)
      addGroup(work, group, slot)
    }
  })

/** A group and those that "and" or a comma add to it. */
const readList = (work: Work, marker: Slot, first: Slot): Result.Result<void, Problem> =>
  Result.gen(function* () {
    let at: Slot | undefined = first
    while (at !== undefined && !at.used) {
      const group: Group | undefined = yield* groupAt(work, at, true)
      if (group === undefined) return
      addGroup(work, group, at)
      work.use(marker)
      const and: Slot | undefined = work.next(at)
      if (and === undefined || doing(and, "And") === undefined) return
      at = work.after(and, (slot) => isGlue(slot) || doing(slot, "GroupBy") !== undefined)
      if (at !== undefined && at.index > and.index + 2) return
      const between = work.next(and)
      if (at !== undefined && doing(between, "GroupBy") !== undefined) work.use(between)
    }
  })

/** Whether what follows "by" is a number to rank by, not something to group by. */
const isRankedBy = (work: Work, marker: Slot, target: Slot): boolean => {
  const superlative = work.slots.some((slot) => slot.index < marker.index && doing(slot, "Superlative") !== undefined)
  const counted =
    doing(target, "Aggregate") !== undefined ||
    doing(target, "Count") !== undefined ||
    doing(target, "HowMuch") !== undefined
  const number = candidates(target, (facts) => isNumber(facts) || isMeasure(facts)).length > 0
  const category =
    candidates(target, isCategory).length > 0 ||
    doing(target, "Grain") !== undefined ||
    doing(target, "Part") !== undefined
  if (counted) return true
  if (isEntity(target) && !category) return true
  if (number && !category)
    return superlative || !measuresBefore(work, marker) || candidates(target, isNumber).length === 0
  // A word that is both: "top films by rating" ranks, "films by rating" groups.
  return (
    number &&
    superlative &&
    work.slots.some((slot) => slot.index < marker.index && (isEntity(slot) || candidates(slot, isCategory).length > 0))
  )
}

const measuresBefore = (work: Work, marker: Slot): boolean =>
  work
    .unused()
    .some(
      (slot) =>
        slot.index < marker.index &&
        (doing(slot, "Aggregate") !== undefined ||
          doing(slot, "Count") !== undefined ||
          doing(slot, "HowMuch") !== undefined ||
          doing(slot, "Share") !== undefined ||
          doing(slot, "Extent") !== undefined ||
          isEntity(slot) ||
          candidates(slot, (facts) => isNumber(facts) || isMeasure(facts)).length > 0)
    )

/** The group that a mention names. */
export const groupAt = (work: Work, slot: Slot, numbersToo: boolean): Result.Result<Group | undefined, Problem> =>
  Result.gen(function* () {
    const exactCategory = fieldsIn(slot).some(
      (one) => isCategory(one.facts) && (one.strength === "exact" || one.strength === "joined")
    )
    if (exactCategory) {
      const facts = yield* oneField(slot, isCategory)
      if (facts !== undefined) return { _tag: "Field", facts } as const
    }
    const part = doing(slot, "Part")
    if (part !== undefined) {
      const facts = yield* work.timeFor(slot, part.part === "weekday" ? "day" : part.part)
      return { _tag: "Part", facts, part: part.part } as const
    }
    const grain = doing(slot, "Grain")
    if (grain !== undefined) {
      const numbers = candidates(slot, isNumber)
      const [number] = numbers
      // An hour or a week that the model declares as a number of its own.
      if (number !== undefined && numbers.length === 1) return { _tag: "Field", facts: number } as const
      return yield* grainGroup(work, slot, grain.grain)
    }
    const times = candidates(slot, (facts) => facts.time !== undefined && facts.field.kind === "dimension")
    const [time] = times
    if (time !== undefined && times.length === 1) {
      return {
        _tag: "Grain",
        facts: time,
        grain: time.time === "year" ? "year" : autoGrain(time, work.periods)
      } as const
    }
    if (candidates(slot, isCategory).length > 0) {
      const facts = yield* oneField(slot, isCategory)
      if (facts !== undefined) return { _tag: "Field", facts } as const
    }
    if (!numbersToo) return undefined
    const numbers = candidates(slot, isNumber)
    if (numbers.length === 0) return undefined
    const facts = yield* oneField(slot, isNumber)
    if (facts === undefined) return undefined
    return isDiscrete(facts) ? ({ _tag: "Field", facts } as const) : ({ _tag: "Bins", facts } as const)
  })

/** Whether a number has few values, so that each can be a group. */
export const isDiscrete = (facts: FieldFacts): boolean =>
  facts.field.values !== undefined ||
  (facts.unit === undefined &&
    /hour|year|month|day|cylinder|floor|number|level|grade|rank|class|cluster/i.test(
      `${facts.field.name} ${facts.field.label}`
    ))

const grainGroup = (work: Work, slot: Slot, grain: Grain): Result.Result<Group, Problem> =>
  Result.gen(function* () {
    const own = candidates(slot, (facts) => facts.time !== undefined && facts.field.kind === "dimension")
    const [only] = own
    const facts =
      only !== undefined && own.length === 1 && work.timeField === undefined && work.facts.time === undefined
        ? only
        : yield* work.timeFor(slot, grain)
    // "by date" of a field that is only known by the month is still by its own days.
    return { _tag: "Grain", facts, grain } as const
  })

const sameGroup = (left: Group, right: Group): boolean =>
  left._tag === right._tag &&
  left.facts === right.facts &&
  (left._tag !== "Grain" || right._tag !== "Grain" || left.grain === right.grain)

/** Adds a group once. */
export const addGroup = (work: Work, group: Group, slot: Slot): void => {
  if (!work.groups.some((known) => sameGroup(known, group))) work.groups.push(group)
  work.use(slot)
}

/** Whether a mention is counted rather than grouped by: "how many different airports". */
const isCounted = (work: Work, slot: Slot): boolean => {
  for (let index = slot.index - 1; index >= 0; index--) {
    const other = work.slots[index]
    if (other === undefined) return false
    if (
      doing(other, "Count") !== undefined ||
      doing(other, "Distinct") !== undefined ||
      doing(other, "Aggregate") !== undefined
    )
      return true
    if (!isGlue(other) && valuesIn(other).length === 0) return false
  }
  return false
}

/** Whether a mention is what a question asks for, by the words around it. */
export const isTarget = (work: Work, slot: Slot): boolean => {
  for (let index = slot.index - 1; index >= 0; index--) {
    const other = work.slots[index]
    if (other === undefined) break
    if (doing(other, "Which") !== undefined || doing(other, "Superlative") !== undefined) return true
    if (
      other.mention.number === undefined &&
      doing(other, "List") === undefined &&
      doing(other, "Distinct") === undefined &&
      !(other.used && valuesIn(other).length > 0) &&
      !isGlueOf(other)
    )
      break
  }
  const superlative = work.slots.find(
    (other) => doing(other, "Superlative") !== undefined || impliedRank(other) !== undefined
  )
  const later = superlative !== undefined && superlative.index > slot.index
  return later || work.rankedBy || work.having.length > 0 || work.has("List") || work.has("Versus")
}

const isGlueOf = (slot: Slot): boolean => slot.mention.text.toLowerCase() === "of"

/** A declared measure whose name ranks by itself: "highest price", "most efficient". */
export const impliedRank = (slot: Slot): { readonly descending: boolean } | undefined => {
  const measure = fieldsIn(slot).find((one) => one.strength === "exact" && isMeasure(one.facts))
  if (measure === undefined || slot.mention.tokens.length === 0) return undefined
  const [first] = slot.mention.tokens
  const word = first?.word ?? ""
  if (
    /^(?:highest|longest|largest|biggest|greatest|most|maximum|max|peak|record|best|worst|hottest|strongest|windiest|deadliest)$/.test(
      word
    )
  ) {
    return { descending: measure.facts.kind !== "minimum" }
  }
  if (/^(?:lowest|shortest|smallest|fewest|least|minimum|min|coldest)$/.test(word)) return { descending: false }
  return undefined
}

/** "which hour of departure": a number of few values right behind the question word is what is asked for. */
const isAskedNumber = (work: Work, slot: Slot): boolean => {
  const numbers = candidates(slot, isNumber)
  return doing(work.previous(slot), "Which") !== undefined && numbers.length > 0 && numbers.every(isDiscrete)
}

/** "car maker": the rows' own name in front of what is asked for only says whose it is. */
export const describesNext = (work: Work, slot: Slot): boolean => {
  const next = work.next(slot)
  return (
    isEntity(slot) && next !== undefined && !next.used && !isEntity(next) && candidates(next, isCategory).length > 0
  )
}

/** Reads what is asked for among groups, and whether rows themselves are asked for. */
export const readTargets = (work: Work): Result.Result<void, Problem> =>
  Result.gen(function* () {
    for (const [slot] of work.all("When")) {
      const facts = yield* work.time(slot)
      work.when = facts
      work.use(slot)
    }
    for (const slot of work.unused()) {
      if (slot.used || slot.mention.number !== undefined || valuesIn(slot).length > 0) continue
      if (doing(slot, "Superlative") !== undefined || doing(slot, "Aggregate") !== undefined) continue
      const grain = doing(slot, "Grain") !== undefined || doing(slot, "Part") !== undefined
      const category = candidates(slot, isCategory).length > 0
      const asked =
        doing(work.previous(slot), "Which") !== undefined || doing(work.previous(slot), "Superlative") !== undefined
      if (isEntity(slot) && (grain ? !asked : !category || work.namesRows(slot))) continue
      const discrete = !grain && !category && isAskedNumber(work, slot)
      if (!grain && !category && !discrete) continue
      if (describesNext(work, slot)) {
        work.use(slot)
        continue
      }
      const superlative = doing(work.previous(slot), "Superlative")
      const plain =
        superlative !== undefined &&
        superlative.concept === undefined &&
        superlative.frequency !== true &&
        superlative.top !== true
      const counted = plain && candidates(slot, isMeasure).length > 0
      if (isCounted(work, slot) || counted || !isTarget(work, slot)) continue
      const group = yield* groupAt(work, slot, discrete)
      if (group === undefined) continue
      addGroup(work, group, slot)
      work.target = true
    }
  })
