/**
 * A language model that says what a script says: for tests of whatever stands on the `LanguageModels` port, without a
 * network and without chance. It also does what real models do on their worst days: it fails, stalls, talks without
 * end, and calls tools that are not there.
 *
 * Time is Effect's own: under `TestClock` a pause passes when the test says so.
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Cause from "effect/Cause"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import {
  LanguageModelError,
  LanguageModels,
  ModelOutput,
  type ModelTurn,
  type ServedModel
} from "@castellan/core/model/LanguageModels"
import { ModelId } from "@castellan/core/model/Model"

/** What a model streams during one turn, however it comes about. */
export type ScriptedOutput = Stream.Stream<ModelOutput, LanguageModelError>

/** One turn of a script: its outputs word for word, a stream of them, or either of these made from what was asked. */
export type ScriptedTurn =
  | ReadonlyArray<ModelOutput>
  | ScriptedOutput
  | ((turn: ModelTurn) => ReadonlyArray<ModelOutput> | ScriptedOutput)

/**
 * What a model says: its turns in the order in which they are asked, whoever asks; or one turn for every time that it
 * is asked.
 */
export type Script = ReadonlyArray<ScriptedTurn> | ((turn: ModelTurn) => ReadonlyArray<ModelOutput> | ScriptedOutput)

/** A turn that was asked, and what became of it. */
export interface RecordedTurn {
  readonly turn: ModelTurn
  readonly outcome: "streaming" | "ended" | "failed" | "interrupted"
}

/** The model that a scripted model serves when the test names none. */
export const servedModel: ServedModel = {
  id: ModelId.make("scripted/model-1"),
  provider: "scripted",
  name: "Scripted model",
  supportsFastMode: false
}

/** The test's view of a scripted model: what it was asked, and what it is to say next. */
export class ScriptedModel extends Context.Service<
  ScriptedModel,
  {
    /** Every turn that was asked so far, in order. */
    readonly recorded: Effect.Effect<ReadonlyArray<RecordedTurn>>
    /** Returns as soon as this many turns have been asked, since the beginning. */
    readonly asked: (count: number) => Effect.Effect<void>
    /** What the model says from now on: a list starts from its first turn. */
    readonly follow: (script: Script) => Effect.Effect<void>
  }
>()("@castellan/testing/scripted/ScriptedModel") {}

/** A piece of text. */
export const text = (words: string): ModelOutput => ModelOutput.cases.Text.make({ text: words })

/** A call of a tool; `id` tells it from the other calls of the turn. */
export const call = (name: string, input: unknown, id: string = `call_${name}`): ModelOutput =>
  ModelOutput.cases.Call.make({ call: { id, name, arguments: input } })

/** The end of a turn, with the tokens that it took. */
export const finished = (inputTokens: number = 10, outputTokens: number = 5): ModelOutput =>
  ModelOutput.cases.Finished.make({ inputTokens, outputTokens })

/** A whole turn of text, in pieces. */
export const says = (...pieces: ReadonlyArray<string>): ReadonlyArray<ModelOutput> => [...pieces.map(text), finished()]

/** A whole turn that calls one tool. */
export const calls = (name: string, input: unknown, id?: string): ReadonlyArray<ModelOutput> => [
  call(name, input, id),
  finished()
]

/** A turn that breaks off after some outputs. */
export const failing = (
  failure: { readonly message?: string; readonly retryable?: boolean } = {},
  before: ReadonlyArray<ModelOutput> = []
): ScriptedOutput =>
  Stream.concat(
    Stream.fromArray(before),
    Stream.fail(
      new LanguageModelError({
        message: failure.message ?? "the model is not available",
        retryable: failure.retryable ?? false
      })
    )
  )

/** A turn that says nothing for a while first. */
export const after = (pause: Duration.Input, turn: ReadonlyArray<ModelOutput> | ScriptedOutput): ScriptedOutput =>
  Stream.concat(Stream.fromEffectDrain(Effect.sleep(pause)), streamOf(turn))

/** A turn that says something, and then nothing more, for ever. */
export const stalling = (...before: ReadonlyArray<ModelOutput>): ScriptedOutput =>
  Stream.concat(Stream.fromArray(before), Stream.never)

/** A turn that says the same thing for ever, as fast as it is read. */
export const endless = (output: ModelOutput): ScriptedOutput => Stream.forever(Stream.succeed(output))

const isStream = (turn: ReadonlyArray<ModelOutput> | ScriptedOutput): turn is ScriptedOutput => Stream.isStream(turn)

/** The outputs of a turn come one by one, as they do from a network. */
const streamOf = (turn: ReadonlyArray<ModelOutput> | ScriptedOutput): ScriptedOutput =>
  isStream(turn) ? turn : Stream.rechunk(Stream.fromArray(turn), 1)

const performed = (scripted: ScriptedTurn | undefined, turn: ModelTurn): ScriptedOutput => {
  if (scripted === undefined) return failing({ message: "the script has no further turn" })
  return streamOf(typeof scripted === "function" ? scripted(turn) : scripted)
}

/**
 * A model that follows a script, and the test's view of it. A turn beyond the end of the script fails, and is not
 * worth another try.
 */
export const layer = (
  script: Script = [],
  options: { readonly served?: ReadonlyArray<ServedModel> } = {}
): Layer.Layer<ScriptedModel | LanguageModels> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const served = options.served ?? [servedModel]
      // A benchmark asks many thousand turns: they are recorded in place, and only their number is told to those who wait.
      const recorded: Array<{ readonly turn: ModelTurn; outcome: RecordedTurn["outcome"] }> = []
      const count = yield* SubscriptionRef.make(0)
      let current: { readonly script: Script; next: number } = { script, next: 0 }

      const take = (turn: ModelTurn): ScriptedOutput =>
        performed(typeof current.script === "function" ? current.script : current.script[current.next++], turn)

      const begin = Effect.fnUntraced(function* (turn: ModelTurn) {
        const one: (typeof recorded)[number] = { turn, outcome: "streaming" }
        recorded.push(one)
        yield* SubscriptionRef.set(count, recorded.length)
        return one
      })

      const settle = (one: (typeof recorded)[number], exit: Exit.Exit<unknown, unknown>) =>
        Effect.sync(() => {
          one.outcome = Exit.isSuccess(exit) ? "ended" : Cause.hasInterrupts(exit.cause) ? "interrupted" : "failed"
        })

      const perform = Effect.fnUntraced(function* (turn: ModelTurn) {
        if (!served.some((model) => model.id === turn.model)) {
          return failing({ message: `the model ${turn.model} is not served` })
        }
        const output = take(turn)
        // Acquired with the stream's own scope: whatever ends the stream settles the record.
        yield* Effect.acquireRelease(begin(turn), settle)
        return output
      })

      return Context.make(LanguageModels, { served, turn: (turn) => Stream.unwrap(perform(turn)) }).pipe(
        Context.add(ScriptedModel, {
          recorded: Effect.sync(() => recorded.map((one) => ({ ...one }))),
          asked: (times) =>
            SubscriptionRef.changes(count).pipe(
              Stream.takeUntil((now) => now >= times),
              Stream.runDrain
            ),
          follow: (next) =>
            Effect.sync(() => {
              current = { script: next, next: 0 }
            })
        })
      )
    })
  )
