/**
 * The life of a cell: pending, running, then completed, failed or halted; an ended one never changes again.
 *
 * Every pair of state and event has an answer; an illegal one is a refusal that says the state.
 */
import type * as DateTime from "effect/DateTime"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Cell, type CellContent, type CellOutput, CellStatus } from "./Cell.ts"

/** What can happen to a cell. */
export const CellEvent = Schema.TaggedUnion({
  Start: {},
  Complete: {},
  Fail: { error: Schema.String },
  Halt: {}
})
export type CellEvent = typeof CellEvent.Type

/** The cell's state does not allow this. */
export class CellRefusal extends Schema.TaggedError<CellRefusal>()("CellRefusal", {
  state: Schema.Literals(["Pending", "Running", "Completed", "Failed", "Halted"]),
  event: Schema.Literals(["Start", "Complete", "Fail", "Halt"])
}) {
  override get message(): string {
    return `cannot ${this.event.toLowerCase()} a cell that is ${this.state.toLowerCase()}`
  }
}

/** The status after an event at a moment. A pending cell can be halted, or fail, before its turn has come. */
export const next = (
  status: CellStatus,
  event: CellEvent,
  at: DateTime.Utc
): Result.Result<CellStatus, CellRefusal> => {
  const refuse = (): Result.Result<CellStatus, CellRefusal> =>
    Result.fail(new CellRefusal({ state: status._tag, event: event._tag }))
  const open = status._tag === "Pending" || status._tag === "Running"
  return CellEvent.match(event, {
    Start: () => (status._tag === "Pending" ? Result.succeed(CellStatus.cases.Running.make({})) : refuse()),
    Complete: () =>
      status._tag === "Running" ? Result.succeed(CellStatus.cases.Completed.make({ endedAt: at })) : refuse(),
    Fail: ({ error }) => (open ? Result.succeed(CellStatus.cases.Failed.make({ endedAt: at, error })) : refuse()),
    Halt: () => (open ? Result.succeed(CellStatus.cases.Halted.make({ endedAt: at })) : refuse())
  })
}

/** What a cell has to show for itself when it ends. */
export interface CellEnd {
  readonly content?: CellContent
  readonly result?: CellOutput
}

/** The cell after an event at a moment. */
export const transition = (
  cell: Cell,
  event: CellEvent,
  at: DateTime.Utc,
  end: CellEnd = {}
): Result.Result<Cell, CellRefusal> =>
  Result.map(
    next(cell.status, event, at),
    (status) => new Cell({ ...cell, status, content: end.content ?? cell.content, result: end.result ?? cell.result })
  )
