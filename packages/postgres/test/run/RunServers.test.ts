/** Whole servers on one database: one is killed at work, one is asked to stop what the other carries. */
import { Chats } from "@castellan/core/chat/Chats"
import { ChatStore } from "@castellan/core/chat/ChatStore"
import type { Run } from "@castellan/core/run/Run"
import { Runner } from "@castellan/core/run/Runner"
import { as } from "@castellan/testing/fixture/Acting"
import * as Conversation from "@castellan/testing/fixture/Conversation"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { says, ScriptedModel, stalling } from "@castellan/testing/scripted/ScriptedModel"
import { assert, describe, it } from "@effect/vitest"
import { type Context, Effect, Layer, Option, Redacted, Schedule, Schema } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { AtWork, server } from "../support/RunningServer.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const running = join(import.meta.dirname, "../support/RunningServer.ts")

/** Starts a server in a process of its own, and kills it as soon as it is at work. */
const killedAtWork = async (url: string): Promise<string> => {
  const child = spawn(process.execPath, [running, url], { stdio: ["ignore", "pipe", "inherit"] })
  const exited = once(child, "exit")
  const lines = createInterface({ input: child.stdout })
  for await (const line of lines) {
    // What is no JSON is the process's log.
    if (!line.startsWith("{")) continue
    child.kill("SIGKILL")
    await exited
    return line
  }
  throw new Error(`the server was never at work: ${(await exited).join(" ")}`)
}

const activityOf = (run: Run) =>
  Effect.map(
    ChatStore.use((store) => store.get(run.organizationId, run.chatId)),
    (chat) => Option.getOrThrow(chat).activity._tag
  )

const lastOf = (run: Run) => Effect.map(Conversation.events(run), (events) => Conversation.outline(events).at(-1))

for (const one of TestDatabase.servers()) {
  describe(`servers that share a database (${one.name})`, () => {
    it.live(
      "one is killed at work: another ends what it had begun, and carries out what it had in its queue",
      () =>
        Effect.gen(function* () {
          const url = TestDatabase.serviceUrl(one, yield* TestDatabase.database(one))
          const said = yield* Effect.promise(() => killedAtWork(Redacted.value(url)))
          const { principal, waiting, working } = yield* Schema.decodeEffect(AtWork)(said)
          yield* Effect.gen(function* () {
            assert.strictEqual(yield* activityOf(working), "Running")
            // As a server does by the clock, only more often.
            yield* Effect.forkChild(
              Effect.repeat(
                Runner.use((runner) => runner.sweep),
                Schedule.spaced("100 millis")
              )
            )
            assert.strictEqual(yield* lastOf(working), "done failed: the server stopped before the run ended")
            assert.strictEqual(yield* lastOf(waiting), "done completed")
            assert.strictEqual(yield* activityOf(working), "Idle")
            assert.strictEqual(yield* activityOf(waiting), "Idle")
            const next = yield* Conversation.ask(principal, "And now?", { chatId: working.chatId })
            assert.strictEqual(yield* lastOf(next), "done completed")
          }).pipe(Effect.provide(server(url, { script: () => says("Here.") })))
        }).pipe(Effect.scoped),
      180_000
    )

    it.live(
      "a cancel on one stops what the other carries, told by a notification and not by a look",
      () =>
        Effect.gen(function* () {
          const url = TestDatabase.serviceUrl(one, yield* TestDatabase.database(one))
          // A look comes after 100 seconds, which nobody waits for here.
          const options = { lease: "10 minutes", script: () => stalling() } as const
          const a = yield* Layer.build(server(url, options))
          const b = yield* Layer.build(server(url, options))
          type Services = typeof a extends Context.Context<infer S> ? S : never
          const there = <A, E>(effect: Effect.Effect<A, E, Services>) => Effect.provideContext(effect, a)
          const here = <A, E>(effect: Effect.Effect<A, E, Services>) => Effect.provideContext(effect, b)
          const admin = Fixture.adminOf(yield* there(Fixture.tenant()))
          // Whoever is told has begun to listen.
          const warmUp = yield* there(Conversation.ask(admin, "Is anybody there?"))
          yield* there(ScriptedModel.use((model) => model.asked(1)))
          yield* there(as(admin)(Chats.use((chats) => chats.cancel(warmUp.chatId))))
          for (const count of [2, 3, 4]) {
            const run = yield* there(Conversation.ask(admin, "For ever?"))
            yield* there(ScriptedModel.use((model) => model.asked(count)))
            assert.isTrue(yield* here(as(admin)(Chats.use((chats) => chats.cancel(run.chatId)))))
            const recorded = yield* there(ScriptedModel.use((model) => model.recorded))
            assert.strictEqual(recorded.at(-1)?.outcome, "interrupted")
            assert.strictEqual(yield* here(lastOf(run)), "done failed: cancelled")
          }
        }).pipe(Effect.scoped),
      180_000
    )
  })
}
