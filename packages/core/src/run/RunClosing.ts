/**
 * What a run's log still lacks when its run has ended without telling, because the server that carried it has stopped:
 * the opening, where not even that was told, the ends of the cells that were begun, and `Done`.
 *
 * Source: decisions.md §4 ("exactly one `done` last").
 */
import type * as DateTime from "effect/DateTime"
import * as Result from "effect/Result"
import type { Cell } from "../chat/Cell.ts"
import { CellContent } from "../chat/Cell.ts"
import { CellEvent, transition } from "../chat/CellState.ts"
import * as Transcript from "../chat/Transcript.ts"
import { isEnded, type Run } from "./Run.ts"
import { RunEvent, type RunLogEntry } from "./RunEvent.ts"
import { openingOf } from "./RunOpening.ts"

/** What an ended run tells its followers, last of all. */
export const doneOf = ({ status }: Run): RunEvent => {
  if (status._tag === "Completed") return RunEvent.cases.Done.make({ status: "completed" })
  const error = status._tag === "Failed" ? status.error : status._tag === "Cancelled" ? "cancelled" : "internal error"
  return RunEvent.cases.Done.make({ status: "failed", error })
}

/** A cell that was begun, as it is shown with what it said so far. */
const halted = (cell: Cell, said: string | undefined, at: DateTime.Utc): ReadonlyArray<RunEvent> => {
  const end =
    cell.content._tag === "Markdown" && said !== undefined
      ? { content: CellContent.cases.Markdown.make({ role: cell.content.role, content: said }) }
      : {}
  return Result.match(transition(cell, CellEvent.cases.Halt.make({}), at, end), {
    // It has its end.
    onFailure: () => [],
    onSuccess: (ended) => [RunEvent.cases.Cell.make({ cell: ended })]
  })
}

/** What is to be told of an ended run after what its log has; nothing after its `Done`. */
export const closingOf = (run: Run, entries: ReadonlyArray<RunLogEntry>, at: DateTime.Utc): ReadonlyArray<RunEvent> => {
  if (!isEnded(run) || entries.at(-1)?.event._tag === "Done") return []
  const { cells, messages } = Transcript.ofEntries(entries)
  const said = new Map(messages.map(({ cellId, content }) => [cellId, content]))
  return [
    ...(entries.length === 0 ? openingOf(run) : []),
    ...cells.flatMap((cell) => halted(cell, said.get(cell.id), at)),
    doneOf(run)
  ]
}
