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

describe("CellState", () => {
  const { Completed, Failed, Halted, Pending, Running } = CellStatus.cases
  const { Complete, Fail, Halt, Start } = CellState.CellEvent.cases

  const states: ReadonlyArray<CellStatus> = [
    Pending.make({}),
    Running.make({}),
    Completed.make({ endedAt: at(2) }),
    Failed.make({ endedAt: at(2), error: "no" }),
    Halted.make({ endedAt: at(2) })
  ]
  const events = [Start.make({}), Complete.make({}), Fail.make({ error: "broken" }), Halt.make({})]
  /** Every pair that is legal, and what it comes to at second 9. */
  const legal: { readonly [pair: string]: CellStatus } = {
    "Pending Start": Running.make({}),
    "Pending Fail": Failed.make({ endedAt: at(9), error: "broken" }),
    "Pending Halt": Halted.make({ endedAt: at(9) }),
    "Running Complete": Completed.make({ endedAt: at(9) }),
    "Running Fail": Failed.make({ endedAt: at(9), error: "broken" }),
    "Running Halt": Halted.make({ endedAt: at(9) })
  }

  it("answers every pair of state and event", () => {
    let answered = 0
    for (const state of states) {
      for (const event of events) {
        const pair = `${state._tag} ${event._tag}`
        const outcome = CellState.next(state, event, at(9))
        const expected = legal[pair]
        if (expected === undefined) {
          const refusal = Result.getOrThrow(Result.flip(outcome))
          assert.deepStrictEqual([refusal.state, refusal.event], [state._tag, event._tag], pair)
          assert.strictEqual(
            refusal.message,
            `cannot ${event._tag.toLowerCase()} a cell that is ${state._tag.toLowerCase()}`
          )
        } else {
          assert.deepStrictEqual(Result.getOrThrow(outcome), expected, pair)
          answered += 1
        }
      }
    }
    assert.strictEqual(answered, Object.keys(legal).length)
  })
})

layer(layerCrypto)("CellState.transition", (it) => {
  it.effect("changes the status, what is shown, and nothing else", () =>
    Effect.gen(function* () {
      const query = CellContent.cases.OntologyQuery.make({ query: "run: sales" })
      const compiled = CellContent.cases.OntologyQuery.make({ query: "run: sales", code: "select 1" })
      const running = new Cell({
        id: CellId.make(yield* Sample.cellId),
        title: "Sales",
        content: query,
        status: CellStatus.cases.Running.make({}),
        result: { output: ["so far"] },
        createdAt: at(1)
      })
      const status = CellStatus.cases.Completed.make({ endedAt: at(9) })
      const complete = CellState.CellEvent.cases.Complete.make({})
      const plain = Result.getOrThrow(CellState.transition(running, complete, at(9)))
      assert.deepStrictEqual(plain, new Cell({ ...running, status }))
      const shown = CellState.transition(running, complete, at(9), {
        content: compiled,
        result: { dataframePreview: "| 1 |" }
      })
      assert.deepStrictEqual(
        Result.getOrThrow(shown),
        new Cell({ ...running, status, content: compiled, result: { dataframePreview: "| 1 |" } })
      )
      assert.isTrue(Result.isFailure(CellState.transition(plain, complete, at(10))))
    })
  )
})
