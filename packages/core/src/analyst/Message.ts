/**
 * The answer as it is written: a cell of the assistant that grows with the model's words.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as Result from "effect/Result"
import { Cell, CellContent, CellStatus } from "../chat/Cell.ts"
import { type CellEvent, transition } from "../chat/CellState.ts"
import { RunEvent } from "../run/RunEvent.ts"
import type { RunContext } from "./RunContext.ts"

/** The answer of a run while it is written. */
export interface Message {
  /** Adds words. The cell is shown with the first of them. */
  readonly write: (text: string) => Effect.Effect<void>
  /** Separates what was written from what comes, where anything was. */
  readonly paragraph: Effect.Effect<void>
  /** Whether nothing was written but blanks. */
  readonly isEmpty: Effect.Effect<boolean>
  /** Ends the cell, where it was begun, with all that was written. */
  readonly end: (event: CellEvent) => Effect.Effect<void>
}

const markdown = (content: string): CellContent => CellContent.cases.Markdown.make({ role: "assistant", content })

/** An answer without a word yet. */
export const make = (context: RunContext): Effect.Effect<Message> =>
  Effect.map(
    Ref.make<{ readonly cell: Cell | undefined; readonly text: string }>({ cell: undefined, text: "" }),
    (state) => {
      // Not to be interrupted half-way: what is kept here and what was told are the same at every moment.
      const write = Effect.fnUntraced(function* (text: string) {
        const before = yield* Ref.get(state)
        if (before.cell === undefined) {
          const cell = new Cell({
            id: context.run.messageCellId,
            content: markdown(""),
            status: CellStatus.cases.Running.make({}),
            result: {},
            createdAt: yield* DateTime.now
          })
          yield* Ref.set(state, { cell, text })
          yield* context.emit(RunEvent.cases.Cell.make({ cell }))
        } else {
          yield* Ref.set(state, { cell: before.cell, text: before.text + text })
        }
        yield* context.emit(RunEvent.cases.Text.make({ text }))
      }, Effect.uninterruptible)
      return {
        write,
        paragraph: Effect.flatMap(Ref.get(state), ({ text }) =>
          text === "" || text.endsWith("\n\n") ? Effect.void : write("\n\n")
        ),
        isEmpty: Effect.map(Ref.get(state), ({ text }) => text.trim() === ""),
        end: Effect.fnUntraced(function* (event) {
          const { cell, text } = yield* Ref.get(state)
          if (cell === undefined) return
          const ended = transition(cell, event, yield* DateTime.now, { content: markdown(text) })
          if (Result.isSuccess(ended)) yield* context.emit(RunEvent.cases.Cell.make({ cell: ended.success }))
        })
      }
    }
  )
