/**
 * Reads one question over one source: finds its mentions, runs the passes in their order, and refuses to go on where
 * a word that matters is left.
 */
import * as Result from "effect/Result"
import type { Draft } from "./Draft.ts"
import type { SourceFacts } from "./Facts.ts"
import { type FoundValue, lexicon, type Lexicon } from "./Lexicon.ts"
import { type Correction, isUnknown, type Mention, mentions, type Question } from "./Mention.ts"
import { type LookUp, unknownNames } from "./Names.ts"
import { readGroupings, readTargets } from "./passes/Groups.ts"
import { readCounts, readLimits } from "./passes/Limits.ts"
import { readCategoryColumns, readMeasures } from "./passes/Measures.ts"
import { readPairs } from "./passes/Pairs.ts"
import { type Census, readRowsAsked } from "./passes/RowsAsked.ts"
import { readStatistics } from "./passes/Statistics.ts"
import { readChanges, readComparisons, readShares, readTrends, settle } from "./passes/Shapes.ts"
import { chooseTimeField, readTimes } from "./passes/Times.ts"
import { readValues } from "./passes/Values.ts"
import type { Problem } from "./Problem.ts"
import { candidates, isCategory, isNumber } from "./Measuring.ts"
import { doing, isSoft, type Slot, Work } from "./Work.ts"

/** What the analyst has learnt by looking at the data. */
export interface Knowledge {
  readonly found: ReadonlyArray<FoundValue>
  /** By source: whether each row has a name of its own. */
  readonly rowsAreNamed: ReadonlyMap<string, boolean>
  /** Today as `YYYY-MM-DD`, where the instructions say it. */
  readonly today: string | undefined
  /** The question before this one, whose parts this one may lack. */
  readonly before?: Draft
}

/** Something to look up before the question can be read. */
export type Need = LookUp | Census

/** A question read over one source. */
export interface Interpretation {
  readonly facts: SourceFacts
  readonly mentions: ReadonlyArray<Mention>
  readonly corrections: ReadonlyArray<Correction>
  readonly result: Result.Result<Draft, Problem | Need>
  /** How much of the question this source explains. */
  readonly coverage: number
  /** Words of the question that say they go on from the one before. */
  readonly continues: boolean
  /** The question points at something said before: "of those". */
  readonly points: boolean
}

/** A source that is ready to be asked about. */
export interface Prepared {
  readonly facts: SourceFacts
  readonly lexicon: Lexicon
}

/** Makes a source ready. */
export const prepare = (facts: SourceFacts, knowledge: Knowledge): Prepared => ({
  facts,
  lexicon: lexicon(
    facts,
    knowledge.found.filter((one) => one.source === facts.source.name)
  )
})

const weights = { exact: 3, joined: 2.5, head: 2, modifier: 0.5, partial: 2 } as const

const weigh = (mention: Mention): number => {
  const size = mention.tokens.length
  if (mention.terms.length > 0) {
    return size * Math.max(...mention.terms.map(({ term }) => (term._tag === "Entity" ? 4 : weights[term.strength])))
  }
  if (!isUnknown(mention)) return 0
  // A name may be anywhere in the data until it is looked up.
  return mention.tokens.every((token) => token.proper) ? -size : -4 * size
}

/** Words that plainly ask for what no data can tell, unless the model has a name for them. */
const beyond = (row: ReadonlyArray<Mention>): Problem | undefined => {
  for (const mention of row) {
    const operator = mention.operators.find((one) => one._tag === "Beyond")
    const named = mention.terms.some(
      ({ term }) => term._tag === "Entity" || term.strength === "exact" || term.strength === "joined"
    )
    if (operator?._tag === "Beyond" && !named) return { _tag: "Beyond", kind: operator.kind, words: mention.text }
  }
  return undefined
}

/** Reads a question over a source. */
export const interpret = (asked: Question, prepared: Prepared, knowledge: Knowledge): Interpretation => {
  const { facts } = prepared
  const first = mentions(asked, prepared.lexicon)
  const firstResult = read(facts, first.mentions, knowledge)
  // "late flights" is a measure, but behind "of" it is flights that are late: its words are read one by one.
  const left = leftWhole(firstResult, first.mentions)
  const second = left.length === 0 ? undefined : mentions(asked, prepared.lexicon, left)
  const secondResult = second === undefined ? firstResult : read(facts, second.mentions, knowledge)
  const better = second !== undefined && Result.isSuccess(secondResult)
  const { corrections, mentions: row } = better ? second : first
  const does = (tag: string): boolean =>
    row.some((mention) => mention.terms.length === 0 && mention.operators.some((operator) => operator._tag === tag))
  return {
    facts,
    mentions: row,
    corrections,
    result: better ? secondResult : firstResult,
    coverage: row.reduce((sum, mention) => sum + weigh(mention), 0),
    continues: does("Continue") || row[0]?.operators.some((operator) => operator._tag === "And") === true,
    points: does("Pronoun")
  }
}

