/**
 * What a run's log opens with: what the run is, and the question as a cell that has ended. It follows from the run
 * alone, so that the runner can tell it before the run's turn has come, and a run that never gets its turn has told
 * what was asked.
 *
 * Source: decisions.md §4 ("`metadata` first").
 */
import { Cell, CellContent, CellStatus } from "../chat/Cell.ts"
import type { Run } from "./Run.ts"
import { RunEvent } from "./RunEvent.ts"

/** The first events of a run: its metadata, and the question's cell. */
export const openingOf = (run: Run): ReadonlyArray<RunEvent> => [
  RunEvent.cases.Metadata.make({
    messageCellId: run.messageCellId,
    createdAt: run.createdAt,
    model: run.model,
    chatId: run.chatId,
    isContinuation: run.isContinuation
  }),
  RunEvent.cases.Cell.make({
    cell: new Cell({
      id: run.questionCellId,
      content: CellContent.cases.Markdown.make({
        role: "user",
        content: run.question,
        ...(run.files.length === 0 ? {} : { files: run.files })
      }),
      status: CellStatus.cases.Completed.make({ endedAt: run.createdAt }),
      result: {},
      createdAt: run.createdAt
    })
  })
]
