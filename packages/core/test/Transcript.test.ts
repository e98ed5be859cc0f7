import * as Answer from "@castellan/core/chat/Answer"
import { Cell, CellContent, CellStatus } from "@castellan/core/chat/Cell"
import * as Transcript from "@castellan/core/chat/Transcript"
import { Run, RunStatus } from "@castellan/core/run/Run"
import { RunEvent, RunLogEntry } from "@castellan/core/run/RunEvent"
import { openingOf } from "@castellan/core/run/RunOpening"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Result } from "effect"

const at = (seconds: number): DateTime.Utc => DateTime.makeUnsafe(seconds * 1000)

const entries = (events: ReadonlyArray<RunEvent>): ReadonlyArray<RunLogEntry> =>
  events.map((event, index) => new RunLogEntry({ sequence: index + 1, event }))

const text = (words: string): RunEvent => RunEvent.cases.Text.make({ text: words })
const done: RunEvent = RunEvent.cases.Done.make({ status: "completed" })

/** A run with the events of its answer's cell. */
const sample = Effect.fnUntraced(function* (question: string) {
  const maker = yield* Sample.principal(yield* Sample.organizationId)
  const run = yield* Sample.run(maker, yield* Sample.chat(maker), { question })
  const message = (content: string, status: CellStatus): RunEvent =>
    RunEvent.cases.Cell.make({
      cell: new Cell({
        id: run.messageCellId,
        content: CellContent.cases.Markdown.make({ role: "assistant", content }),
        status,
        result: {},
        createdAt: at(1)
      })
    })
  const tool = new Cell({
    id: yield* Sample.cellId,
    content: CellContent.cases.Tool.make({ toolName: "make_chart", input: "{}" }),
    status: CellStatus.cases.Running.make({}),
    result: {},
    createdAt: at(2)
  })
  const asset = yield* Sample.asset(run)
  return { run, message, tool, asset, running: CellStatus.cases.Running.make({}) }
})

layer(layerCrypto)("Transcript", (it) => {
  it.effect("shows the words of an answer as they come, and what it ended with once it has ended", () =>
    Effect.gen(function* () {
      const { message, run, running } = yield* sample("How many?")
      const sofar = [...openingOf(run), message("", running), text("Three"), text(" regions")]
      const contents = (events: ReadonlyArray<RunEvent>) =>
        Transcript.ofEntries(entries(events)).messages.map((one) => `${one.role}: ${one.content}`)
      assert.deepStrictEqual(contents(openingOf(run)), ["user: How many?"])
      assert.deepStrictEqual(contents(sofar), ["user: How many?", "assistant: Three regions"])
      const ended = [...sofar, message("Three regions.", CellStatus.cases.Completed.make({ endedAt: at(3) })), done]
      assert.deepStrictEqual(contents(ended), ["user: How many?", "assistant: Three regions."])
      const halted = [...sofar, message("Three regions", CellStatus.cases.Halted.make({ endedAt: at(3) }))]
      assert.deepStrictEqual(contents(halted), ["user: How many?", "assistant: Three regions"])
    })
  )

  it.effect("has each cell once, as it is now, where it first appeared; and assets with their message", () =>
    Effect.gen(function* () {
      const { asset, message, run, running, tool } = yield* sample("Chart?")
      const ended = new Cell({
        ...tool,
        status: CellStatus.cases.Completed.make({ endedAt: at(4) }),
        result: { assets: [asset.id] }
      })
      const events = [
        ...openingOf(run),
        message("", running),
        RunEvent.cases.Cell.make({ cell: tool }),
        RunEvent.cases.Asset.make({ asset }),
        RunEvent.cases.Cell.make({ cell: ended }),
        message("Here.", CellStatus.cases.Completed.make({ endedAt: at(5) })),
        done
      ]
      const { assets, cells, messages } = Transcript.ofEntries(entries(events))
      assert.deepStrictEqual(
        cells.map((cell) => [cell.id, cell.status._tag]),
        [
          [run.questionCellId, "Completed"],
          [run.messageCellId, "Completed"],
          [tool.id, "Completed"]
        ]
      )
      assert.deepStrictEqual(assets, [asset])
      assert.deepStrictEqual(
        messages.map((one) => one.assets),
        [[], [asset]]
      )
    })
  )

  it.effect("reads several runs one after another", () =>
    Effect.gen(function* () {
      const one = yield* sample("First?")
      const two = yield* sample("Second?")
      const all = [one, two].flatMap(({ message, run, running }, index) =>
        entries([
          ...openingOf(run),
          message("", running),
          text(`answer ${index}`),
          RunEvent.cases.Done.make({ status: "failed", error: "cancelled" })
        ])
      )
      assert.deepStrictEqual(
        Transcript.ofEntries(all).messages.map((message) => message.content),
        ["First?", "answer 0", "Second?", "answer 1"]
      )
      assert.deepStrictEqual(Transcript.ofEntries([]), { messages: [], cells: [], assets: [] })
    })
  )

  it.effect("an answer is what a completed run ended with; any other run is told as it failed", () =>
    Effect.gen(function* () {
      const { asset, message, run, running } = yield* sample("How many?")
      const events = entries([
        ...openingOf(run),
        message("", running),
        RunEvent.cases.Asset.make({ asset }),
        message("Three.", CellStatus.cases.Completed.make({ endedAt: at(5) })),
        done
      ])
      const withStatus = (status: RunStatus) => new Run({ ...run, status })
      const completed = withStatus(RunStatus.cases.Completed.make({ startedAt: at(0), endedAt: at(5) }))
      assert.deepStrictEqual(Result.getOrThrow(Answer.ofRun(completed, events)), {
        id: run.messageCellId,
        createdAt: at(1),
        model: run.model,
        response: "Three.",
        chatId: run.chatId,
        assets: [asset]
      })
      const failure = (status: RunStatus) => {
        const error = Result.getOrThrow(Result.flip(Answer.ofRun(withStatus(status), events)))
        return `${error.code}: ${error.message}`
      }
      const { Cancelled, Failed } = RunStatus.cases
      assert.strictEqual(failure(Cancelled.make({ endedAt: at(5) })), "cancelled: the run was cancelled")
      assert.strictEqual(
        failure(Failed.make({ endedAt: at(5), failure: "timeout", error: "too late" })),
        "timeout: too late"
      )
      assert.strictEqual(
        failure(Failed.make({ endedAt: at(5), failure: "execution_failed", error: "no data" })),
        "execution_failed: no data"
      )
      assert.strictEqual(
        Result.getOrThrow(Result.flip(Answer.ofRun(completed, entries(openingOf(run))))).code,
        "execution_failed"
      )
    })
  )
})
