/**
 * From what a question says to a plan, where it says enough and nothing that contradicts itself.
 */
import * as Result from "effect/Result"
import type { Filter, Group, Measure, Plan, Summary } from "../plan/Plan.ts"
import { alternativeOf } from "./Alternatives.ts"
import type { Draft, Statistic } from "./Draft.ts"
import { type FieldFacts, nameOf, type SourceFacts } from "./Facts.ts"
import { isMeasure, isNumber, lowerFirst, moreIsBetterFor, rowCount, rowsOf } from "./Measuring.ts"
import type { Problem } from "./Problem.ts"

const incomplete = (message: string, alternatives: ReadonlyArray<FieldFacts> = []) =>
  Result.fail<Problem>({ _tag: "Incomplete", message, alternatives: alternatives.map(alternativeOf) })

/** Groups or rows of a ranking where the question does not say how many. */
const rankingLimit = 10

/** Rows of a listing where the question does not say how many. */
const listingLimit = 20

/** Numbers that one question may ask for. */
const maxMeasures = 5

/** The plan of a question. */
export const complete = (draft: Draft): Result.Result<Plan, Problem> => {
  if (draft.statistic !== undefined) return statistics(draft, draft.statistic)
  if (draft.scatter !== undefined) return scatter(draft, draft.scatter)
  return draft.rows ? rows(draft) : summary(draft)
}

const scatter = (draft: Draft, [x, y]: readonly [FieldFacts, FieldFacts]): Result.Result<Plan, Problem> =>
  draft.groups.length > 0 || draft.measures.length > 0 || draft.ranking !== undefined
    ? incomplete("I can relate two numbers of all rows, but not for each group apart.")
    : Result.succeed({ _tag: "Scatter", facts: draft.facts, x, y, filters: draft.filters })

/** A statistic of each row's numbers, or of one number by one group. */
const statistics = (draft: Draft, { columns, kind }: Statistic): Result.Result<Plan, Problem> =>
  Result.gen(function* () {
    const { facts, filters } = draft
    if (columns.length > 0) {
      return draft.groups.length > 0 || draft.measures.length > 0 || draft.ranking !== undefined
        ? yield* incomplete("I can compute this over all rows that a condition leaves, but not for each group apart.")
        : { _tag: "Statistics", facts, kind, columns, filters }
    }
    const timed = draft.groups.some((group) => group._tag === "Grain")
    if (kind === "decomposition" && !timed && facts.time?.time !== "moment") {
      return yield* incomplete(`A decomposition needs steps of time, and ${facts.source.label} has none.`)
    }
    const groups: ReadonlyArray<Group> =
      kind === "decomposition" && !timed && facts.time !== undefined
        ? [{ _tag: "Grain", facts: facts.time, grain: "month" }, ...draft.groups]
        : draft.groups
    const series = yield* summary({ ...draft, groups, ranking: undefined, target: false, statistic: undefined })
    const [group] = series.groups
    if (series.groups.length !== 1 || series.measures.length !== 1 || group === undefined || !isPlain(series)) {
      return yield* incomplete(
        "For this I need one number and one thing to group it by, such as “monthly …” or “… by …”."
      )
    }
    if (kind === "decomposition" && (group._tag !== "Grain" || group.grain === "year")) {
      return yield* incomplete(
        "A decomposition needs steps that are finer than a year: hours, days, weeks, months or quarters."
      )
    }
    return { _tag: "Statistics", facts, kind, columns: [], series, filters }
  })

const isPlain = (series: Summary): boolean =>
  !series.share && series.change === undefined && series.outer === undefined && series.having.length === 0

