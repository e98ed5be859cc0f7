import { PlaybookStatus } from "@castellan/core/playbook/Playbook"
import { PlaybookRun, PlaybookRunStatus } from "@castellan/core/playbook/PlaybookRun"
import * as PlaybookRunState from "@castellan/core/playbook/PlaybookRunState"
import * as PlaybookState from "@castellan/core/playbook/PlaybookState"
import { ReportId } from "@castellan/core/report/Report"
import { RunId } from "@castellan/core/run/Run"
import * as AutomationSample from "@castellan/testing/fixture/AutomationSample"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import { assert, describe, it, layer } from "@effect/vitest"
import { DateTime, Effect, Result } from "effect"

const at = (seconds: number): DateTime.Utc => DateTime.makeUnsafe(seconds * 1000)

describe("PlaybookState", () => {
  const { Deleted, Deployed, Draft } = PlaybookStatus.cases
  const states = [Draft.make({}), Deployed.make({ deployedAt: at(1) }), Deleted.make({ deletedAt: at(2) })]
  const events = ["Configure", "Deploy", "Undeploy", "Delete"] as const
  /** Every pair: what it comes to at second 9, or the refusal. */
  const table: { readonly [pair: string]: PlaybookStatus | string } = {
    "Draft Configure": Draft.make({}),
    "Draft Deploy": Deployed.make({ deployedAt: at(9) }),
    "Draft Undeploy": "cannot undeploy a playbook that is a draft",
    "Draft Delete": Deleted.make({ deletedAt: at(9) }),
    "Deployed Configure": Deployed.make({ deployedAt: at(1) }),
    "Deployed Deploy": Deployed.make({ deployedAt: at(9) }),
    "Deployed Undeploy": Draft.make({}),
    "Deployed Delete": Deleted.make({ deletedAt: at(9) }),
    "Deleted Configure": "cannot configure a playbook that is deleted",
    "Deleted Deploy": "cannot deploy a playbook that is deleted",
    "Deleted Undeploy": "cannot undeploy a playbook that is deleted",
    "Deleted Delete": "cannot delete a playbook that is deleted"
  }

  it("answers every pair of state and event", () => {
    const answered = states.flatMap((state) =>
      events.map((event) => {
        const result = PlaybookState.transition(state, event, at(9))
        return [`${state._tag} ${event}`, Result.isSuccess(result) ? result.success : result.failure.message] as const
      })
    )
    assert.deepStrictEqual(Object.fromEntries(answered), table)
  })
})

layer(layerCrypto)("PlaybookRunState", (it) => {
  it.effect("answers every pair of state and event", () =>
    Effect.gen(function* () {
      const principal = yield* Sample.principal(yield* Sample.organizationId)
      const queued = yield* AutomationSample.playbookRun(principal, yield* AutomationSample.playbook(principal))
      const asked = { chatId: yield* Sample.chatId, runId: yield* Sample.runId }
      const other = { chatId: yield* Sample.chatId, runId: RunId.make(yield* Sample.runId) }
      const reportId = ReportId.make(yield* Sample.chatId)
      const { Cancelled, Completed, Failed, Queued, Running } = PlaybookRunStatus.cases
      const { Ask, Cancel, Complete, Fail } = PlaybookRunState.PlaybookRunEvent.cases
      const states = [
        Queued.make({}),
        Running.make({ ...asked, startedAt: at(1) }),
        Completed.make({ ...asked, startedAt: at(1), endedAt: at(2), reportId }),
        Failed.make({ asked, endedAt: at(2), failure: "timeout", error: "too late" }),
        Cancelled.make({ endedAt: at(2) })
      ]
      const events = [
        Ask.make(other),
        Complete.make({ reportId }),
        Fail.make({ failure: "no_report", error: "nothing" }),
        Cancel.make({})
      ]
      /** Every pair that is legal, and what it comes to at second 9. */
      const legal: { readonly [pair: string]: PlaybookRunStatus } = {
        "Queued Ask": Running.make({ ...other, startedAt: at(9) }),
        "Queued Fail": Failed.make({ endedAt: at(9), failure: "no_report", error: "nothing" }),
        "Queued Cancel": Cancelled.make({ endedAt: at(9) }),
        "Running Complete": Completed.make({ ...asked, startedAt: at(1), endedAt: at(9), reportId }),
        "Running Fail": Failed.make({ asked, endedAt: at(9), failure: "no_report", error: "nothing" }),
        "Running Cancel": Cancelled.make({ asked, endedAt: at(9) })
      }
      for (const status of states) {
        for (const event of events) {
          const pair = `${status._tag} ${event._tag}`
          const result = PlaybookRunState.advance(new PlaybookRun({ ...queued, status }), event, at(9))
          const expected = legal[pair]
          if (Result.isSuccess(result)) {
            assert.deepStrictEqual(
              result.success,
              new PlaybookRun({ ...queued, status: expected ?? assert.fail(pair) })
            )
          } else {
            assert.isUndefined(expected, pair)
            assert.strictEqual(
              result.failure.message,
              `cannot ${event._tag.toLowerCase()} a playbook run that is ${status._tag.toLowerCase()}`
            )
          }
        }
      }
    })
  )
})
