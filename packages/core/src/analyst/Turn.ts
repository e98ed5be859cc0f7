/**
 * One turn of the model: its text goes to the log as it comes, its calls are gathered.
 */
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import type { LanguageModelError, LanguageModels, ModelOutput, ModelTurn, ToolCall } from "../model/LanguageModels.ts"
import { noUsage, type RunUsage } from "../run/Run.ts"
import type { RunLimits } from "../run/RunLimits.ts"

/** What a turn came to. */
export interface TurnOutcome {
  readonly text: string
  readonly calls: ReadonlyArray<ToolCall>
  readonly usage: RunUsage
}

/** Tries of a turn that failed before it said anything, and for a reason that may pass. */
const retries = { times: 3, schedule: Schedule.exponential("500 millis") }

/** Output tokens of a text, roughly: no model writes more than this many characters for each of its tokens. */
const charactersPerToken = 16

const add = (outcome: TurnOutcome, outputs: ReadonlyArray<ModelOutput>): TurnOutcome => {
  let { text, usage } = outcome
  const calls = [...outcome.calls]
  for (const output of outputs) {
    if (output._tag === "Text") text += output.text
    else if (output._tag === "Call") calls.push(output.call)
    else usage = { inputTokens: output.inputTokens, outputTokens: output.outputTokens, toolCalls: 0 }
  }
  return { text, calls, usage }
}

const textOf = (outputs: ReadonlyArray<ModelOutput>): string =>
  outputs.reduce((text, output) => (output._tag === "Text" ? text + output.text : text), "")

/**
 * Takes a turn. Text is grouped for a few milliseconds before `onText` stores it. A model that writes without end is
 * cut off at the turn's limit of tokens.
 */
export const takeTurn = (
  models: LanguageModels["Service"],
  turn: ModelTurn,
  limits: RunLimits,
  onText: (text: string) => Effect.Effect<void>
): Effect.Effect<TurnOutcome, LanguageModelError> =>
  Effect.gen(function* () {
    const outcome = yield* Ref.make<TurnOutcome>({ text: "", calls: [], usage: noUsage })
    const attempt = models.turn(turn).pipe(
      Stream.groupedWithin(64, limits.textInterval),
      Stream.mapEffect(
        Effect.fnUntraced(function* (outputs) {
          const text = textOf(outputs)
          const { text: all } = yield* Ref.updateAndGet(outcome, (before) => add(before, outputs))
          if (text !== "") yield* onText(text)
          return all.length
        })
      ),
      Stream.takeWhile((length) => length < turn.maxOutputTokens * charactersPerToken),
      Stream.runDrain
    )
    const silent = Effect.map(Ref.get(outcome), ({ calls, text }) => text === "" && calls.length === 0)
    yield* Effect.retry(attempt, { ...retries, while: (error) => Effect.map(silent, (yes) => yes && error.retryable) })
    return yield* Ref.get(outcome)
  })
