import * as Castellan from "@castellan/core/Castellan"
import { ChatStore } from "@castellan/core/chat/ChatStore"
import * as Stores from "@castellan/core/memory/Stores"
import { PlaybookRunStatus } from "@castellan/core/playbook/PlaybookRun"
import { PlaybookRunStore } from "@castellan/core/playbook/PlaybookRunStore"
import { Playbooks } from "@castellan/core/playbook/Playbooks"
import * as Recovery from "@castellan/core/recovery/Recovery"
import { as } from "@castellan/testing/fixture/Acting"
import * as AutomationSample from "@castellan/testing/fixture/AutomationSample"
import * as Conversation from "@castellan/testing/fixture/Conversation"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import * as Sample from "@castellan/testing/fixture/Sample"
import { says } from "@castellan/testing/scripted/ScriptedModel"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"

const world = Layer.mergeAll(
  Stores.layerMemory,
  Deployment.layerPorts({ script: () => says("Up **4 %**.") }),
  Deployment.layerCrypto
)

describe("recovery", () => {
  it.effect("sweeps at the start and every few seconds, and resumes what is older than the interval it looks in", () =>
    Effect.gen(function* () {
      let sweeps = 0
      const resumed: Array<number> = []
      const recovery = Recovery.Recovery.of({
        sweep: Effect.suspend(() => {
          sweeps += 1
          return sweeps === 2 ? Effect.die(new Error("the storage is away")) : Effect.succeed(0)
        }),
        resume: (before) => {
          resumed.push(DateTime.toEpochMillis(before))
          return Effect.succeed({ playbookRuns: 0, agentRuns: 0 })
        }
      })
      yield* TestClock.setTime(1_000_000)
      yield* Layer.build(Recovery.layerSweeping.pipe(Layer.provide(Layer.succeed(Recovery.Recovery, recovery))))
      yield* TestClock.adjust(0)
      assert.strictEqual(sweeps, 1)
      yield* TestClock.adjust("3 minutes")
      // One that failed kept none of the others from its turn.
      assert.strictEqual(sweeps, 37)
      assert.deepStrictEqual(resumed, [1_000_000, 1_000_000, 1_060_000, 1_120_000])
    })
  )

  it.effect("a server that starts carries out what another left: a run, and the playbook's run that waits for it", () =>
    Effect.gen(function* () {
      const { admin, left, run } = yield* Effect.gen(function* () {
        const owner = Fixture.adminOf(yield* Fixture.tenant())
        const playbooks = yield* Playbooks
        const { id } = yield* as(owner)(playbooks.create)
        const playbook = yield* as(owner)(playbooks.update(id, { name: "Sales", prompt: "How did sales go?" }))
        const chat = yield* Sample.chat(owner)
        const asked = yield* Sample.run(owner, chat)
        yield* ChatStore.use((store) => store.open(chat, asked))
        const begun = yield* AutomationSample.playbookRun(owner, playbook, {
          status: PlaybookRunStatus.cases.Running.make({
            chatId: chat.id,
            runId: asked.id,
            startedAt: yield* DateTime.now
          })
        })
        yield* PlaybookRunStore.use((store) => store.open(begun))
        return { admin: owner, left: begun, run: asked }
      }).pipe(Effect.provide(Castellan.layer({ recovers: false })))
      yield* TestClock.adjust("20 seconds")
      yield* Effect.gen(function* () {
        assert.strictEqual(Conversation.outline(yield* Conversation.events(run)).at(-1), "done completed")
        yield* Effect.repeat(Effect.yieldNow, { times: 100 })
        const kept = yield* PlaybookRunStore.use((store) => store.get(admin.organizationId, left.id))
        assert.strictEqual(Option.getOrThrow(kept).status._tag, "Completed")
      }).pipe(Effect.provide(Castellan.layer()))
    }).pipe(Effect.provide(world))
  )
})
