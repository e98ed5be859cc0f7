/**
 * The work of reading one question over one source: its mentions in order, which of them are accounted for, and what
 * they have added up to so far. Each pass takes the mentions that it can explain; the first problem ends the work.
 */
import * as Result from "effect/Result"
import type { Grain } from "../language/Calendar.ts"
import type { AggregateFunction, Operator } from "../language/Operator.ts"
import type { Period } from "../language/Period.ts"
import type { Filter, Group, Having, Measure } from "../plan/Plan.ts"
import { type FieldFacts, nameOf, type SourceFacts } from "./Facts.ts"
import type { Statistic } from "./Draft.ts"
import type { Strength } from "./Lexicon.ts"
import type { Mention } from "./Mention.ts"
import type { Problem } from "./Problem.ts"
import { alternativeOf } from "./Alternatives.ts"

/** A mention and whether it is accounted for. */
export interface Slot {
  readonly mention: Mention
  readonly index: number
  used: boolean
}

/** What a ranking is asked for with. */
export interface RankingRequest {
  readonly descending: boolean
  readonly slot: Slot
}

type Tag = Operator["_tag"]
type Of<T extends Tag> = Extract<Operator, { readonly _tag: T }>

const isTag =
  <T extends Tag>(tag: T) =>
  (operator: Operator): operator is Of<T> =>
    operator._tag === tag

/** What a mention does, if it does this. */
export const doing = <T extends Tag>(slot: Slot | undefined, tag: T): Of<T> | undefined =>
  slot?.mention.operators.find(isTag(tag))

/** The fields that a mention may name. */
export const fieldsIn = (
  slot: Slot | undefined
): ReadonlyArray<{ readonly facts: FieldFacts; readonly strength: Strength; readonly cost: number }> =>
  (slot?.mention.terms ?? []).flatMap(({ cost, term }) =>
    term._tag === "Field" ? [{ facts: term.facts, strength: term.strength, cost }] : []
  )

/** The values that a mention may name. */
export const valuesIn = (
  slot: Slot | undefined
): ReadonlyArray<{ readonly facts: FieldFacts; readonly value: string; readonly partial: boolean }> =>
  (slot?.mention.terms ?? []).flatMap(({ term }) =>
    term._tag === "Value" ? [{ facts: term.facts, value: term.value, partial: term.strength === "partial" }] : []
  )

/** Whether a mention names the rows of the source. */
export const isEntity = (slot: Slot | undefined): boolean =>
  slot !== undefined && slot.mention.terms.some(({ term }) => term._tag === "Entity")

/** Words that may stay unexplained: they only hold others together. */
const soft = new Set<Tag>(["Harmless", "Preposition", "And", "Or", "Which", "List", "Role", "Continue", "Pronoun"])

/** Whether nothing is lost when a mention is left unexplained. */
export const isSoft = (slot: Slot): boolean => {
  const { mention } = slot
  return (
    mention.operators.length > 0 &&
    mention.terms.length === 0 &&
    mention.time === undefined &&
    mention.number === undefined &&
    mention.operators.some((operator) => soft.has(operator._tag))
  )
}

/** The reading of one question over one source, in the making. */
export class Work {
  readonly facts: SourceFacts
  readonly slots: ReadonlyArray<Slot>
  /** Today as `YYYY-MM-DD`, where the instructions say it. */
  readonly today: string | undefined

  /** The question may lack parts, which the one before has. */
  fragment = false
  /** The question before ranks, so that this one may turn its ranking round. */
  ranksBefore = false
  filters: Array<Filter> = []
  having: Array<Having> = []
  groups: Array<Group> = []
  measures: Array<Measure> = []
  ranking: RankingRequest | undefined
  /** How many of a ranking are wanted. */
  limit: number | undefined
  share: Slot | undefined
  change: { readonly relative: boolean; readonly falls: boolean } | undefined
  /** Where and when a change is looked for. */
  changed: { readonly facts: FieldFacts; readonly from: Period; readonly to: Period } | undefined
  /** The rows of the source are named. */
  mentionsRows = false
  trend = false
  versus = false
  scatter: readonly [FieldFacts, FieldFacts] | undefined
  statistic: Statistic | undefined
  /** Fields that a listing shows beside the names. */
  columns: Array<FieldFacts> = []
  order: { facts: FieldFacts; descending: boolean } | undefined
  alternative: Measure | undefined
  /** The two stretches at the ends of a range of time. */
  ends: readonly [Period, Period] | undefined
  periods: Array<Period> = []
  timeField: FieldFacts | undefined
  outer: AggregateFunction | undefined
  /** Rows are ranked by a number that is named later: whether the largest come first. */
  rowsRanked: boolean | undefined
  /** Rows themselves are asked for, not numbers over them. */
  rows = false
  /** A bare "how many" counts what the filters leave. */
  countedRows = false
  /** The ranking asks for the best or worst: which end that is depends on the measure. */
  judged = false
  /** Which end of the result comes first, where the question says so. */
  sort: { readonly descending: boolean } | undefined
  /** Steps of time are asked for one by one: "per month", "daily". */
  perStep = false
  /** Groups are ranked, or rows are: the question asks which. */
  target = false
  /** What follows "by" is a number, not a group. */
  rankedBy = false
  /** The question asks when. */
  when: FieldFacts | undefined
  /** Whether each row has a name of its own, as a census of the data says; unknown where none was taken. */
  readonly rowsAreNamed: boolean | undefined
  /** Fields whose values were listed with "and": each is wanted for itself. */
  readonly listed = new Set<FieldFacts>()
  /** Filters of a share that say which part is meant, not of what. */
  portion: ReadonlyArray<Filter> = []
  /** Where in the question each filter was said. */
  readonly saidAt = new Map<Filter, Slot>()

