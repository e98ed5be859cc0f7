/**
 * Random requests, put to our rules and to Cedar's: every question gets its share of them.
 */
import * as AccessQuestions from "./AccessQuestions.ts"
import * as ChangeQuestions from "./ChangeQuestions.ts"
import { Draw } from "./Draw.ts"
import * as KeyQuestions from "./KeyQuestions.ts"
import type { Answer, Question } from "./Question.ts"

/** Every question, by its subject: as many runs of their own, on as many cores. */
export const subjects = {
  access: AccessQuestions.questions,
  keys: KeyQuestions.questions,
  changes: ChangeQuestions.questions
} as const
export type Subject = keyof typeof subjects

/** Every question. */
export const questions: ReadonlyArray<Question> = Object.values(subjects).flat()

/** A request that both judged differently, with the seed that draws it again. */
export interface Disagreement extends Answer {
  readonly action: string
  readonly seed: number
}

/** What came of the requests of one question. */
export interface Tally {
  readonly action: string
  readonly requests: number
  readonly allowed: number
  /** The first few. */
  readonly disagreements: ReadonlyArray<Disagreement>
  readonly disagreementCount: number
}

/** How many requests each question gets, of so many in all. */
export const shareOf = (requests: number): number => Math.ceil(requests / questions.length)

/** Whether neither outcome is a rarity: each is at least a tenth, or nothing would have been compared. */
export const isBalanced = ({ allowed, requests }: Tally): boolean =>
  allowed * 10 >= requests && (requests - allowed) * 10 >= requests

const kept = 3

/** Puts a number of requests to one question. Each has a seed of its own, so that it can be drawn again alone. */
export const examine = (question: Question, requests: number, seed: number): Tally => {
  let allowed = 0
  let disagreementCount = 0
  const disagreements: Array<Disagreement> = []
  for (let index = 0; index < requests; index++) {
    const own = (Math.imul(seed, 0x9e3779b1) + Math.imul(index, 0x85ebca6b)) >>> 0
    const answer = question.ask(new Draw(own))
    if (answer.cedars.startsWith("allow")) allowed++
    if (answer.ours === answer.cedars) continue
    disagreementCount++
    if (disagreements.length < kept) disagreements.push({ ...answer, action: question.action, seed: own })
  }
  return { action: question.action, requests, allowed, disagreements, disagreementCount }
}

/** A disagreement to be read. */
export const told = ({ action, cedars, facts, ours, seed }: Disagreement): string =>
  `${action}: we say "${ours}", Cedar says "${cedars}" (seed ${seed})\n${JSON.stringify(facts, undefined, 2)}`
