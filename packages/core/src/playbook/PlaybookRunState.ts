/**
 * The life of a playbook's run: queued, asked in a chat, then completed with a report, failed or cancelled; an ended
 * one never changes again. Every pair of state and event has an answer; an illegal one is a refusal that says the
 * state.
 *
 * Source: decisions.md §6 ("Run").
 */
import type * as DateTime from "effect/DateTime"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { ChatId } from "../chat/Chat.ts"
import { ReportId } from "../report/Report.ts"
import { RunId } from "../run/Run.ts"
import { chatOf, PlaybookRun, PlaybookRunFailure, PlaybookRunStatus } from "./PlaybookRun.ts"

/** What can happen to a run. */
export const PlaybookRunEvent = Schema.TaggedUnion({
  /** Its prompt was asked in a chat. */
  Ask: { chatId: ChatId, runId: RunId },
  Complete: { reportId: ReportId },
  Fail: { failure: PlaybookRunFailure, error: Schema.String },
  Cancel: {}
})
export type PlaybookRunEvent = typeof PlaybookRunEvent.Type

/** The run's state does not allow this. */
export class PlaybookRunRefusal extends Schema.TaggedError<PlaybookRunRefusal>()("PlaybookRunRefusal", {
  state: Schema.Literals(["Queued", "Running", "Completed", "Failed", "Cancelled"]),
  event: Schema.Literals(["Ask", "Complete", "Fail", "Cancel"])
}) {
  override get message(): string {
    return `cannot ${this.event.toLowerCase()} a playbook run that is ${this.state.toLowerCase()}`
  }
}

/** The run after an event at a moment. */
export const advance = (
  run: PlaybookRun,
  event: PlaybookRunEvent,
  at: DateTime.Utc
): Result.Result<PlaybookRun, PlaybookRunRefusal> => {
  const { status } = run
  const refused = () => Result.fail(new PlaybookRunRefusal({ state: status._tag, event: event._tag }))
  const become = (next: PlaybookRunStatus) => Result.succeed(new PlaybookRun({ ...run, status: next }))
  const active = status._tag === "Queued" || status._tag === "Running"
  const asked = chatOf(run)
  return PlaybookRunEvent.match(event, {
    Ask: ({ chatId, runId }) =>
      status._tag === "Queued"
        ? become(PlaybookRunStatus.cases.Running.make({ chatId, runId, startedAt: at }))
        : refused(),
    Complete: ({ reportId }) =>
      status._tag === "Running"
        ? become(
            PlaybookRunStatus.cases.Completed.make({
              chatId: status.chatId,
              runId: status.runId,
              startedAt: status.startedAt,
              endedAt: at,
              reportId
            })
          )
        : refused(),
    Fail: ({ error, failure }) =>
      active
        ? become(
            PlaybookRunStatus.cases.Failed.make({
              ...(asked === undefined ? {} : { asked }),
              endedAt: at,
              failure,
              error
            })
          )
        : refused(),
    Cancel: () =>
      active
        ? become(PlaybookRunStatus.cases.Cancelled.make({ ...(asked === undefined ? {} : { asked }), endedAt: at }))
        : refused()
  })
}
