/**
 * A statistic that no query computes: what the queries found is handed to a program in the sandbox, and its figures are
 * told in sentences. Without a sandbox there is no figure, and it says so.
 */
import { packagesIn } from "@castellan/core/analyst/SandboxDescription"
import { ExecutionResult, RunPython } from "@castellan/core/analyst/Tool"
import type { ModelTurn } from "@castellan/core/model/LanguageModels"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { framed } from "../answer/Answer.ts"
import { escaped, plainNumber } from "../answer/Format.ts"
import { sentences } from "../answer/StatisticWords.ts"
import type { StatisticsFindings } from "../plan/Findings.ts"
import type { Statistics } from "../plan/Plan.ts"
import { title } from "../plan/Reading.ts"
import { program } from "../program/Program.ts"
import type { Correction } from "../understanding/Mention.ts"
import type { Exchange } from "./Exchange.ts"
import { calls, type Move, says, sentence } from "./Move.ts"

const decodeResult = Schema.decodeUnknownOption(Schema.fromJsonString(ExecutionResult))

/** What is said where a statistic is asked for and nothing can compute it. */
export const withoutPython = (asked: string, plan: Statistics): string =>
  [
    `I understood the question (${escaped(asked)}), but this is computed by a program, and this chat has no Python to run one, so I have no figures. Switch Python on, or ask an administrator for a sandbox.`,
    plan.columns.length === 1
      ? "What I can show without it: how the number is distributed, its average, its median, its highest and lowest."
      : "What I can show without it: numbers by groups and over time, and the relationship between two numbers."
  ].join("\n\n")

/** Has the program run, and tells what it found. */
export const statistic = (
  findings: StatisticsFindings,
  talk: Exchange,
  tools: ModelTurn["tools"],
  corrections: ReadonlyArray<Correction>
): Move => {
  const { count, main, plan } = findings
  const asked = title(plan)
  if (count === 0) return says(framed(plan, ["There are no such records in the data."], { corrections, notes: [] }))
  if (main.truncated) {
    const much = `There are ${plainNumber(count)} records with more different values than I can hand to a program, and I do not compute a statistic from a part of them. Narrow the question down: to a time, a place, or a kind.`
    return says(framed(plan, [much], { corrections, notes: [] }))
  }
  const done = talk.steps.find(({ call }) => call.name === RunPython.name)
  if (done === undefined) {
    const description = tools.find(({ name }) => name === RunPython.name)?.description ?? ""
    return calls({
      name: RunPython.name,
      arguments: { title: title(plan, 120), code: program(findings, packagesIn(description)) }
    })
  }
  if (done.failed) {
    return says(
      `I understood the question (${escaped(asked)}), but the program that computes it failed, so I have no figures: ${escaped(sentence(reasonOf(done.content)))}`
    )
  }
  const result = Option.getOrUndefined(decodeResult(done.content))
  const found = result === undefined ? Option.none() : sentences(findings, result.output)
  if (result === undefined || Option.isNone(found)) {
    return says(
      `I understood the question (${escaped(asked)}), but the program did not answer in the form that I know, so I have no figures.`
    )
  }
  const notes = (result.assets ?? []).length > 0 ? [] : ["The figure could not be drawn."]
  return says(framed(plan, found.value, { corrections, notes }))
}

/** What went wrong, without where: a traceback's last line, before any output. */
const reasonOf = (message: string): string => {
  const [told = ""] = message.split(/\n(?:Note: |Output before it ended:)/)
  const last = told.trimEnd().split("\n").at(-1) ?? ""
  return last.replace(/^SystemExit: /, "")
}
