/**
 * Reads the last question of a conversation over an ontology: which source it is about, whether it goes on from the
 * question before, whether it answers what was asked back; and ends with a plan, something to look up, or a problem.
 */
import * as Result from "effect/Result"
import { maxTokens, tokenize } from "../language/Token.ts"
import { phraseKey, wordsOf } from "../language/Words.ts"
import type { Plan } from "../plan/Plan.ts"
import { aboutData } from "./About.ts"
import { complete } from "./Complete.ts"
import type { Draft } from "./Draft.ts"
import type { SourceFacts } from "./Facts.ts"
import { merge, saysSomething } from "./FollowUp.ts"
import { interpret, type Interpretation, type Knowledge, type Need, prepare, type Prepared } from "./Interpret.ts"
import { type Correction, question as ask, type Question } from "./Mention.ts"
import type { Alternative, Problem } from "./Problem.ts"

/** What became of a question. */
export type Understanding =
  | {
      readonly _tag: "Understood"
      readonly plan: Plan
      readonly draft: Draft
      readonly corrections: ReadonlyArray<Correction>
    }
  | { readonly _tag: "Needs"; readonly needs: ReadonlyArray<Need> }
  | {
      readonly _tag: "NotUnderstood"
      readonly problem: Problem
      readonly source: SourceFacts | undefined
      readonly corrections: ReadonlyArray<Correction>
    }

/** Questions before the last that a follow-up may reach back to. */
const maxHistory = 8

/** How much less of a question another source may explain and still be meant. */
const nearly = 0.5

/** Reads the last of some questions. */
export const understand = (
  sources: ReadonlyArray<SourceFacts>,
  questions: ReadonlyArray<string>,
  knowledge: Knowledge
): Understanding => {
  const prepared = sources.map((facts) => prepare(facts, knowledge))
  const recent = questions.slice(-maxHistory)
  const known = new Map<number, Understanding>()
  const at = (index: number): Understanding => {
    const before = known.get(index)
    if (before !== undefined) return before
    const result = readOne(
      recent[index] ?? "",
      index === 0 ? undefined : { text: recent[index - 1] ?? "", read: () => at(index - 1) },
      prepared,
      knowledge,
      0
    )
    known.set(index, result)
    return result
  }
  return at(recent.length - 1)
}

interface Previous {
  readonly text: string
  readonly read: () => Understanding
}

const readOne = (
  question: string,
  previous: Previous | undefined,
  prepared: ReadonlyArray<Prepared>,
  knowledge: Knowledge,
  depth: number
): Understanding => {
  const fail = (problem: Problem): Understanding => ({
    _tag: "NotUnderstood",
    problem,
    source: undefined,
    corrections: []
  })
  if (prepared.length === 0) return fail({ _tag: "NoData" })
  if (question.trim() === "") return fail({ _tag: "Empty" })
  const about = aboutData(
    question,
    prepared.map((one) => one.facts)
  )
  if (about !== undefined) return fail(about)
  const tokens = tokenize(question)
  if (tokens.every((token) => token.kind === "mark")) return fail({ _tag: "Empty" })
  // A question that is too long is not read at all.
  if (tokens.length > maxTokens) return fail({ _tag: "TooLong" })
  const asked = ask(tokens)
  const all = prepared.map((one) => interpret(asked, one, knowledge))
  const alone = choose(all, question)
  const goesOn = all.some((one) => one.continues || one.points)
  if (previous === undefined || (alone._tag === "Understood" && !goesOn)) {
    return previous === undefined && all.some((one) => one.points) && alone._tag === "Understood"
      ? fail({
          _tag: "Incomplete",
          message: "You point at something said before, but this is the first question of our conversation.",
          alternatives: []
        })
      : alone
  }
  // A plain refusal stands on its own: "why?" is not a follow-up that data can answer.
  if (alone._tag === "NotUnderstood" && (alone.problem._tag === "Beyond" || alone.problem._tag === "TooLong"))
    return alone
  const before = previous.read()
  if (before._tag === "Needs") return before
  if (before._tag === "Understood") return followUp(before, asked, prepared, knowledge, alone)
  const answered = depth > 2 ? undefined : answerToUs(question, previous.text, before.problem)
  if (answered !== undefined) return readOne(answered, undefined, prepared, knowledge, depth + 1)
  return alone
}

