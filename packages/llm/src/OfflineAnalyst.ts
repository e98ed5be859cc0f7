/**
 * The offline analyst: a language model that needs no network. It reads the ontology, maps a question onto a query,
 * and writes the answer with its figures, a table and a fitting chart, through the same tools that any model calls.
 *
 * It is a pure function of the conversation and the tools on offer: the same conversation gives the same turn, and
 * nothing is read, kept or sent anywhere else. It never guesses a number: a word that it cannot account for ends in a
 * question back, with what it may have meant and what can be asked.
 *
 * Source: the first milestone ("a language model that needs no network … it never guesses a number").
 */
import {
  LanguageModelError,
  LanguageModels,
  ModelOutput,
  type ModelTurn,
  type ServedModel
} from "@castellan/core/model/LanguageModels"
import { ModelId } from "@castellan/core/model/Model"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { pieces, tokens } from "./internal/turn/Pieces.ts"
import { move } from "./internal/turn/Turn.ts"

/** The id by which the analyst is asked for. */
export const modelId: ModelId = ModelId.make("offline/analyst-1")

/** The analyst as an organization's models list it. */
export const served: ServedModel = {
  id: modelId,
  provider: "offline",
  name: "Offline analyst",
  supportsFastMode: false
}

/**
 * The outputs of one turn, in order. Usage counts a quarter of the characters read and written; a text that would use
 * more than `maxOutputTokens` ends where they do.
 */
export const outputs = (turn: ModelTurn): ReadonlyArray<ModelOutput> => {
  const next = move(turn)
  const read = turn.messages.reduce((sum, message) => sum + lengthOf(message), turn.instructions.length)
  const written: Array<ModelOutput> = []
  let characters = 0
  if (next._tag === "Says") {
    for (const text of pieces(next.text)) {
      if (tokens(characters + text.length) > turn.maxOutputTokens) break
      characters += text.length
      written.push(ModelOutput.cases.Text.make({ text }))
    }
  } else {
    next.calls.forEach((call, index) => {
      characters += JSON.stringify(call).length
      const id = `call_${turn.messages.length}_${index + 1}`
      written.push(ModelOutput.cases.Call.make({ call: { id, name: call.name, arguments: call.arguments } }))
    })
  }
  return [...written, ModelOutput.cases.Finished.make({ inputTokens: tokens(read), outputTokens: tokens(characters) })]
}

const lengthOf = (message: ModelTurn["messages"][number]): number => {
  switch (message._tag) {
    case "Question":
      return message.text.length
    case "Answer":
      return message.toolCalls.reduce(
        (sum, call) => sum + call.name.length + (JSON.stringify(call.arguments) ?? "").length,
        message.text.length
      )
    case "ToolResult":
      return message.content.length
  }
}

/** Serves the offline analyst. */
export const layer: Layer.Layer<LanguageModels> = Layer.succeed(
  LanguageModels,
  LanguageModels.of({
    served: [served],
    turn: (turn) =>
      turn.model === modelId
        ? Stream.suspend(() => Stream.fromIterable(outputs(turn)))
        : Stream.fail(
            new LanguageModelError({ message: `the model ${turn.model} is not served here`, retryable: false })
          )
  })
)
