/** What is made up for in the log of a run whose server stopped at any moment. */
import { Cell, CellContent, CellId, CellStatus } from "@castellan/core/chat/Cell"
import * as Transcript from "@castellan/core/chat/Transcript"
import { Run, type RunStatus, RunStatus as Status } from "@castellan/core/run/Run"
import { closingOf } from "@castellan/core/run/RunClosing"
import { RunEvent, RunLogEntry } from "@castellan/core/run/RunEvent"
import { openingOf } from "@castellan/core/run/RunOpening"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import * as WellFormed from "@castellan/testing/fixture/WellFormed"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"

const at = DateTime.makeUnsafe("2030-01-01T00:00:00.000Z")

const failed: RunStatus = Status.cases.Failed.make({ endedAt: at, failure: "execution_failed", error: "gone" })

const entriesOf = (events: ReadonlyArray<RunEvent>): ReadonlyArray<RunLogEntry> =>
  events.map((event, index) => new RunLogEntry({ sequence: index + 1, event }))

/** A run with everything that its log tells when nothing goes wrong. */
const told = Effect.gen(function* () {
  const maker = yield* Sample.principal(yield* Sample.organizationId)
  const run = yield* Sample.run(maker, yield* Sample.chat(maker))
  const step = new Cell({
    id: CellId.make(yield* Sample.cellId),
    title: "Sales",
    content: CellContent.cases.Sql.make({ query: "select 1" }),
    status: CellStatus.cases.Running.make({}),
    result: {},
    createdAt: at
  })
  const answer = new Cell({
    ...step,
    id: run.messageCellId,
    content: CellContent.cases.Markdown.make({ role: "assistant", content: "" })
  })
  const completed = CellStatus.cases.Completed.make({ endedAt: at })
  const events = [
    ...openingOf(run),
    RunEvent.cases.Cell.make({ cell: answer }),
    RunEvent.cases.Text.make({ text: "Let me " }),
    RunEvent.cases.Cell.make({ cell: step }),
    RunEvent.cases.Cell.make({ cell: new Cell({ ...step, status: completed }) }),
    RunEvent.cases.Text.make({ text: "see." }),
    RunEvent.cases.Cell.make({
      cell: new Cell({
        ...answer,
        status: completed,
        content: CellContent.cases.Markdown.make({ role: "assistant", content: "Let me see." })
      })
    }),
    RunEvent.cases.Done.make({ status: "completed" })
  ]
  return { run, events }
})

describe("the closing of a run's log", () => {
  it.effect("wherever the log was left, what is made up for makes it a whole one", () =>
    Effect.gen(function* () {
      const { events, run } = yield* told
      assert.deepStrictEqual(WellFormed.violations(events), [])
      const ended = new Run({ ...run, status: failed })
      for (let length = 0; length <= events.length; length++) {
        const left = events.slice(0, length)
        // The opening is told in one step.
        if (length === 1) continue
        const whole = [...left, ...closingOf(ended, entriesOf(left), at)]
        assert.deepStrictEqual(WellFormed.violations(whole), [], `${length} events`)
      }
      assert.deepStrictEqual(closingOf(ended, entriesOf(events), at), [])
    }).pipe(Effect.provide(layerCrypto))
  )

  it.effect("what was said stays said, and what was at work is halted", () =>
    Effect.gen(function* () {
      const { events, run } = yield* told
      const left = events.slice(0, 5)
      const whole = [...left, ...closingOf(new Run({ ...run, status: failed }), entriesOf(left), at)]
      const { cells, messages } = Transcript.ofEntries(entriesOf(whole))
      assert.deepStrictEqual(
        messages.map(({ content }) => content),
        [run.question, "Let me "]
      )
      assert.deepStrictEqual(
        cells.map(({ status }) => status._tag),
        ["Completed", "Halted", "Halted"]
      )
      assert.deepStrictEqual(whole.at(-1), RunEvent.cases.Done.make({ status: "failed", error: "gone" }))
    }).pipe(Effect.provide(layerCrypto))
  )

  it.effect("a run that goes on has nothing to make up for", () =>
    Effect.gen(function* () {
      const { events, run } = yield* told
      assert.deepStrictEqual(closingOf(run, entriesOf(events.slice(0, 4)), at), [])
    }).pipe(Effect.provide(layerCrypto))
  )
})