const followUp = (
  before: Understanding & { readonly _tag: "Understood" },
  asked: Question,
  prepared: ReadonlyArray<Prepared>,
  knowledge: Knowledge,
  alone: Understanding
): Understanding => {
  const same = prepared.find((one) => one.facts.source.name === before.draft.facts.source.name)
  if (same === undefined) return alone
  const fragment = interpret(asked, same, { ...knowledge, before: before.draft })
  if (Result.isFailure(fragment.result)) {
    const { failure } = fragment.result
    if (alone._tag === "Understood") return alone
    if (failure._tag === "LookUp" || failure._tag === "Census") return { _tag: "Needs", needs: [failure] }
    return { _tag: "NotUnderstood", problem: failure, source: same.facts, corrections: fragment.corrections }
  }
  const draft = fragment.result.success
  if (!saysSomething(draft)) return alone
  const merged = merge(before.draft, draft)
  const plan = complete(merged)
  if (Result.isSuccess(plan))
    return { _tag: "Understood", plan: plan.success, draft: merged, corrections: fragment.corrections }
  return alone._tag === "Understood"
    ? alone
    : { _tag: "NotUnderstood", problem: plan.failure, source: same.facts, corrections: fragment.corrections }
}

const filler = new Set([
  "the",
  "a",
  "an",
  "i",
  "mean",
  "meant",
  "please",
  "want",
  "by",
  "of",
  "it",
  "is",
  "yes",
  "that",
  "one",
  "use",
  "take",
  "option",
  "ok",
  "okay",
  "well"
])
const places: ReadonlyArray<RegExp> = [
  /^(?:first|1st|1|former)$/,
  /^(?:second|2nd|2)$/,
  /^(?:third|3rd|3)$/,
  /^(?:fourth|4th|4)$/,
  /^(?:fifth|5th|5)$/
]

/** Whether a reply names one of the alternatives that we asked back with; then the question as it was meant. */
const answerToUs = (reply: string, question: string, problem: Problem): string | undefined => {
  const alternatives =
    problem._tag === "Ambiguous" || problem._tag === "Incomplete" || problem._tag === "Unknown"
      ? problem._tag === "Unknown"
        ? problem.near
        : problem.alternatives
      : []
  if (alternatives.length === 0) return undefined
  const words = wordsOf(reply).filter((word) => !filler.has(word))
  const key = phraseKey(words)
  const named = (one: Alternative): boolean =>
    [one.label, one.words].some((text) => phraseKey(wordsOf(text).filter((word) => !filler.has(word))) === key)
  const byPlace = words.length === 1 ? places.findIndex((pattern) => pattern.test(words[0] ?? "")) : -1
  const begun =
    words.length === 0 ? [] : alternatives.filter((one) => phraseKey(wordsOf(one.label)).startsWith(`${key} `))
  const chosen =
    alternatives.find(named) ??
    (begun.length === 1 ? begun[0] : undefined) ??
    (byPlace === -1 ? undefined : alternatives[byPlace])
  if (chosen === undefined) return undefined
  if (problem._tag === "Ambiguous" && problem.words !== "") return replaceWords(question, problem.words, chosen.words)
  if (problem._tag === "Unknown") return replaceWords(question, problem.words[0] ?? "", chosen.words)
  return problem._tag === "Ambiguous"
    ? `${question.replace(/[?!.\s]+$/, "")} of ${chosen.words}`
    : `${chosen.words} ${question}`
}

/** Puts words in the place of others, which the question may write with other spaces and marks. */
const replaceWords = (question: string, words: string, by: string): string | undefined => {
  const pattern = words
    .split(/\s+/)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join("[^\\p{L}\\p{N}]+")
  const match = new RegExp(pattern, "iu").exec(question)
  return match === null
    ? undefined
    : `${question.slice(0, match.index)}${by}${question.slice(match.index + match[0].length)}`
}

