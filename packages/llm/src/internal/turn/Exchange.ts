/**
 * The conversation as the analyst needs it: what was asked so far, and what has been called and answered since the
 * last question.
 */
import * as Upload from "@castellan/core/chat/Upload"
import type { ModelMessage, ToolCall } from "@castellan/core/model/LanguageModels"

/** A call since the last question, with its answer. */
export interface Step {
  readonly call: ToolCall
  readonly content: string
  readonly failed: boolean
}

/** The conversation up to now. */
export interface Exchange {
  /** Every question, the current one last, without the list of the files that came with it. */
  readonly questions: ReadonlyArray<string>
  /** Whether files came with the current question. */
  readonly hasFiles: boolean
  /** Calls since the current question that have been answered, in order. */
  readonly steps: ReadonlyArray<Step>
  /** How many entries the conversation has: makes ids of calls unique in it. */
  readonly length: number
}

/** Reads a conversation. */
export const exchange = (messages: ReadonlyArray<ModelMessage>): Exchange => {
  const questions: Array<string> = []
  let hasFiles = false
  let calls: Array<ToolCall> = []
  let steps: Array<Step> = []
  for (const message of messages) {
    switch (message._tag) {
      case "Question": {
        const asked = Upload.askedIn(message.text)
        questions.push(asked.question)
        hasFiles = asked.hasFiles
        calls = []
        steps = []
        break
      }
      case "Answer":
        calls.push(...message.toolCalls)
        break
      case "ToolResult": {
        const call = calls.find((candidate) => candidate.id === message.callId)
        if (call !== undefined) steps.push({ call, content: message.content, failed: message.failed })
        break
      }
    }
  }
  return { questions, hasFiles, steps, length: messages.length }
}
