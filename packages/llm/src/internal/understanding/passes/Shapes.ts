/**
 * Pass: forms of the whole question: trends, comparisons, shares, changes.
 */
import * as Result from "effect/Result"
import type { Filter } from "../../plan/Plan.ts"
import { autoGrain } from "../AutoGrain.ts"
import { type FieldFacts, nameOf } from "../Facts.ts"
import type { Problem } from "../Problem.ts"
import { doing, isEntity, isGlue, type Slot, type Work } from "../Work.ts"

const incomplete = (message: string) => Result.fail<Problem>({ _tag: "Incomplete", message, alternatives: [] })

const isTimeGroup = (tag: string): boolean => tag === "Grain" || tag === "Part" || tag === "Periods"

/** Reads trends: a group by time, as fine as the time asked about allows. */
export const readTrends = (work: Work): Result.Result<void, Problem> =>
  Result.gen(function* () {
    for (const [slot] of work.all("Trend")) {
      const facts = yield* work.time(slot)
      work.use(slot)
      work.trend = true
      if (!work.groups.some((group) => isTimeGroup(group._tag))) {
        work.groups.unshift({ _tag: "Grain", facts, grain: autoGrain(facts, work.periods) })
      }
    }
  })

/** Reads what is compared with what: values, periods, or groups. */
export const readComparisons = (work: Work): Result.Result<void, Problem> =>
  Result.gen(function* () {
    const versus = work.all("Versus").map(([slot]) => slot)
    const several = work.filters.find(
      (filter) => filter._tag === "OneOf" && !filter.negated && filter.values.length > 1
    )
    const listed = [...work.listed].find(
      (facts) => !work.groups.some((group) => group._tag === "Field" && group.facts === facts)
    )
    const within = work.filters.find((filter) => filter._tag === "Within" && !filter.negated)
    const periods = within?._tag === "Within" ? within.periods : []
    const pair = versus.length > 0 && periods.length === 1 && work.ends !== undefined ? work.ends : undefined
    if (versus.length > 0) {
      work.use(...versus)
      if (several?._tag === "OneOf") addField(work, several.facts)
      else if (within?._tag === "Within" && (periods.length > 1 || pair !== undefined))
        comparePeriods(work, within, pair)
      else if (work.groups.length === 0 && work.scatter === undefined && !work.fragment) {
        return yield* incomplete("I do not know what to compare with what: name the values, the years, or say “by …”.")
      }
    }
    if (
      listed !== undefined &&
      !work.rows &&
      work.ranking === undefined &&
      !work.groups.some((group) => group._tag === "Field")
    )
      addField(work, listed)
    if (
      versus.length === 0 &&
      work.change === undefined &&
      !work.has("Change") &&
      within?._tag === "Within" &&
      periods.length > 1 &&
      !work.rows
    ) {
      comparePeriods(work, within, undefined)
    }
  })

const addField = (work: Work, facts: FieldFacts): void => {
  if (!work.groups.some((group) => group._tag === "Field" && group.facts === facts))
    work.groups.push({ _tag: "Field", facts })
}

const comparePeriods = (work: Work, within: Filter & { readonly _tag: "Within" }, pair: Work["ends"]): void => {
  if (work.groups.some((group) => isTimeGroup(group._tag))) return
  const periods = pair ?? within.periods
  work.groups.unshift({ _tag: "Periods", facts: within.facts, periods })
  work.filters = work.filters.map((filter) => (filter === within ? { ...within, periods } : filter))
}

/** Reads changes between two periods. */
export const readChanges = (work: Work): Result.Result<void, Problem> =>
  Result.gen(function* () {
    const changes = work.all("Change")
    const [first] = changes
    if (first === undefined) return
    work.use(...changes.map(([slot]) => slot))
    const relative = changes.some(([, operator]) => operator.relative) || work.has("Share")
    for (const [slot] of work.all("Share")) work.use(slot)
    if (work.trend || work.groups.some((group) => isTimeGroup(group._tag))) {
      if (relative)
        return yield* incomplete(
          "I can show a development over time, or the change between two times you name, not growth rates along the way."
        )
      return
    }
    const between = work.filters.find(
      (filter) => filter._tag === "OneOf" && !filter.negated && filter.values.length === 2
    )
    if (between !== undefined && changes.every(([slot]) => /^differ/i.test(slot.mention.text))) {
      // "the difference between Seattle and New York" compares places, not times.
      addField(work, between.facts)
      return
    }
    const within = work.filters.find((filter) => filter._tag === "Within" && !filter.negated)
    const pair =
      within?._tag === "Within"
        ? within.periods.length === 2
          ? within.periods
          : within.periods.length === 1
            ? (work.ends ?? [])
            : []
        : []
    const [from, to] = pair
    if (within?._tag !== "Within" || from === undefined || to === undefined) {
      return yield* incomplete(
        "For a change I need two times to compare, such as “between 2004 and 2008”; or ask for the trend over time."
      )
    }
    work.filters = work.filters.filter((filter) => filter !== within)
    work.change = { relative, falls: changes.some(([, operator]) => operator.falls === true) }
    work.changed = { facts: within.facts, from, to }
  })

