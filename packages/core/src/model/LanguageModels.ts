/**
 * The port to language models: one turn of a conversation, streamed.
 *
 * Source: architecture.md §3; a turn is the durable step of a run.
 */
import * as Context from "effect/Context"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type { ModelId } from "./Model.ts"

/** A tool as the model sees it. `parameters` is a JSON Schema document of an object. */
export const ToolDescription = Schema.Struct({
  name: Schema.NonEmptyString,
  description: Schema.String,
  parameters: Schema.Record(Schema.String, Schema.Unknown)
})
export type ToolDescription = typeof ToolDescription.Type

/** A model's request to run a tool. The arguments are what the model wrote: decoded by the tool, never trusted. */
export const ToolCall = Schema.Struct({
  id: Schema.NonEmptyString,
  name: Schema.String,
  arguments: Schema.Unknown
})
export type ToolCall = typeof ToolCall.Type

/** One entry of the conversation that a model continues. */
export const ModelMessage = Schema.TaggedUnion({
  /** What the user asked. */
  Question: { text: Schema.String },
  /** What a model said earlier, with the tools it called. */
  Answer: { text: Schema.String, toolCalls: Schema.Array(ToolCall) },
  /** What a tool answered: JSON text for a success, a sentence for a failure. */
  ToolResult: { callId: Schema.NonEmptyString, name: Schema.String, content: Schema.String, failed: Schema.Boolean }
})
export type ModelMessage = typeof ModelMessage.Type

/** What a model is asked for one turn. */
export interface ModelTurn {
  readonly model: ModelId
  /** Standing instructions: who it is, what it may use, today's date. */
  readonly instructions: string
  readonly messages: ReadonlyArray<ModelMessage>
  /** The tools on offer; empty when the model must answer now. */
  readonly tools: ReadonlyArray<ToolDescription>
  /** Output tokens that this turn may still use. */
  readonly maxOutputTokens: number
}

/** What a model streams during a turn: pieces of text, calls, and exactly one `Finished` at the end. */
export const ModelOutput = Schema.TaggedUnion({
  Text: { text: Schema.String },
  Call: { call: ToolCall },
  Finished: { inputTokens: Schema.Int, outputTokens: Schema.Int }
})
export type ModelOutput = typeof ModelOutput.Type

/** A model could not take its turn. */
export class LanguageModelError extends Schema.TaggedError<LanguageModelError>()("LanguageModelError", {
  /** A sentence that is fit for the user; the cause goes to the log only. */
  message: Schema.String,
  /** Whether the same turn may succeed when tried again. */
  retryable: Schema.Boolean,
  cause: Schema.optionalKey(Schema.Defect())
}) {}

/** A model that an adapter can serve. */
export interface ServedModel {
  /** The id that `model` on the wire takes. */
  readonly id: ModelId
  readonly provider: string
  readonly name: string
  readonly supportsFastMode: boolean
}

/** A way to ask language models. Interrupting the stream stops the request at the provider. */
export class LanguageModels extends Context.Service<
  LanguageModels,
  {
    /** The models that this adapter serves, best first. */
    readonly served: ReadonlyArray<ServedModel>
    /** Takes one turn. Fails for a model that is not served. */
    readonly turn: (turn: ModelTurn) => Stream.Stream<ModelOutput, LanguageModelError>
  }
>()("@castellan/core/model/LanguageModels") {}
