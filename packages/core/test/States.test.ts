import { Cell, CellContent, CellId, CellStatus } from "@castellan/core/chat/Cell"
import * as CellState from "@castellan/core/chat/CellState"
import { isEnded, noUsage, RunStatus } from "@castellan/core/run/Run"
import * as RunState from "@castellan/core/run/RunState"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import { assert, describe, it, layer } from "@effect/vitest"
import { DateTime, Effect, Result, Schema } from "effect"

const at = (seconds: number): DateTime.Utc => DateTime.makeUnsafe(seconds * 1000)

describe("RunState", () => {
  const { Cancelled, Completed, Failed, Queued, Running } = RunStatus.cases
  const { Cancel, Complete, Fail, Start } = RunState.RunTransition.cases

  const states: ReadonlyArray<RunStatus> = [
    Queued.make({}),
    Running.make({ startedAt: at(1) }),
    Completed.make({ startedAt: at(1), endedAt: at(2) }),
    Failed.make({ endedAt: at(2), failure: "timeout", error: "too late" }),
    Cancelled.make({ endedAt: at(2) })
  ]
  const transitions: ReadonlyArray<RunState.RunTransition> = [
    Start.make({}),
    Complete.make({}),
    Fail.make({ failure: "execution_failed", error: "no data" }),
    Cancel.make({})
  ]
  /** Every pair that is legal, and what it comes to at second 9. */
  const legal: { readonly [pair: string]: RunStatus } = {
    "Queued Start": Running.make({ startedAt: at(9) }),
    "Queued Fail": Failed.make({ endedAt: at(9), failure: "execution_failed", error: "no data" }),
    "Queued Cancel": Cancelled.make({ endedAt: at(9) }),
    "Running Complete": Completed.make({ startedAt: at(1), endedAt: at(9) }),
    "Running Fail": Failed.make({ endedAt: at(9), failure: "execution_failed", error: "no data" }),
    "Running Cancel": Cancelled.make({ endedAt: at(9) })
  }

  it("answers every pair of state and transition", () => {
    for (const state of states) {
      for (const transition of transitions) {
        const pair = `${state._tag} ${transition._tag}`
        const outcome = RunState.transition(state, transition, at(9))
        const expected = legal[pair]
        if (expected === undefined) {
          const refusal = Result.getOrThrow(Result.flip(outcome))
          assert.deepStrictEqual([refusal.state, refusal.transition], [state._tag, transition._tag], pair)
          assert.strictEqual(
            refusal.message,
            `cannot ${transition._tag.toLowerCase()} a run that is ${state._tag.toLowerCase()}`
          )
        } else {
          assert.deepStrictEqual(Result.getOrThrow(outcome), expected, pair)
        }
      }
    }
    assert.strictEqual(Object.keys(legal).length, 6)
  })

  it.prop(
    "an ended run never changes again, whatever happens",
    [Schema.Array(RunState.RunTransition)],
    ([events]) => {
      let status: RunStatus = Queued.make({})
      let ended: RunStatus | undefined
      events.forEach((event, index) => {
        const next = RunState.transition(status, event, at(index))
        if (ended !== undefined) assert.isTrue(Result.isFailure(next))
        if (Result.isFailure(next)) return
        status = next.success
        if (status._tag !== "Queued" && status._tag !== "Running") ended = status
      })
      if (ended !== undefined) assert.deepStrictEqual(status, ended)
    },
    { arbitrary: { runs: 300 } }
  )
})

layer(layerCrypto)("RunState.advance", (it) => {
  it.effect("changes the status and the usage, and nothing else", () =>
    Effect.gen(function* () {
      const maker = yield* Sample.principal(yield* Sample.organizationId)
      const run = yield* Sample.run(maker, yield* Sample.chat(maker))
      assert.isFalse(isEnded(run))
      const usage = { inputTokens: 1, outputTokens: 2, toolCalls: 3 }
      const cancelled = Result.getOrThrow(
        RunState.advance(run, RunState.RunTransition.cases.Cancel.make({}), at(3), usage)
      )
      assert.isTrue(isEnded(cancelled))
      assert.deepStrictEqual({ ...cancelled, status: run.status, usage: noUsage }, { ...run })
      assert.deepStrictEqual(cancelled.usage, usage)
      assert.isTrue(Result.isFailure(RunState.advance(cancelled, RunState.RunTransition.cases.Start.make({}), at(4))))
    })
  )
})

layer(layerCrypto)("CellState", (it) => {
  it.effect("answers every pair of state and event, and an ended cell never changes again", () =>
    Effect.gen(function* () {
      const { Completed, Failed, Halted, Running } = CellStatus.cases
      const { Complete, Fail, Halt } = CellState.CellEvent.cases
      const id = CellId.make(yield* Sample.cellId)
      const cellIn = (status: CellStatus) =>
        new Cell({
          id,
          title: "Sales",
          content: CellContent.cases.OntologyQuery.make({ query: "run: sales" }),
          status,
          result: { output: ["so far"] },
          createdAt: at(1)
        })
      const ended = [
        Completed.make({ endedAt: at(2) }),
        Failed.make({ endedAt: at(2), error: "no" }),
        Halted.make({ endedAt: at(2) })
      ]
      const events = [
        [Complete.make({}), Completed.make({ endedAt: at(9) })],
        [Fail.make({ error: "broken" }), Failed.make({ endedAt: at(9), error: "broken" })],
        [Halt.make({}), Halted.make({ endedAt: at(9) })]
      ] as const
      for (const [event, expected] of events) {
        const running = cellIn(Running.make({}))
        const after = Result.getOrThrow(CellState.transition(running, event, at(9)))
        assert.deepStrictEqual(after, new Cell({ ...running, status: expected }))
        const shown = CellState.transition(running, event, at(9), {
          content: CellContent.cases.OntologyQuery.make({ query: "run: sales", code: "select 1" }),
          result: { dataframePreview: "| 1 |" }
        })
        assert.deepStrictEqual(
          Result.getOrThrow(shown),
          new Cell({
            ...running,
            status: expected,
            content: CellContent.cases.OntologyQuery.make({ query: "run: sales", code: "select 1" }),
            result: { dataframePreview: "| 1 |" }
          })
        )
        for (const state of ended) {
          const refusal = Result.getOrThrow(Result.flip(CellState.transition(cellIn(state), event, at(9))))
          assert.strictEqual(refusal.message, `the cell is ${state._tag.toLowerCase()} already`)
        }
      }
    })
  )
})
