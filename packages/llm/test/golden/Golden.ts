/**
 * What a question of the golden set expects, and how an answer is held against it. The expected figures are never
 * written down: SQL computes them from the files when the test runs.
 */
import type { ResultTable, Value } from "@castellan/core/connector/ResultTable"
import type { Outcome } from "../fixture/Conversation.ts"

/** The chart that fits an answer, by its mark. */
export type ChartKind = "line" | "bar" | "point" | "none"

/** A question with what it expects. */
export type Golden =
  | {
      /** The question, or a conversation whose last question counts. */
      readonly ask: string | ReadonlyArray<string>
      readonly world?: "drafted"
      readonly sql: string
      /** `rows`: all of them, in any order; `ranked`: all of them in this order; `first`: the first row answers. */
      readonly as?: "rows" | "ranked" | "first"
      readonly chart?: ChartKind
    }
  | {
      readonly ask: string | ReadonlyArray<string>
      readonly world?: "drafted"
      /** What the refusal says. */
      readonly refused: RegExp
    }

/** How a question did. */
export type Verdict =
  | { readonly _tag: "Right" }
  /** No figure was given where one was expected: a pity, not a lie. */
  | { readonly _tag: "Silent"; readonly why: string }
  /** A figure was given that is not the expected one. */
  | { readonly _tag: "Wrong"; readonly why: string }

const numeric = (value: Value): number | undefined => {
  if (typeof value === "number") return value
  return typeof value === "string" && /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(value) ? Number(value) : undefined
}

const same = (left: Value, right: Value): boolean => {
  const [one, other] = [numeric(left), numeric(right)]
  if (one !== undefined && other !== undefined)
    return Math.abs(one - other) <= 1e-6 * Math.max(1, Math.abs(one), Math.abs(other))
  if (
    typeof left === "string" &&
    typeof right === "string" &&
    /^\d{4}-\d{2}-\d{2}/.test(left) &&
    /^\d{4}-\d{2}-\d{2}/.test(right)
  ) {
    return (
      left.slice(0, 10) === right.slice(0, 10) && (left.slice(11, 16) || "00:00") === (right.slice(11, 16) || "00:00")
    )
  }
  return left === right
}

/** Whether a row has every expected value, each in a cell of its own. */
const has = (row: ReadonlyArray<Value>, expected: ReadonlyArray<Value>): boolean => {
  const left = [...row]
  return expected.every((value) => {
    const at = left.findIndex((cell) => same(cell, value))
    if (at === -1) return false
    left.splice(at, 1)
    return true
  })
}

const matches = (actual: ResultTable, expected: ResultTable, as: "rows" | "ranked" | "first"): boolean => {
  const [first] = expected.rows
  if (as === "first") return first !== undefined && actual.rows[0] !== undefined && has(actual.rows[0], first)
  if (actual.rows.length !== expected.rows.length) return false
  if (as === "ranked") return expected.rows.every((row, index) => has(actual.rows[index] ?? [], row))
  const left = [...actual.rows]
  return expected.rows.every((row) => {
    const at = left.findIndex((candidate) => has(candidate, row))
    if (at === -1) return false
    left.splice(at, 1)
    return true
  })
}

/** The numbers of a text, as far as its rounding tells them. */
const numbersIn = (text: string): ReadonlyArray<{ readonly value: number; readonly tolerance: number }> =>
  [...text.replaceAll("−", "-").matchAll(/-?\d[\d,]*(?:\.\d+)?/g)].map((match) => {
    const written = match[0].replaceAll(",", "")
    const decimals = written.split(".")[1]?.length ?? 0
    return { value: Number(written), tolerance: 0.51 * 10 ** -decimals }
  })

/** Whether the text tells the figure that the question is about, within the digits that it shows. */
const tells = (text: string, value: number): boolean =>
  numbersIn(text).some((one) => Math.abs(one.value - value) <= Math.max(one.tolerance, Math.abs(value) * 0.005))

const markOf = (outcome: Outcome): ChartKind => {
  const [chart] = outcome.charts
  if (chart === undefined) return "none"
  const { mark } = chart.specification
  const type =
    typeof mark === "string"
      ? mark
      : typeof mark === "object" && mark !== null && "type" in mark
        ? mark.type
        : undefined
  return type === "line" || type === "bar" || type === "point" ? type : "none"
}

/** Results that only looked something up before the question was read. */
export const isLook = (query: string): boolean =>
  query.includes("`same` is lower(") || query.includes("`names_` is count(")

/** Holds an answer against what was expected. */
export const judge = (golden: Golden, outcome: Outcome, expected: ResultTable | undefined): Verdict => {
  const answered = outcome.queries.some((query) => !isLook(query))
  if ("refused" in golden) {
    if (answered) return { _tag: "Wrong", why: `answered what has no answer: ${outcome.text}` }
    return golden.refused.test(outcome.text)
      ? { _tag: "Right" }
      : { _tag: "Silent", why: `refused, but said: ${outcome.text}` }
  }
  if (!answered) return { _tag: "Silent", why: outcome.text }
  const as = golden.as ?? "rows"
  if (expected === undefined || expected.rows.length === 0)
    return { _tag: "Silent", why: "the expected figures are missing" }
  if (!outcome.results.some((result) => matches(result, expected, as))) {
    return {
      _tag: "Wrong",
      why: `expected ${JSON.stringify(expected.rows.slice(0, 4))}, found ${JSON.stringify(outcome.results.at(-1)?.rows.slice(0, 4))}: ${outcome.text}`
    }
  }
  const figures =
    expected.rows.length === 1 || as !== "rows"
      ? (expected.rows[0] ?? []).flatMap((value) => (typeof value === "number" ? [value] : []))
      : []
  const untold = figures.find((value) => !tells(outcome.text, value))
  if (untold !== undefined) return { _tag: "Wrong", why: `the answer does not tell ${untold}: ${outcome.text}` }
  const mark = markOf(outcome)
  if (golden.chart !== undefined && mark !== golden.chart)
    return { _tag: "Silent", why: `expected a ${golden.chart} chart, found ${mark}` }
  return { _tag: "Right" }
}
