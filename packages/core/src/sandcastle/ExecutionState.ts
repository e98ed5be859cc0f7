/**
 * The life of an execution: running, then completed, failed or interrupted; an ended one never changes again.
 */
import type * as DateTime from "effect/DateTime"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Execution, ExecutionStatus } from "./Execution.ts"
import { previewOf } from "./OutputPreview.ts"

/** What can happen to an execution. */
export const ExecutionEvent = Schema.TaggedUnion({
  Complete: {},
  Fail: { error: Schema.String },
  Interrupt: { stateLost: Schema.optionalKey(Schema.Boolean) }
})
export type ExecutionEvent = typeof ExecutionEvent.Type

/** The execution has ended already. */
export class ExecutionRefusal extends Schema.TaggedError<ExecutionRefusal>()("ExecutionRefusal", {
  state: Schema.Literals(["Completed", "Failed", "Interrupted"]),
  event: Schema.Literals(["Complete", "Fail", "Interrupt"])
}) {
  override get message(): string {
    return `cannot ${this.event.toLowerCase()} an execution that is ${this.state.toLowerCase()}`
  }
}

/** The status after an event at a moment. */
export const next = (
  status: ExecutionStatus,
  event: ExecutionEvent,
  at: DateTime.Utc
): Result.Result<ExecutionStatus, ExecutionRefusal> => {
  if (status._tag !== "Running") {
    return Result.fail(new ExecutionRefusal({ state: status._tag, event: event._tag }))
  }
  const { Completed, Failed, Interrupted } = ExecutionStatus.cases
  return Result.succeed(
    ExecutionEvent.match(event, {
      Complete: (): ExecutionStatus => Completed.make({ endedAt: at }),
      Fail: ({ error }) => Failed.make({ endedAt: at, error }),
      Interrupt: ({ stateLost }) => Interrupted.make(stateLost === true ? { endedAt: at, stateLost } : { endedAt: at })
    })
  )
}

/** The execution after it ended at a moment, with the beginning of what it put out. */
export const end = (
  execution: Execution,
  event: ExecutionEvent,
  at: DateTime.Utc,
  output: string
): Result.Result<Execution, ExecutionRefusal> =>
  Result.map(
    next(execution.status, event, at),
    (status) => new Execution({ ...execution, status, outputPreview: previewOf(output) })
  )
