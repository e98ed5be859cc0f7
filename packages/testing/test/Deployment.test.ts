import { CurrentPrincipal } from "@castellan/core/access/Principal"
import { Chats } from "@castellan/core/chat/Chats"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { ScriptedDriver } from "@castellan/testing/scripted/ScriptedDriver"
import { calls, says, ScriptedModel } from "@castellan/testing/scripted/ScriptedModel"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

describe("a deployment in memory", () => {
  it.effect("answers a question by a scripted model over a scripted source", () =>
    Effect.gen(function* () {
      const tenant = yield* Fixture.tenant()
      yield* Fixture.connector(tenant.organizationId)
      const chats = yield* Chats
      const run = yield* chats
        .ask({ question: "How much did we sell?", source: "api" })
        .pipe(Effect.provideService(CurrentPrincipal, Fixture.adminOf(tenant)))
      const answer = yield* chats.answer(run)
      assert.strictEqual(answer.response, "Three regions.")
      const recorded = yield* ScriptedModel.use((model) => model.recorded)
      assert.deepStrictEqual(
        recorded.map((one) => one.outcome),
        ["ended", "ended"]
      )
      const statements = yield* ScriptedDriver.use((driver) => driver.recorded)
      assert.deepStrictEqual(
        statements.map((one) => [one.statement, one.outcome]),
        [["select * from sales", "answered"]]
      )
    }).pipe(
      Effect.provide(
        Deployment.layer({
          script: [
            calls("run_sql", { title: "All sales", connector: "warehouse", sql: "select * from sales" }),
            says("Three ", "regions.")
          ]
        })
      )
    )
  )
})
