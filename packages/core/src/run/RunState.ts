/**
 * The life of a run: queued, running, then completed, failed or cancelled; an ended one never changes again.
 *
 * Every pair of state and event has an answer; an illegal one is a refusal that says the state.
 */
import type * as DateTime from "effect/DateTime"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Run, RunFailure, RunStatus, type RunUsage } from "./Run.ts"

/** What can happen to a run. */
export const RunTransition = Schema.TaggedUnion({
  Start: {},
  Complete: {},
  Fail: { failure: RunFailure, error: Schema.String },
  Cancel: {}
})
export type RunTransition = typeof RunTransition.Type

/** The run's state does not allow this. */
export class RunRefusal extends Schema.TaggedError<RunRefusal>()("RunRefusal", {
  state: Schema.Literals(["Queued", "Running", "Completed", "Failed", "Cancelled"]),
  transition: Schema.Literals(["Start", "Complete", "Fail", "Cancel"])
}) {
  override get message(): string {
    return `cannot ${this.transition.toLowerCase()} a run that is ${this.state.toLowerCase()}`
  }
}

/** The status after a transition at a moment. */
export const transition = (
  status: RunStatus,
  event: RunTransition,
  at: DateTime.Utc
): Result.Result<RunStatus, RunRefusal> => {
  const refuse = (): Result.Result<RunStatus, RunRefusal> =>
    Result.fail(new RunRefusal({ state: status._tag, transition: event._tag }))
  const active = status._tag === "Queued" || status._tag === "Running"
  return RunTransition.match(event, {
    Start: () =>
      status._tag === "Queued" ? Result.succeed(RunStatus.cases.Running.make({ startedAt: at })) : refuse(),
    Complete: () =>
      status._tag === "Running"
        ? Result.succeed(RunStatus.cases.Completed.make({ startedAt: status.startedAt, endedAt: at }))
        : refuse(),
    Fail: ({ error, failure }) =>
      active ? Result.succeed(RunStatus.cases.Failed.make({ endedAt: at, failure, error })) : refuse(),
    Cancel: () => (active ? Result.succeed(RunStatus.cases.Cancelled.make({ endedAt: at })) : refuse())
  })
}

/** The run after a transition at a moment, with what it has used up by then. */
export const advance = (
  run: Run,
  event: RunTransition,
  at: DateTime.Utc,
  usage: RunUsage = run.usage
): Result.Result<Run, RunRefusal> =>
  Result.map(transition(run.status, event, at), (status) => new Run({ ...run, status, usage }))