  constructor(
    facts: SourceFacts,
    mentions: ReadonlyArray<Mention>,
    today: string | undefined,
    rowsAreNamed: boolean | undefined
  ) {
    this.facts = facts
    this.today = today
    this.rowsAreNamed = rowsAreNamed
    this.slots = mentions
      .filter((mention) => !isPlainHarmless(mention))
      .map((mention, index) => ({ mention, index, used: false }))
  }

  /** Whether a mention names the rows by what names each of them: films by their titles. */
  namesRows(slot: Slot): boolean {
    const [name] = this.facts.names
    if (name === undefined || !isEntity(slot)) return false
    const named = fieldsIn(slot).some((one) => this.facts.names.includes(one.facts))
    return named && this.rowsAreNamed !== false
  }

  /** The next mention that is not accounted for, past words that hold others together where that is asked. */
  after(slot: Slot, skip: (slot: Slot) => boolean = isGlue): Slot | undefined {
    return this.slots.find((candidate) => candidate.index > slot.index && !candidate.used && !skip(candidate))
  }

  addFilter(filter: Filter, slot: Slot): void {
    this.filters.push(filter)
    this.saidAt.set(filter, slot)
  }

  before(slot: Slot, skip: (slot: Slot) => boolean = isGlue): Slot | undefined {
    return this.slots.findLast((candidate) => candidate.index < slot.index && !candidate.used && !skip(candidate))
  }

  /** The very next mention, accounted for or not. */
  next(slot: Slot): Slot | undefined {
    return this.slots[slot.index + 1]
  }

  previous(slot: Slot): Slot | undefined {
    return this.slots[slot.index - 1]
  }

  unused(): ReadonlyArray<Slot> {
    return this.slots.filter((slot) => !slot.used)
  }

  all<T extends Tag>(tag: T): ReadonlyArray<readonly [Slot, Of<T>]> {
    return this.unused().flatMap((slot) => {
      const operator = doing(slot, tag)
      return operator === undefined ? [] : [[slot, operator] as const]
    })
  }

  has(tag: Tag): boolean {
    return this.all(tag).length > 0
  }

  use(...slots: ReadonlyArray<Slot | undefined>): void {
    for (const slot of slots) if (slot !== undefined) slot.used = true
  }

  /** The time field of the question. */
  time(slot: Slot): Result.Result<FieldFacts, Problem> {
    const time = this.timeField ?? this.facts.time
    if (time !== undefined) return Result.succeed(time)
    const candidates = this.facts.fields.filter((facts) => facts.time !== undefined)
    const [only] = candidates
    if (only !== undefined && candidates.length === 1) return Result.succeed(only)
    const { label } = this.facts.source
    return Result.fail({
      _tag: "Incomplete",
      message:
        only === undefined
          ? `“${slot.mention.text}” is about time, but ${label} has no time field.`
          : `“${slot.mention.text}” is about time, and ${label} has more than one time field.`,
      alternatives: candidates.map(alternativeOf)
    })
  }

  /** The time field, checked to be fine enough for a grain. */
  timeFor(slot: Slot, grain: Grain): Result.Result<FieldFacts, Problem> {
    return Result.flatMap(this.time(slot), (time) => {
      const incomplete = (message: string) => Result.fail<Problem>({ _tag: "Incomplete", message, alternatives: [] })
      if (time.time === "year" && grain !== "year") {
        return incomplete(`${this.facts.source.label} only knows the year, not the ${grain}.`)
      }
      if (grain === "hour" && time.field.type === "date") {
        return incomplete(`${nameOf(time)} only knows the day, not the hour.`)
      }
      return Result.succeed(time)
    })
  }
}

const isPlainHarmless = (mention: Mention): boolean =>
  mention.operators.some((operator) => operator._tag === "Harmless") &&
  mention.terms.length === 0 &&
  mention.time === undefined &&
  mention.number === undefined

const glue = new Set<Tag>(["Preposition", "And", "Role"])

/** Whether a mention only holds others together. */
export const isGlue = (slot: Slot): boolean =>
  slot.mention.terms.length === 0 &&
  slot.mention.time === undefined &&
  slot.mention.number === undefined &&
  slot.mention.operators.some((operator) => glue.has(operator._tag))

/** Which rows a word stands for where it says that a value is missing. */
export const isMissing = (slot: Slot | undefined): boolean => doing(slot, "Missing") !== undefined
