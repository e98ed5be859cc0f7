/** What a run's calls of a model used up is kept before it goes on, so that the end of its server loses one call at most. */
import { ChatStore } from "@castellan/core/chat/ChatStore"
import * as Uuid from "@castellan/core/identifier/Uuid"
import { RunnerId } from "@castellan/core/run/RunLease"
import * as Conversation from "@castellan/testing/fixture/Conversation"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { calls, ScriptedModel, stalling, text } from "@castellan/testing/scripted/ScriptedModel"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"

describe("usage of a run that goes on", () => {
  it.effect("is kept with each call of the model, without a heartbeat", () =>
    Effect.gen(function* () {
      const run = yield* Conversation.ask(Fixture.adminOf(yield* Fixture.tenant()), "How many?")
      yield* ScriptedModel.use((model) => model.asked(2))
      // No time has passed. Another server takes the run up, as if this one had died in the second call.
      const now = DateTime.add(yield* DateTime.now, { hours: 1 })
      const claim = { runnerId: RunnerId.make(yield* Uuid.next), now, until: DateTime.add(now, { hours: 1 }) }
      const taken = yield* ChatStore.use((store) => store.take(run, claim))
      const usage = Option.map(taken, (found) => found.run.usage)
      assert.deepInclude(Option.getOrThrow(usage), { inputTokens: 10, outputTokens: 5 })
    }).pipe(
      Effect.provide(
        Deployment.layer({ script: [calls("make_text", { name: "Note", text: "kept" }), stalling(text("Let me"))] })
      )
    )
  )
})
