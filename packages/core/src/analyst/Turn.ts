/**
 * One turn of the model: its text goes to the log as it comes, its calls are gathered.
 */
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import {
  LanguageModelError,
  type LanguageModels,
  type ModelOutput,
  type ModelTurn,
  type ToolCall
} from "../model/LanguageModels.ts"
import { noUsage, type RunUsage } from "../run/Run.ts"
import type { RunLimits } from "../run/RunLimits.ts"

/** What a turn came to. */
export interface TurnOutcome {
  readonly text: string
  /** The calls of the turn, each with an id of its own. */
  readonly calls: ReadonlyArray<ToolCall>
  readonly usage: RunUsage
  /** Whether the model was still at it when it was cut off. */
  readonly cutOff: boolean
}

/** Tries of a turn that failed before it said anything, and for a reason that may pass. */
const retries = { times: 3, schedule: Schedule.exponential("500 millis") }

/** Outputs that are gathered at most: a model that answers at once is still read piece by piece. */
const outputsPerEvent = 8

/** Output tokens of a text, roughly: no model writes more than this many characters for each of its tokens. */
const charactersPerToken = 16

const nothing: TurnOutcome = { text: "", calls: [], usage: noUsage, cutOff: false }

/** A call's result is told by the call's id: one that is missing, or was given before, is made up. */
const withOwnId = (calls: ReadonlyArray<ToolCall>, call: ToolCall): ToolCall => {
  let id = call.id === "" ? "call" : call.id
  while (calls.some((other) => other.id === id)) id = `${id}_${calls.length + 1}`
  return id === call.id ? call : { ...call, id }
}

/** A count as a model gave it: what is no count is none. */
const countOf = (tokens: number): number => (Number.isSafeInteger(tokens) && tokens > 0 ? tokens : 0)

const add = (outcome: TurnOutcome, outputs: ReadonlyArray<ModelOutput>): TurnOutcome => {
  let { text, usage } = outcome
  const calls = [...outcome.calls]
  for (const output of outputs) {
    if (output._tag === "Text") text += output.text
    else if (output._tag === "Call") calls.push(withOwnId(calls, output.call))
    else usage = { inputTokens: countOf(output.inputTokens), outputTokens: countOf(output.outputTokens), toolCalls: 0 }
  }
  return { ...outcome, text, calls, usage }
}

const textOf = (outputs: ReadonlyArray<ModelOutput>): string =>
  outputs.reduce((text, output) => (output._tag === "Text" ? text + output.text : text), "")

const isSilent = ({ calls, text }: TurnOutcome): boolean => text === "" && calls.length === 0

const brokenOff = new LanguageModelError({ message: "the model's answer broke off", retryable: true })

const isFinished = (output: ModelOutput): boolean => output._tag === "Finished"

/**
 * Takes a turn: everything up to the model's `Finished`. Text is grouped for a few milliseconds before `onText` stores
 * it. A model that writes without end is cut off at the turn's limit of tokens, which it has then used up; one that
 * calls without end is cut off beyond the run's limit of calls; one that stops without `Finished` has failed.
 */
export const takeTurn = (
  models: LanguageModels["Service"],
  turn: ModelTurn,
  limits: RunLimits,
  onText: (text: string) => Effect.Effect<void>
): Effect.Effect<TurnOutcome, LanguageModelError> =>
  Effect.gen(function* () {
    const outcome = yield* Ref.make(nothing)
    let finished = false
    /** Pieces of output, which count at least one character each: not even empty ones come without end. */
    let pieces = 0
    const maxCharacters = turn.maxOutputTokens * charactersPerToken
    const attempt = models.turn(turn).pipe(
      Stream.takeUntil(isFinished),
      Stream.groupedWithin(outputsPerEvent, limits.textInterval),
      Stream.mapEffect(
        Effect.fnUntraced(function* (outputs) {
          pieces += outputs.length
          const text = textOf(outputs)
          const now = yield* Ref.updateAndGet(outcome, (before) => add(before, outputs))
          if (text !== "") yield* onText(text)
          if (outputs.some(isFinished)) {
            finished = true
            return true
          }
          if (now.calls.length <= limits.maxToolCalls && Math.max(pieces, now.text.length) < maxCharacters) return true
          yield* Ref.update(outcome, cutOff(turn))
          return false
        })
      ),
      Stream.takeWhile((goesOn) => goesOn),
      Stream.runDrain,
      Effect.andThen(Ref.get(outcome)),
      // Half an answer must not pass for one; nothing at all is no answer anyway.
      Effect.flatMap((now) => (finished || now.cutOff || isSilent(now) ? Effect.void : Effect.fail(brokenOff)))
    )
    yield* Effect.retry(attempt, {
      ...retries,
      while: (error) => Effect.map(Ref.get(outcome), (now) => isSilent(now) && error.retryable)
    })
    return yield* Ref.get(outcome)
  })

/** A turn that did not come to its end told no account of its tokens: it is taken to have used all that it could. */
const cutOff =
  (turn: ModelTurn) =>
  (outcome: TurnOutcome): TurnOutcome => ({
    ...outcome,
    usage: { ...noUsage, outputTokens: turn.maxOutputTokens },
    cutOff: true
  })
