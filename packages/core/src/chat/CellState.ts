/**
 * The life of a cell: running, then completed, failed or halted; an ended one never changes again.
 */
import type * as DateTime from "effect/DateTime"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Cell, type CellContent, type CellOutput, CellStatus } from "./Cell.ts"

/** What can happen to a cell. */
export const CellEvent = Schema.TaggedUnion({
  Complete: {},
  Fail: { error: Schema.String },
  Halt: {}
})
export type CellEvent = typeof CellEvent.Type

/** The cell has ended already. */
export class CellRefusal extends Schema.TaggedError<CellRefusal>()("CellRefusal", {
  state: Schema.Literals(["Completed", "Failed", "Halted"])
}) {
  override get message(): string {
    return `the cell is ${this.state.toLowerCase()} already`
  }
}

/** What a cell has to show for itself when it ends. */
export interface CellEnd {
  readonly content?: CellContent
  readonly result?: CellOutput
}

/** Ends a running cell. */
export const transition = (
  cell: Cell,
  event: CellEvent,
  at: DateTime.Utc,
  end: CellEnd = {}
): Result.Result<Cell, CellRefusal> => {
  if (cell.status._tag !== "Running") return Result.fail(new CellRefusal({ state: cell.status._tag }))
  const status = CellEvent.match(event, {
    Complete: (): CellStatus => CellStatus.cases.Completed.make({ endedAt: at }),
    Fail: ({ error }) => CellStatus.cases.Failed.make({ endedAt: at, error }),
    Halt: () => CellStatus.cases.Halted.make({ endedAt: at })
  })
  return Result.succeed(
    new Cell({ ...cell, status, content: end.content ?? cell.content, result: end.result ?? cell.result })
  )
}
