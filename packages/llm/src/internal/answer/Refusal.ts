/**
 * What is said when a question is not answered: why, what it may have meant, and what can be answered. Never a number.
 */
import type { BeyondKind } from "../language/Operator.ts"
import { nameOf, type SourceFacts } from "../understanding/Facts.ts"
import { isCategory, isMeasure, isNumber } from "../understanding/Measuring.ts"
import type { Correction } from "../understanding/Mention.ts"
import type { Alternative, Problem } from "../understanding/Problem.ts"
import { listed } from "../plan/Reading.ts"
import { momentRangeInWords } from "./Coverage.ts"
import { examples } from "./Examples.ts"
import { escaped } from "./Format.ts"

const quoted = (words: string): string => `“${escaped(words.length > 120 ? `${words.slice(0, 119)}…` : words)}”`

const limits: Readonly<Record<BeyondKind, string>> = {
  cause: "I can show what happened, not why: the data hold figures, not causes.",
  future: "I only know what the data recorded. I do not forecast or estimate.",
  advice: "I can show figures, but I do not give recommendations or opinions.",
  statistics:
    "That is a computation that I do not offer. I count, sum, average, compare, rank, relate two numbers and show how they are distributed.",
  change: "I only read data; I never change, send or store anything.",
  meaning: "I answer questions about figures; I do not write or judge texts."
}

/** The reply to a question that is not answered. */
export const refusal = (
  problem: Problem,
  sources: ReadonlyArray<SourceFacts>,
  source: SourceFacts | undefined,
  corrections: ReadonlyArray<Correction>
): string => {
  const relevant = source === undefined ? sources : [source]
  const read =
    corrections.length === 0
      ? []
      : [corrections.map((one) => `I read ${quoted(one.written)} as ${quoted(one.read)}.`).join(" ")]
  return [...said(problem, sources), ...read, ...offer(problem, relevant)].join("\n\n")
}

const said = (problem: Problem, sources: ReadonlyArray<SourceFacts>): ReadonlyArray<string> => {
  switch (problem._tag) {
    case "Empty":
      return ["I did not get a question."]
    case "TooLong":
      return ["That is more than I can read as one question. Ask one thing at a time, in a sentence or two."]
    case "Greeting":
      return ["Hello! Ask me about the data, and I answer with figures from them."]
    case "NoData":
      return [
        "There is no ontology in this chat, so there is nothing that I could ask about. Add a model to the `ontology/` folder of the library, or connect a source with data."
      ]
    case "About":
      return overview(problem.source, sources)
    case "Beyond":
      return [`You ask ${quoted(problem.words)}. ${limits[problem.kind]}`]
    case "Unknown":
      return [
        `I did not understand ${listed(problem.words.slice(0, 6).map(quoted))}, so I did not answer rather than guess. If it is a name in the data, put it in quotation marks.`,
        ...choices("Did you mean one of these?", problem.near)
      ]
    case "Ambiguous":
      return problem.words === ""
        ? choices("This can be answered from more than one part of the data. Which do you mean?", problem.alternatives)
        : choices(
            `${quoted(problem.words)} can mean more than one thing here. Which do you mean?`,
            problem.alternatives
          )
    case "Incomplete":
      return [problem.message, ...choices("You can choose from:", problem.alternatives)]
    case "Leftover":
      return [
        `I understood most of your question, but not what ${listed(problem.words.slice(0, 6).map(quoted))} asks for there, so I did not answer rather than leave it out.`
      ]
    case "NoValue":
      return [
        `There is no ${quoted(problem.words)} in ${escaped(problem.field)}.`,
        `${escaped(problem.field)} has these values: ${listed(problem.values.slice(0, 20).map(escaped))}${problem.values.length > 20 ? ` and ${problem.values.length - 20} more` : ""}.`
      ]
  }
}

const choices = (lead: string, alternatives: ReadonlyArray<Alternative>): ReadonlyArray<string> =>
  alternatives.length === 0
    ? []
    : [
        `${lead}\n\n${alternatives
          .slice(0, 10)
          .map((one) => `- ${escaped(one.label)}`)
          .join("\n")}`
      ]

