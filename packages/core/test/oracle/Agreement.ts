/** What the tests ask of a question: that both judge all requests alike, and that both outcomes are had often enough. */
import { examine, isBalanced, shareOf, told } from "./Oracle.ts"
import type { Question } from "./Question.ts"

// Each mutant of a rule is tried with fewer requests: it is a run of its own.
const requests = process.env["CASTELLAN_MUTATION"] === undefined ? 20_000 : 4_000

/** Puts the question's share of 20,000 requests to both: the first ones that they disagree on, or nothing. */
export const objections = (question: Question): ReadonlyArray<string> => {
  const tally = examine(question, shareOf(requests), 1)
  return [
    ...tally.disagreements.map(told),
    ...(isBalanced(tally) ? [] : [`only ${tally.allowed} of ${tally.requests} are allowed, or all but a few`])
  ]
}
