/**
 * One turn: from the conversation so far and the tools on offer to what the analyst does next. Pure: the same
 * conversation gives the same turn, and everything it knows it reads from the conversation.
 */
import {
  DescribeOntology,
  MakeChart,
  MakeTable,
  QueryOntology,
  type QueryResult,
  RunPython
} from "@castellan/core/analyst/Tool"
import type { ModelTurn } from "@castellan/core/model/LanguageModels"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { answer } from "../answer/Answer.ts"
import { chart } from "../answer/Chart.ts"
import { refusal } from "../answer/Refusal.ts"
import { tableRows } from "../answer/Table.ts"
import { title } from "../plan/Reading.ts"
import type { PlainFindings } from "../plan/Findings.ts"
import { progress } from "../plan/Query.ts"
import { type Query } from "../plan/Statement.ts"
import { sourceFacts, type SourceFacts } from "../understanding/Facts.ts"
import type { Knowledge, Need } from "../understanding/Interpret.ts"
import { understand, type Understanding } from "../understanding/Understand.ts"
import { type Exchange, exchange, type Step } from "./Exchange.ts"
import { statistic, withoutPython } from "./Statistic.ts"
import { type Discovery, foundValues, inquiries } from "./Inquiry.ts"
import { type Call, calls, type Move, says, sentence } from "./Move.ts"

const decodeSources = Schema.decodeUnknownResult(Schema.fromJsonString(DescribeOntology.result))
const decodeQuery = Schema.decodeUnknownResult(Schema.fromJsonString(QueryOntology.result))
const decodeQueryArguments = Schema.decodeUnknownResult(QueryOntology.parameters)

/** Rounds of looking at the data before a question is read; each can bring up one more name. */
const maxInquiries = 12

/** The next move. */
export const move = (turn: ModelTurn): Move => {
  const talk = exchange(turn.messages)
  if (talk.questions.length === 0) return says("Ask me a question about the data.")
  const offered = new Set(turn.tools.map((tool) => tool.name))
  const described = talk.steps.find((step) => step.call.name === DescribeOntology.name)
  if (described === undefined) {
    return offered.has(DescribeOntology.name)
      ? calls({ name: DescribeOntology.name, arguments: {} })
      : says(missing(DescribeOntology.name, turn.tools.length === 0))
  }
  if (described.failed) return says(`I could not read the ontology, so I cannot answer: ${sentence(described.content)}`)
  const decoded = decodeSources(described.content)
  if (Result.isFailure(decoded))
    return says("I could not read the ontology: what the tool answered is not in the form that I know.")
  const following = next(turn, talk, decoded.success.sources.map(sourceFacts), offered)
  return following._tag === "Says" && talk.hasFiles ? says(`${following.text}\n\n${filesUnread}`) : following
}

const filesUnread = "*I did not read the files that came with the question: this is from the data sources alone.*"

const missing = (tool: string, none: boolean): string =>
  none
    ? "I ran out of steps before I could look at the data, so I have no answer."
    : `I answer questions by asking the ontology, but the tool \`${tool}\` is not available in this chat. Switch the ontology on, and ask again.`

/** What queries answered, by their text. */
interface Answers {
  readonly result: (query: Query) => QueryResult | undefined
  readonly failure: (query: Query) => string | undefined
}

const answersOf = (steps: ReadonlyArray<Step>): Answers => {
  const results = new Map<string, QueryResult>()
  const failures = new Map<string, string>()
  for (const step of steps) {
    if (step.call.name !== QueryOntology.name) continue
    const asked = decodeQueryArguments(step.call.arguments)
    if (Result.isFailure(asked)) continue
    const { query } = asked.success
    if (step.failed) failures.set(query, step.content)
    else {
      const result = decodeQuery(step.content)
      if (Result.isSuccess(result)) results.set(query, result.success)
      else failures.set(query, "the result is not in the form that I know")
    }
  }
  return { result: (query) => results.get(query.text), failure: (query) => failures.get(query.text) }
}

