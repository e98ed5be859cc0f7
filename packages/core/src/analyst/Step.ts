/**
 * A step of a run that readers see as a cell: emitted when it starts, and again, under the same id, when it has
 * ended, however it ended.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Cause from "effect/Cause"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { Cell, type CellContent, CellId, type CellOutput, CellStatus } from "../chat/Cell.ts"
import { type CellEnd, CellEvent, transition } from "../chat/CellState.ts"
import { RunEvent } from "../run/RunEvent.ts"
import type { RunContext } from "./RunContext.ts"
import type { ToolFailure } from "./ToolFailure.ts"

/** What a step comes to: its value, and what its cell has to show. */
export interface StepOutcome<A> extends CellEnd {
  readonly value: A
}

/** The cell of a step that is under way. */
export interface OpenCell {
  readonly id: CellId
  /** Shows more of what the step does, when it is told the next time. */
  readonly reveal: (content: CellContent) => Effect.Effect<void>
  /** Keeps what the step has put out so far: it is shown however the step ends, unless it ends with something else. */
  readonly keep: (result: CellOutput) => Effect.Effect<void>
  /** Tells the cell as it is now. */
  readonly tell: Effect.Effect<void>
}

/** Runs a step as a cell. A failure is the cell's error; an interruption halts the cell. */
export const step = Effect.fnUntraced(function* <A, R>(
  context: RunContext,
  start: { readonly title: string; readonly content: CellContent },
  work: (cell: OpenCell) => Effect.Effect<StepOutcome<A>, ToolFailure, R>
) {
  let cell = new Cell({
    id: CellId.make(yield* context.nextId),
    title: start.title,
    content: start.content,
    status: CellStatus.cases.Running.make({}),
    result: {},
    createdAt: yield* DateTime.now
  })
  const show = Effect.suspend(() => context.emit(RunEvent.cases.Cell.make({ cell })))
  const end = Effect.fnUntraced(function* (event: CellEvent, shown: CellEnd) {
    const ended = transition(cell, event, yield* DateTime.now, shown)
    if (Result.isFailure(ended)) return
    cell = ended.success
    yield* show
  })
  const change = (more: Partial<Pick<Cell, "content" | "result">>) =>
    Effect.sync(() => {
      cell = new Cell({ ...cell, ...more })
    })
  const open: OpenCell = {
    id: cell.id,
    reveal: (content) => change({ content }),
    keep: (result) => change({ result }),
    tell: show
  }
  // Acquired and released: a step whose start was told is told to its end, even when it is interrupted in between.
  const outcome = yield* Effect.acquireUseRelease(
    show,
    () => work(open),
    (_, exit) => {
      if (Exit.isSuccess(exit)) return end(CellEvent.cases.Complete.make({}), exit.value)
      if (Cause.hasInterruptsOnly(exit.cause)) return end(CellEvent.cases.Halt.make({}), {})
      const failure = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
      return end(CellEvent.cases.Fail.make({ error: failure?.shown ?? failure?.message ?? "internal error" }), {})
    }
  )
  return outcome.value
})
