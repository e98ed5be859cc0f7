import { AgentRun, AgentRunStatus } from "@castellan/core/agent/AgentRun"
import * as AgentRunState from "@castellan/core/agent/AgentRunState"
import * as AutomationSample from "@castellan/testing/fixture/AutomationSample"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Result } from "effect"

const at = (seconds: number): DateTime.Utc => DateTime.makeUnsafe(seconds * 1000)

layer(layerCrypto)("AgentRunState", (it) => {
  it.effect("answers every pair of state and event", () =>
    Effect.gen(function* () {
      const principal = yield* Sample.principal(yield* Sample.organizationId)
      const queued = yield* AutomationSample.agentRun(principal, yield* AutomationSample.agent(principal))
      const asked = { chatId: yield* Sample.chatId, runId: yield* Sample.runId }
      const other = { chatId: yield* Sample.chatId, runId: yield* Sample.runId }
      const { Cancelled, Completed, Failed, Queued, Running } = AgentRunStatus.cases
      const { Ask, Cancel, Complete, Fail } = AgentRunState.AgentRunEvent.cases
      const states = [
        Queued.make({}),
        Running.make({ ...asked, startedAt: at(1) }),
        Completed.make({ ...asked, startedAt: at(1), endedAt: at(2) }),
        Failed.make({ asked, endedAt: at(2), failure: "timeout", error: "too late" }),
        Cancelled.make({ endedAt: at(2) })
      ]
      const events = [
        Ask.make(other),
        Complete.make({}),
        Fail.make({ failure: "execution_failed", error: "no data" }),
        Cancel.make({})
      ]
      /** Every pair that is legal, and what it comes to at second 9. */
      const legal: { readonly [pair: string]: AgentRunStatus } = {
        "Queued Ask": Running.make({ ...other, startedAt: at(9) }),
        "Queued Fail": Failed.make({ endedAt: at(9), failure: "execution_failed", error: "no data" }),
        "Queued Cancel": Cancelled.make({ endedAt: at(9) }),
        "Running Complete": Completed.make({ ...asked, startedAt: at(1), endedAt: at(9) }),
        "Running Fail": Failed.make({ asked, endedAt: at(9), failure: "execution_failed", error: "no data" }),
        "Running Cancel": Cancelled.make({ asked, endedAt: at(9) })
      }
      for (const status of states) {
        for (const event of events) {
          const pair = `${status._tag} ${event._tag}`
          const result = AgentRunState.advance(new AgentRun({ ...queued, status }), event, at(9))
          const expected = legal[pair]
          if (Result.isSuccess(result)) {
            assert.deepStrictEqual(result.success, new AgentRun({ ...queued, status: expected ?? assert.fail(pair) }))
          } else {
            assert.isUndefined(expected, pair)
            assert.strictEqual(
              result.failure.message,
              `cannot ${event._tag.toLowerCase()} an agent run that is ${status._tag.toLowerCase()}`
            )
          }
        }
      }
    })
  )
})