/** The source that a question is about, and what became of it there. */
const choose = (all: ReadonlyArray<Interpretation>, question: string): Understanding => {
  const sorted = all.toSorted((left, right) => right.coverage - left.coverage)
  const [best] = sorted
  if (best === undefined)
    return { _tag: "NotUnderstood", problem: { _tag: "NoData" }, source: undefined, corrections: [] }
  const close = sorted.filter((one) => one.coverage >= best.coverage - nearly)
  const finished = close.map(finish)
  const understood = finished.filter((one) => one._tag === "Understood")
  const [first] = understood
  if (first !== undefined && understood.length === 1) return first
  if (first !== undefined) {
    return {
      _tag: "NotUnderstood",
      problem: {
        _tag: "Ambiguous",
        words: "",
        alternatives: understood.map((one) => ({
          label: one.draft.facts.source.label,
          words: (one.draft.facts.entities[0] ?? [one.draft.facts.source.name]).join(" ")
        }))
      },
      source: undefined,
      corrections: first.corrections
    }
  }
  const needs = finished.flatMap((one) => (one._tag === "Needs" ? one.needs : [])).slice(0, 3)
  if (needs.length > 0) return { _tag: "Needs", needs }
  const beyond = finished.find((one) => one._tag === "NotUnderstood" && one.problem._tag === "Beyond")
  if (beyond?._tag === "NotUnderstood")
    return { ...beyond, source: close.length === 1 && best.coverage > 0 ? beyond.source : undefined }
  const [result] = finished
  const named = best.mentions.some((mention) => mention.terms.length > 0)
  if (!named || result === undefined || result._tag !== "NotUnderstood") {
    const unknown = result?._tag === "NotUnderstood" && result.problem._tag === "Unknown" ? result.problem.words : []
    return {
      _tag: "NotUnderstood",
      problem:
        unknown.length > 0
          ? { _tag: "Unknown", words: unknown, near: near(unknown, all) }
          : {
              _tag: "Incomplete",
              message: `I do not find anything of the data in “${question.trim().slice(0, 200)}”.`,
              alternatives: []
            },
      source: undefined,
      corrections: best.corrections
    }
  }
  if (result.problem._tag === "Unknown") {
    return { ...result, problem: { ...result.problem, near: near(result.problem.words, close) } }
  }
  return result
}

const finish = (one: Interpretation): Understanding => {
  const draft = one.result
  if (Result.isFailure(draft)) {
    const { failure } = draft
    return failure._tag === "LookUp" || failure._tag === "Census"
      ? { _tag: "Needs", needs: [failure] }
      : { _tag: "NotUnderstood", problem: failure, source: one.facts, corrections: one.corrections }
  }
  const plan = complete(draft.success)
  return Result.isSuccess(plan)
    ? { _tag: "Understood", plan: plan.success, draft: draft.success, corrections: one.corrections }
    : { _tag: "NotUnderstood", problem: plan.failure, source: one.facts, corrections: one.corrections }
}

/** Fields whose descriptions use an unknown word: they may be what is meant, so they are offered, never assumed. */
const near = (words: ReadonlyArray<string>, all: ReadonlyArray<Interpretation>): ReadonlyArray<Alternative> => {
  const keys = new Set(words.flatMap((word) => wordsOf(word)).map((word) => phraseKey([word])))
  const found: Array<Alternative> = []
  for (const one of all) {
    for (const facts of one.facts.fields) {
      const description = facts.field.description
      if (description === undefined || facts.path.length > 0 || found.length >= 5) continue
      if (wordsOf(description).some((word) => word.length > 3 && keys.has(phraseKey([word])))) {
        found.push({ label: facts.field.label, words: (facts.phrases[0] ?? [facts.field.name]).join(" ") })
      }
    }
  }
  return found
}