/** Reads shares: of each group in the whole, or of rows with something among all. */
export const readShares = (work: Work): Result.Result<void, Problem> =>
  Result.gen(function* () {
    const shares = work.all("Share").map(([slot]) => slot)
    const [share] = shares
    if (share === undefined) return
    work.use(...shares)
    const groups = work.groups.filter((group) => group._tag !== "Periods")
    const parts: ReadonlyArray<Filter> = work.filters.filter(
      (filter) => filter._tag !== "Within" && filter._tag !== "Recurring"
    )
    const entity = work.slots.find((slot) => slot.index > share.index && isEntity(slot))
    const after = parts.filter((filter) => {
      const at = work.saidAt.get(filter)
      return at !== undefined && at.index > (entity ?? share).index
    })
    if (parts.length === 0 || (groups.length > 0 && after.length === 0 && entity === undefined)) {
      if (groups.length === 0 && !work.fragment)
        return yield* incomplete(
          "I do not know which share of what: say “share of … by …”, or “percentage of … that are …”."
        )
      work.share = share
      return
    }
    if (groups.length > 0 && after.length === 0) {
      return yield* incomplete(
        "This can be read in two ways: how the rows that you name are divided among the groups, or which part of each group they are. Say “how many … by …” for the first, or “percentage of … that are … by …” for the second."
      )
    }
    const named = after.filter((filter) => !isPlace(work, filter))
    const numerators = named.length > 0 ? named : after.length > 0 ? after : parts
    if (numerators.length !== 1) {
      return yield* incomplete(
        "I do not know which of the conditions is the part and which is the whole: say “percentage of … that are …”."
      )
    }
    work.portion = numerators
    work.filters = work.filters.filter((filter) => !numerators.includes(filter))
  })

/** "in Seattle" says where to look, not what to look for. */
const isPlace = (work: Work, filter: Filter): boolean => {
  const slot = work.saidAt.get(filter)
  const before = slot === undefined ? undefined : work.previous(slot)
  return /^(?:in|for|at|on|among)$/.test(before?.mention.text.toLowerCase() ?? "")
}

/** What is left to do when every word has had its turn: units that agree, names that repeat, rows to count. */
export const settle = (work: Work): Result.Result<void, Problem> =>
  Result.gen(function* () {
    for (const [slot, operator] of work.all("Sort")) {
      work.sort = { descending: operator.descending }
      work.use(slot)
    }
    const nothing = work.measures.length === 0 && work.scatter === undefined && !work.rows
    for (const slot of work.unused()) {
      if (isEntity(slot) || doing(slot, "Records") !== undefined) {
        work.use(slot)
        work.mentionsRows = true
        if (nothing && !work.fragment && (slot.mention.terms.length > 0 || work.saidAt.size > 0))
          work.countedRows = true
        continue
      }
      const unit = doing(slot, "Unit")
      if (unit !== undefined && work.measures.some((measure) => measure.unit === unit.unit)) work.use(slot)
      if (doing(slot, "Distinct") !== undefined && work.groups.length > 0) work.use(slot)
      const known = new Set<FieldFacts>([
        ...work.groups.map((group) => group.facts),
        ...work.filters.map((filter) => filter.facts)
      ])
      if (
        slot.mention.terms.length > 0 &&
        slot.mention.terms.every(({ term }) => term._tag === "Field" && known.has(term.facts))
      )
        work.use(slot)
      if (doing(slot, "GroupBy") !== undefined && isBeforeUsedValue(work, slot)) work.use(slot)
    }
    if (work.when !== undefined) {
      if (work.ranking === undefined) {
        return yield* incomplete(
          `I can tell when a number was highest or lowest, or the first and last time in ${nameOf(work.when)}.`
        )
      }
      if (!work.groups.some((group) => group._tag === "Grain")) {
        const facts = work.when
        work.groups.unshift({ _tag: "Grain", facts, grain: facts.time === "year" ? "year" : naturalGrain(facts) })
      }
    }
  })

/** The grain at which single moments of a field are told. */
const naturalGrain = (facts: FieldFacts) => {
  const { first = "", last = "" } = facts.field.timeRange ?? {}
  return /-01-01/.test(first) && /-01-01/.test(last) && facts.field.type === "date" ? "year" : "day"
}

const isBeforeUsedValue = (work: Work, slot: Slot): boolean => {
  let next = work.next(slot)
  while (next !== undefined && isGlue(next)) next = work.next(next)
  return next?.used === true && next.mention.terms.some(({ term }) => term._tag === "Value")
}