const rows = (draft: Draft): Result.Result<Plan, Problem> => {
  if (draft.share || draft.change !== undefined || draft.having.length > 0 || draft.groups.length > 0) {
    return incomplete("I can list rows, or compute numbers over them, but not both in one answer.")
  }
  if (draft.limit !== undefined && draft.order === undefined && draft.columns.length !== 1) {
    return incomplete(
      "I do not know by which number to find the first ones.",
      draft.facts.fields.filter((facts) => isNumber(facts) && facts.path.length === 0).slice(0, 8)
    )
  }
  // "top 10 films by gross": the one number beside the rows is what they are ranked by.
  const [column] = draft.columns
  const ranked =
    draft.order ??
    (draft.ranked !== undefined && column !== undefined ? { facts: column, descending: draft.ranked } : undefined)
  if (draft.ranked !== undefined && ranked === undefined) {
    return incomplete(
      "I do not know by which number to find the first ones.",
      draft.facts.fields.filter((facts) => isNumber(facts) && facts.path.length === 0).slice(0, 8)
    )
  }
  const told = [
    ...draft.facts.names.slice(0, 1),
    ...(ranked === undefined ? [] : [ranked.facts]),
    ...draft.columns,
    ...draft.filters
      .filter((filter) => filter._tag !== "OneOf" || filter.values.length > 1 || filter.negated)
      .map((filter) => filter.facts)
  ]
  const plain = draft.facts.fields.filter(
    (facts) => facts.path.length === 0 && facts.field.kind === "dimension" && facts.field.type !== "json"
  )
  const time = draft.facts.time === undefined ? [] : [draft.facts.time]
  const columns = [...new Set(draft.facts.names.length > 0 ? [...told, ...time] : [...told, ...time, ...plain])].slice(
    0,
    8
  )
  return Result.succeed({
    _tag: "Rows",
    facts: draft.facts,
    columns,
    filters: draft.filters,
    ...(ranked === undefined ? {} : { order: ranked }),
    limit: draft.limit ?? (ranked === undefined ? listingLimit : rankingLimit),
    asked: draft.limit !== undefined
  })
}

const isTime = (group: Group): boolean => group._tag === "Grain" || group._tag === "Periods"

/** Numbers to offer where none was asked for. */
const offers = (facts: SourceFacts): ReadonlyArray<FieldFacts> => {
  const measures = facts.fields.filter((one) => isMeasure(one) && one.path.length === 0)
  return (measures.length > 0 ? measures : facts.fields.filter((one) => isNumber(one) && one.path.length === 0)).slice(
    0,
    8
  )
}

const summary = (draft: Draft): Result.Result<Summary, Problem> =>
  Result.gen(function* () {
    const { facts } = draft
    if (draft.groups.length > 2)
      return yield* incomplete("I can put rows together by two things at most; you named more.")
    if (draft.measures.length > maxMeasures)
      return yield* incomplete(`I can show up to ${maxMeasures} numbers at a time; you named more.`)
    const counted = countedGroups(draft)
    if (counted !== undefined) return counted
    const measures = yield* measuresOf(draft)
    const [measure] = measures
    if (measure === undefined) {
      return yield* incomplete(
        `I understand which rows of ${facts.source.label} you mean, but not which number.`,
        offers(facts)
      )
    }
    if (draft.having.length > 0 && draft.groups.length === 0) {
      return yield* incomplete(
        `I understand “${draft.having[0]?.measure.label ?? ""}” as a condition on groups, but not which groups: say “which …” or “by …”.`
      )
    }
    if (
      draft.outer !== undefined &&
      (draft.groups.length !== 1 || measures.length !== 1 || draft.ranking !== undefined || draft.having.length > 0)
    ) {
      return yield* incomplete(
        `For the ${draft.outer} of a number over groups I need one number and one thing to group by, such as “per day”.`
      )
    }
    if (draft.ranking !== undefined && draft.groups.length === 0)
      return yield* incomplete("I do not know among what to find the first ones.", offers(facts))
    if (draft.ranking !== undefined && draft.groups.length > 1 && draft.groups.some(isTime)) {
      return yield* incomplete(
        "I can rank over all of the time, or show a development over time, but not rank within each step of it."
      )
    }
    if (draft.limit !== undefined && draft.ranking === undefined)
      return yield* incomplete("I do not know what to show the first ones of.", offers(facts))
    const complex = [
      draft.share,
      draft.portion.length > 0,
      draft.change !== undefined,
      draft.outer !== undefined
    ].filter(Boolean)
    if (complex.length > 1)
      return yield* incomplete("That is more than one computation at a time; ask for one after the other.")
    if ((draft.share || draft.change !== undefined) && measures.length > 1)
      return yield* incomplete("I can do this for one number at a time.")
    if (draft.share && isPartialCount(facts, measure)) {
      return yield* incomplete(
        `A percentage of the ${measure.label} can be read in two ways: how they are divided among the groups, or which part of each group they are. Ask for the ${measure.label} by group, or for the percentage of ${rowsOf(facts)} that are so.`
      )
    }
    if (draft.share && !measure.summable)
      return yield* incomplete(`Shares need a number that adds up; the ${measure.label} does not.`)
    if (draft.change !== undefined && draft.groups.some(isTime))
      return yield* incomplete("I can compare two times, or show a development over time, but not both.")
    const median = measures.some((one) => one.expression._tag === "Aggregate" && one.expression.function === "median")
    if (
      median &&
      (measures.length > 1 ||
        draft.groups.length > 1 ||
        draft.ranking !== undefined ||
        draft.having.length > 0 ||
        complex.length > 0)
    ) {
      return yield* incomplete(
        "I can compute a median for one number, over all rows or by one thing, and nothing else at the same time."
      )
    }
    const descending = yield* direction(draft, measure)
    const named =
      draft.target && draft.ranking !== undefined
        ? draft.groups.filter((group) => group._tag === "Field").map((group) => group.facts)
        : []
    const known: ReadonlyArray<Filter> = named
      .filter((one) => !draft.filters.some((filter) => filter.facts === one))
      .map((one) => ({ _tag: "Known", facts: one, known: true }))
    const plan: Summary = {
      _tag: "Summary",
      facts,
      measures,
      groups: draft.groups,
      filters: [...draft.filters, ...known],
      having: draft.having,
      share: draft.share,
      listing:
        draft.measures.length === 0 &&
        draft.target &&
        draft.ranking === undefined &&
        !draft.share &&
        draft.portion.length === 0,
      ...(draft.ranking === undefined
        ? {}
        : { ranking: { descending, limit: draft.limit ?? rankingLimit, asked: draft.limit !== undefined } }),
      ...(draft.sort === undefined ? {} : { sort: draft.sort }),
      ...(draft.change === undefined ? {} : { change: draft.change }),
      ...(draft.outer === undefined ? {} : { outer: draft.outer }),
      ...(draft.alternative === undefined || draft.ranking === undefined || draft.change !== undefined || draft.share
        ? {}
        : { alternative: draft.alternative })
    }
    return plan
  })

