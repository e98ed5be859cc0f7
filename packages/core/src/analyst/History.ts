/**
 * What was asked and answered before in a chat, as a model reads it.
 */
import type { Transcript } from "../chat/Transcript.ts"
import * as Upload from "../chat/Upload.ts"
import { ModelMessage } from "../model/LanguageModels.ts"

const lengthOf = (messages: ReadonlyArray<ModelMessage>): number =>
  messages.reduce((sum, message) => sum + (message._tag === "ToolResult" ? 0 : message.text.length), 0)

/**
 * The conversation of earlier runs, oldest first. The oldest runs are left out, whole, where all of them together have
 * more characters than allowed: a long chat must not outgrow its model.
 */
export const historyOf = (runs: ReadonlyArray<Transcript>, maxCharacters: number): ReadonlyArray<ModelMessage> => {
  const kept: Array<ReadonlyArray<ModelMessage>> = []
  let characters = 0
  for (const { messages } of runs.toReversed()) {
    const said = messages.map((message) =>
      message.role === "user"
        ? ModelMessage.cases.Question.make({ text: Upload.toldWith(message.content, message.files ?? []) })
        : ModelMessage.cases.Answer.make({ text: message.content, toolCalls: [] })
    )
    characters += lengthOf(said)
    if (characters > maxCharacters) break
    kept.unshift(said)
  }
  return kept.flat()
}