/** What can be answered instead. */
const offer = (problem: Problem, sources: ReadonlyArray<SourceFacts>): ReadonlyArray<string> => {
  if (problem._tag === "About" || problem._tag === "NoData" || sources.length === 0) return []
  if (problem._tag === "Ambiguous" || (problem._tag === "Incomplete" && problem.alternatives.length > 0)) return []
  const asked =
    sources.length === 1
      ? sources.flatMap((one) => examples(one))
      : sources.slice(0, 4).flatMap((one) => examples(one).slice(1, 2))
  const [only] = sources
  const names = sources.length === 1 && only !== undefined ? [vocabulary(only)] : []
  return [
    ...names,
    `You could ask, for example:\n\n${asked
      .slice(0, 4)
      .map((one) => `- ${escaped(one)}`)
      .join("\n")}`
  ]
}

/** What there is in a source to ask about. */
const vocabulary = (facts: SourceFacts): string => {
  const own = facts.fields.filter((one) => one.path.length === 0)
  const numbers = [
    ...own.filter(isMeasure),
    ...own.filter((one) => isNumber(one) && !own.some((other) => isMeasure(other)))
  ]
  const categories = own.filter(isCategory)
  const parts = [
    ...(numbers.length === 0
      ? []
      : [`numbers such as ${listed(numbers.slice(0, 6).map((one) => escaped(nameOf(one))))}`]),
    ...(categories.length === 0
      ? []
      : [
          `by ${listed(
            categories.slice(0, 6).map((one) => escaped(nameOf(one))),
            "or"
          )}`
        ])
  ]
  return `About **${escaped(facts.source.label)}** I can tell ${parts.join(", ")}.`
}

/** What the data are: all of them in a line each, or one source in full. */
const overview = (name: string | undefined, sources: ReadonlyArray<SourceFacts>): ReadonlyArray<string> => {
  const one = sources.find((facts) => facts.source.name === name)
  if (one !== undefined) return describe(one)
  return [
    `I answer questions about these data with figures computed from them:`,
    sources
      .map((facts) => {
        const description = facts.source.description?.split(/(?<=[.!?])\s/)[0] ?? ""
        return `- **${escaped(facts.source.label)}**${description === "" ? "" : `: ${escaped(description)}`}`
      })
      .join("\n"),
    `You could ask, for example:\n\n${sources
      .slice(0, 5)
      .flatMap((facts) => examples(facts).slice(1, 2))
      .map((question) => `- ${escaped(question)}`)
      .join("\n")}`
  ]
}

const describe = (facts: SourceFacts): ReadonlyArray<string> => {
  const own = facts.fields.filter((one) => one.path.length === 0)
  const line = (one: (typeof own)[number]): string => {
    const unit = one.unit === undefined ? "" : ` (${escaped(one.unit)})`
    const range = one.time === undefined ? undefined : momentRangeInWords(one)
    const description = one.field.description === undefined ? "" : `: ${escaped(one.field.description)}`
    return `- **${escaped(nameOf(one))}**${unit}${description}${range === undefined ? "" : ` From ${range}.`}`
  }
  const dimensions = own.filter((one) => one.field.kind === "dimension")
  const measures = own.filter((one) => one.field.kind === "measure")
  const joined = [...new Set(facts.fields.flatMap((one) => (one.path.length === 0 ? [] : [one.path.join(" ")])))]
  return [
    `**${escaped(facts.source.label)}**${facts.source.description === undefined ? "" : `: ${escaped(facts.source.description)}`}`,
    ...(measures.length === 0 ? [] : [`Measures:\n\n${measures.map(line).join("\n")}`]),
    ...(dimensions.length === 0 ? [] : [`Dimensions:\n\n${dimensions.map(line).join("\n")}`]),
    ...(joined.length === 0 ? [] : [`It also knows the fields of: ${listed(joined.map(escaped))}.`]),
    `You could ask, for example:\n\n${examples(facts)
      .map((question) => `- ${escaped(question)}`)
      .join("\n")}`
  ]
}