/** Measures of several words that the reading had no use for as a whole. */
const leftWhole = (
  result: Result.Result<Draft, Problem | Need>,
  row: ReadonlyArray<Mention>
): ReadonlyArray<Mention> => {
  if (Result.isSuccess(result) || result.failure._tag !== "Leftover") return []
  const { words } = result.failure
  return row.filter(
    (mention) =>
      mention.tokens.length > 1 &&
      words.includes(mention.text) &&
      mention.terms.length > 0 &&
      mention.terms.every(({ term }) => term._tag === "Field" && term.facts.field.kind === "measure")
  )
}

const read = (
  facts: SourceFacts,
  row: ReadonlyArray<Mention>,
  knowledge: Knowledge
): Result.Result<Draft, Problem | Need> =>
  Result.gen(function* () {
    const limits = beyond(row)
    if (limits !== undefined) return yield* Result.fail(limits)
    const unknown = unknownNames(facts, row, knowledge.found)
    if (unknown !== undefined) return yield* Result.fail(unknown)
    const work = new Work(facts, row, knowledge.today, knowledge.rowsAreNamed.get(facts.source.name))
    work.fragment = knowledge.before !== undefined
    work.ranksBefore =
      knowledge.before?.ranking !== undefined ||
      knowledge.before?.order !== undefined ||
      knowledge.before?.ranked !== undefined
    chooseTimeField(work)
    yield* readTimes(work, false)
    readCounts(work)
    yield* readLimits(work)
    yield* readTimes(work, true)
    work.versus = work.has("Versus")
    yield* readStatistics(work)
    yield* readPairs(work)
    yield* readValues(work)
    yield* readRowsAsked(work)
    const listsThem = work.fragment && work.has("Pronoun") && (work.has("List") || work.has("Which"))
    if ((knowledge.before?.rows === true || listsThem) && staysWithRows(work)) work.rows = true
    if (!work.rows) {
      yield* readGroupings(work)
      yield* readTargets(work)
    } else {
      for (const [slot, operator] of work.all("GroupBy")) {
        if (!operator.agent) continue
        work.use(slot)
        work.rankedBy = true
      }
    }
    yield* readMeasures(work)
    yield* readCategoryColumns(work)
    yield* readTrends(work)
    yield* readChanges(work)
    yield* readComparisons(work)
    yield* readShares(work)
    yield* settle(work)
    const left = work.unused().filter((slot) => !isSoft(slot))
    if (left.length > 0)
      return yield* Result.fail<Problem>({ _tag: "Leftover", words: left.map((slot) => slot.mention.text) })
    return draftOf(work)
  })

/** A follow-up to rows that only names other columns or another order is about the same rows. */
const staysWithRows = (work: Work): boolean =>
  work.groups.length === 0 &&
  work.measures.length === 0 &&
  !(["Count", "HowMuch", "Aggregate", "Share", "Trend", "Distribution", "Change", "Part"] as const).some((tag) =>
    work.has(tag)
  ) &&
  !work.all("GroupBy").some(([slot, operator]) => !operator.agent || isGrouping(work.after(slot))) &&
  !work.all("Grain").some(([, operator]) => operator.adverb)

const isGrouping = (slot: Slot | undefined): boolean =>
  slot !== undefined &&
  (doing(slot, "Grain") !== undefined || candidates(slot, isCategory).length > 0) &&
  candidates(slot, isNumber).length === 0

const draftOf = (work: Work): Draft => ({
  facts: work.facts,
  measures: work.measures,
  groups: work.groups,
  filters: work.filters,
  having: work.having,
  ranking: work.ranking === undefined ? undefined : { descending: work.ranking.descending },
  judged: work.judged,
  limit: work.limit,
  target: work.target || work.when !== undefined,
  share: work.share !== undefined,
  portion: work.portion,
  change: work.changed === undefined ? undefined : { ...work.changed, relative: work.change?.relative === true },
  outer: work.outer,
  alternative: work.alternative,
  rows: work.rows,
  columns: work.columns,
  order: work.order,
  sort: work.sort,
  ranked: work.rowsRanked,
  reordered: work.rows && work.rankedBy,
  countsRows: work.countedRows,
  scatter: work.scatter,
  statistic: work.statistic,
  mentionsRows: work.mentionsRows || work.rows
})
