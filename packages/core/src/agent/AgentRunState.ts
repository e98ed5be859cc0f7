/**
 * The life of an agent's run: queued, asked in a chat, then completed, failed or cancelled; an ended one never changes
 * again. Every pair of state and event has an answer; an illegal one is a refusal that says the state.
 *
 * Source: decisions.md §9.
 */
import type * as DateTime from "effect/DateTime"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { ChatId } from "../chat/Chat.ts"
import { RunId } from "../run/Run.ts"
import { AgentRun, AgentRunFailure, AgentRunStatus } from "./AgentRun.ts"

/** What can happen to a run. */
export const AgentRunEvent = Schema.TaggedUnion({
  /** Its prompt was asked in a chat. */
  Ask: { chatId: ChatId, runId: RunId },
  Complete: {},
  Fail: { failure: AgentRunFailure, error: Schema.String },
  Cancel: {}
})
export type AgentRunEvent = typeof AgentRunEvent.Type

/** The run's state does not allow this. */
export class AgentRunRefusal extends Schema.TaggedError<AgentRunRefusal>()("AgentRunRefusal", {
  state: Schema.Literals(["Queued", "Running", "Completed", "Failed", "Cancelled"]),
  event: Schema.Literals(["Ask", "Complete", "Fail", "Cancel"])
}) {
  override get message(): string {
    return `cannot ${this.event.toLowerCase()} an agent run that is ${this.state.toLowerCase()}`
  }
}

/** The run after an event at a moment. */
export const advance = (
  run: AgentRun,
  event: AgentRunEvent,
  at: DateTime.Utc
): Result.Result<AgentRun, AgentRunRefusal> => {
  const { status } = run
  const refused = () => Result.fail(new AgentRunRefusal({ state: status._tag, event: event._tag }))
  const become = (next: AgentRunStatus) => Result.succeed(new AgentRun({ ...run, status: next }))
  const active = status._tag === "Queued" || status._tag === "Running"
  const asked = status._tag === "Running" ? { asked: { chatId: status.chatId, runId: status.runId } } : {}
  return AgentRunEvent.match(event, {
    Ask: ({ chatId, runId }) =>
      status._tag === "Queued"
        ? become(AgentRunStatus.cases.Running.make({ chatId, runId, startedAt: at }))
        : refused(),
    Complete: () =>
      status._tag === "Running"
        ? become(
            AgentRunStatus.cases.Completed.make({
              chatId: status.chatId,
              runId: status.runId,
              startedAt: status.startedAt,
              endedAt: at
            })
          )
        : refused(),
    Fail: ({ error, failure }) =>
      active ? become(AgentRunStatus.cases.Failed.make({ ...asked, endedAt: at, failure, error })) : refused(),
    Cancel: () => (active ? become(AgentRunStatus.cases.Cancelled.make({ ...asked, endedAt: at })) : refused())
  })
}