/** "how many airports have more than 1,000 flights": groups that meet a condition, counted. */
const countedGroups = (draft: Draft): Summary | undefined => {
  const [measure] = draft.measures
  if (draft.having.length === 0 || draft.groups.length > 0 || draft.measures.length !== 1) return undefined
  const field = measure?.expression._tag === "Distinct" ? measure.expression.facts : undefined
  if (field === undefined) return undefined
  return {
    _tag: "Summary",
    facts: draft.facts,
    measures: draft.having.map((having) => having.measure).slice(0, 1),
    groups: [{ _tag: "Field", facts: field }],
    filters: [...draft.filters, { _tag: "Known", facts: field, known: true }],
    having: draft.having,
    share: false,
    listing: false,
    outer: "count"
  }
}

const measuresOf = (draft: Draft): Result.Result<ReadonlyArray<Measure>, Problem> => {
  const rowsMeasure = rowCount(draft.facts)
  if (draft.portion.length > 0) {
    const [of = rowsMeasure] = draft.measures
    if (draft.measures.length > 1 || !of.summable)
      return incomplete("A percentage needs one number that adds up, such as a count or a total.")
    return Result.succeed([
      {
        expression: { _tag: "Portion", of: of.expression, filters: draft.portion },
        label: sameNumber(of, rowsMeasure)
          ? `share of ${lowerFirst(draft.facts.source.label)}`
          : `share of the ${of.label}`,
        unit: "%",
        summable: false
      }
    ])
  }
  if (draft.measures.length > 0) return Result.succeed(draft.measures)
  const [condition] = draft.having
  if (condition !== undefined && draft.groups.length > 0) return Result.succeed([condition.measure])
  const listing = draft.groups.length > 0 && (draft.target || draft.having.length > 0 || draft.share)
  return Result.succeed(listing || draft.countsRows ? [rowsMeasure] : [])
}

/** A declared count of some of the rows only. */
const isPartialCount = (facts: SourceFacts, measure: Measure): boolean =>
  measure.expression._tag === "Declared" &&
  measure.expression.facts.kind === "count" &&
  facts.rowCount !== undefined &&
  measure.expression.facts !== facts.rowCount

const sameNumber = (left: Measure, right: Measure): boolean =>
  left.expression._tag === right.expression._tag &&
  (left.expression._tag !== "Declared" ||
    right.expression._tag !== "Declared" ||
    left.expression.facts === right.expression.facts)

const direction = (draft: Draft, measure: Measure): Result.Result<boolean, Problem> => {
  const most = draft.ranking?.descending ?? true
  if (!draft.judged) return Result.succeed(most)
  const { expression } = measure
  const name =
    expression._tag === "Declared" || expression._tag === "Aggregate"
      ? `${expression.facts.field.name} ${nameOf(expression.facts)}`
      : measure.label
  const better = moreIsBetterFor(name)
  if (better !== undefined) return Result.succeed(better === most)
  return Result.fail({
    _tag: "Ambiguous",
    words: most ? "best" : "worst",
    alternatives: ["highest", "lowest"].map((word) => ({ label: `${word} ${measure.label}`, words: word }))
  })
}