/** Today as the standing instructions tell it. */
const todayIn = (instructions: string): string | undefined =>
  /\btoday(?:'s date)?(?: is)?:? (\d{4}-\d{2}-\d{2})\b/i.exec(instructions)?.[1]

const next = (
  turn: ModelTurn,
  talk: Exchange,
  sources: ReadonlyArray<SourceFacts>,
  offered: ReadonlySet<string>
): Move => {
  const answers = answersOf(talk.steps)
  const ask = (queries: ReadonlyArray<Query>): Move =>
    offered.has(QueryOntology.name)
      ? calls(
          ...queries.map((query) => ({
            name: QueryOntology.name,
            arguments: { title: query.title, query: query.text }
          }))
        )
      : says(missing(QueryOntology.name, turn.tools.length === 0))
  const read = readWith(sources, talk, answers, todayIn(turn.instructions))
  if (read._tag === "Look") return ask(read.queries)
  const { understanding } = read
  if (understanding._tag === "Needs")
    return says("I would have to look up too many names to read this question. Ask with fewer of them.")
  if (understanding._tag === "NotUnderstood") {
    return says(refusal(understanding.problem, sources, understanding.source, understanding.corrections))
  }
  if (understanding.plan._tag === "Statistics" && !offered.has(RunPython.name)) {
    return says(
      turn.tools.length === 0
        ? missing(RunPython.name, true)
        : withoutPython(title(understanding.plan), understanding.plan)
    )
  }
  const step = progress(understanding.plan, answers.result)
  if (step._tag === "Ask") {
    const failed = step.queries.map(answers.failure).find((failure) => failure !== undefined)
    return failed === undefined
      ? ask(step.queries)
      : says(
          `I understood the question (${title(understanding.plan)}), but the query failed, so I have no figures: ${sentence(failed)}`
        )
  }
  const { findings } = step
  return findings._tag === "Statistics"
    ? statistic(findings, talk, turn.tools, understanding.corrections)
    : present(findings, talk, offered, understanding)
}

type Read =
  | { readonly _tag: "Look"; readonly queries: ReadonlyArray<Query> }
  | { readonly _tag: "Read"; readonly understanding: Understanding }

/** Reads the question with all that is known, and asks to look where more must be known. */
const readWith = (
  sources: ReadonlyArray<SourceFacts>,
  talk: Exchange,
  answers: Answers,
  today: string | undefined
): Read => {
  const discoveries: Array<Discovery> = []
  for (let round = 0; ; round++) {
    const knowledge: Knowledge = {
      found: foundValues(discoveries),
      rowsAreNamed: new Map(
        discoveries.flatMap((one) => (one._tag === "Census" ? [[one.source, one.rowsAreNamed] as const] : []))
      ),
      today
    }
    const understanding = understand(sources, talk.questions, knowledge)
    if (understanding._tag !== "Needs" || round >= maxInquiries) return { _tag: "Read", understanding }
    const asked = understanding.needs.flatMap((need: Need) => inquiries(need))
    const open = asked.filter(
      (one) => answers.result(one.query) === undefined && answers.failure(one.query) === undefined
    )
    if (open.length > 0) return { _tag: "Look", queries: open.map((one) => one.query) }
    for (const one of asked) {
      const result = answers.result(one.query)
      discoveries.push(result === undefined ? one.otherwise : one.read(result))
    }
  }
}

/** Draws the chart and the table that fit, then writes. */
const present = (
  findings: PlainFindings,
  talk: Exchange,
  offered: ReadonlySet<string>,
  understanding: Understanding & { readonly _tag: "Understood" }
): Move => {
  const drawn = chart(findings)
  const tabled = findings._tag !== "Scatter" && findings.main.row_count > 1
  const done = (name: string): Step | undefined => talk.steps.find((step) => step.call.name === name)
  const wanted: Array<Call> = []
  if (drawn !== undefined && offered.has(MakeChart.name) && done(MakeChart.name) === undefined) {
    wanted.push({
      name: MakeChart.name,
      arguments: { name: drawn.name, result: findings.main.result, specification: drawn.specification }
    })
  }
  if (tabled && offered.has(MakeTable.name) && done(MakeTable.name) === undefined) {
    wanted.push({ name: MakeTable.name, arguments: { name: title(findings.plan, 100), result: findings.main.result } })
  }
  if (wanted.length > 0) return calls(...wanted)
  const chartFailed = done(MakeChart.name)?.failed === true
  const long = findings.main.row_count > tableRows
  const tableMissing = tabled && long && done(MakeTable.name)?.failed !== false
  const notes = [
    ...(chartFailed ? ["The chart could not be drawn."] : []),
    ...(tableMissing ? ["The table with all rows could not be made."] : [])
  ]
  return says(answer(findings, { corrections: understanding.corrections, notes }))
}
