/**
 * How a playbook's prompt becomes the question of a chat of its own: part of the use case that starts the run, so that
 * there is never a chat without its run, nor a run without its chat.
 *
 * Source: decisions.md §6 ("Run"); architecture.md §2 ("A use case is one transaction").
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type { Done } from "../audit/UseCase.ts"
import * as Asking from "../chat/Asking.ts"
import { defaultTools } from "../chat/Chat.ts"
import { Conflict, InvalidRequest } from "../error/Failure.ts"
import type { Run } from "../run/Run.ts"
import type { PlaybookConfiguration } from "./Playbook.ts"
import type { PlaybookRun } from "./PlaybookRun.ts"
import { advance, PlaybookRunEvent } from "./PlaybookRunState.ts"

/** A run of a playbook with the chat's run that carries it. */
export interface AskedPlaybookRun {
  readonly run: PlaybookRun
  readonly chatRun: Run
}

/** A playbook without a prompt cannot run; the message names what is missing. */
export const requirePrompt = (
  configuration: Pick<PlaybookConfiguration, "prompt">
): Effect.Effect<void, InvalidRequest> =>
  configuration.prompt.trim() === ""
    ? Effect.fail(new InvalidRequest({ message: "prompt: the playbook has no prompt to run" }))
    : Effect.void

/** Asks the prompt of a queued run on its principal's behalf, and answers with the run as it is then; it is not kept. */
export const make = Effect.map(Asking.make, (keepQuestion) =>
  Effect.fnUntraced(function* (queued: PlaybookRun) {
    const { connectorIds, prompt } = queued.configuration
    yield* requirePrompt(queued.configuration)
    const asked = yield* keepQuestion(queued.principal, {
      question: prompt,
      source: "playbook",
      tools: connectorIds.length === 0 ? defaultTools : { ...defaultTools, connectorIds }
    })
    const chatRun = asked.answer
    const event = PlaybookRunEvent.cases.Ask.make({ chatId: chatRun.chatId, runId: chatRun.id })
    const run = yield* Effect.mapError(
      Effect.fromResult(advance(queued, event, yield* DateTime.now)),
      ({ message }) => new Conflict({ message })
    )
    const done: Done<AskedPlaybookRun> = {
      answer: { run, chatRun },
      entries: [
        ...asked.entries,
        {
          action: "run",
          target: { type: "playbook", id: run.playbookId },
          after: { run: run.id, trigger: run.trigger._tag.toLowerCase(), chat: chatRun.chatId }
        }
      ]
    }
    return done
  })
)

/** What asking on behalf of a playbook needs. */
export type Asks = Effect.Services<typeof make>
