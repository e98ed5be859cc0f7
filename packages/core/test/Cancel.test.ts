import { CurrentPrincipal } from "@castellan/core/access/Principal"
import { Chats } from "@castellan/core/chat/Chats"
import { layerMemory, RunLog } from "@castellan/core/run/RunLog"
import * as Conversation from "@castellan/testing/fixture/Conversation"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import * as Castellan from "@castellan/core/Castellan"
import * as Stores from "@castellan/core/memory/Stores"
import { violations } from "@castellan/testing/fixture/WellFormed"
import { calls, says, text, finished, call } from "@castellan/testing/scripted/ScriptedModel"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Latch, Layer } from "effect"

const script = [
  [
    text("Let me look."),
    call("run_sql", { title: "All", connector: "warehouse", sql: "select * from sales" }),
    finished()
  ],
  calls("make_chart", { name: "Sales", result: "result_1", specification: { mark: "bar" } }),
  says("Three regions.")
]

/** Appends of a run that follows the script to its end; at the last, its `done`, it has answered already. */
const appends = 12

/** A log that stops at one of its appends, before or after it has kept the events, until it may go on. */
const gatedLog = (stop: number, when: "before" | "after", reached: Latch.Latch, proceed: Latch.Latch) =>
  Layer.effect(
    RunLog,
    Effect.gen(function* () {
      const log = yield* RunLog
      let count = 0
      const pause = Effect.andThen(reached.open, proceed.await)
      return RunLog.of({
        ...log,
        append: (run, events) =>
          Effect.suspend(() => {
            count += 1
            if (count !== stop) return log.append(run, events)
            return when === "before"
              ? Effect.andThen(pause, log.append(run, events))
              : Effect.andThen(log.append(run, events), pause)
          })
      })
    })
  ).pipe(Layer.provide(layerMemory))

describe("a cancel, wherever it hits", () => {
  for (const when of ["before", "after"] as const) {
    it.effect.each(Array.from({ length: appends }, (_, index) => index + 1))(
      `leaves a well-formed log ${when} append %i`,
      (stop) =>
        Effect.gen(function* () {
          const reached = yield* Latch.make()
          const proceed = yield* Latch.make()
          const layer = Castellan.layer().pipe(
            Layer.provideMerge(
              Layer.mergeAll(
                Stores.layerMemory,
                gatedLog(stop, when, reached, proceed),
                Deployment.layerPorts({ script }),
                Deployment.layerCrypto
              )
            )
          )
          yield* Effect.gen(function* () {
            const tenant = yield* Fixture.tenant()
            yield* Fixture.connector(tenant.organizationId)
            const admin = Fixture.adminOf(tenant)
            const run = yield* Conversation.ask(admin, "How much did we sell?")
            yield* reached.await
            const cancelling = yield* Chats.use((chats) => chats.cancel(run.chatId)).pipe(
              Effect.provideService(CurrentPrincipal, admin),
              Effect.forkChild({ startImmediately: true })
            )
            yield* proceed.open
            const events = yield* Conversation.events(run)
            assert.deepStrictEqual(violations(events), [], Conversation.outline(events).join("\n"))
            const cancelled = yield* Fiber.join(cancelling)
            assert.strictEqual(cancelled, stop < appends)
            assert.strictEqual(
              Conversation.outline(events).at(-1),
              cancelled ? "done failed: cancelled" : "done completed"
            )
          }).pipe(Effect.provide(layer))
        })
    )
  }
})
