import type { Run } from "@castellan/core/run/Run"
import { ChatSandcastles } from "@castellan/core/sandcastle/ChatSandcastles"
import { Sandcastles } from "@castellan/core/sandcastle/Sandcastles"
import { as } from "@castellan/testing/fixture/Acting"
import * as Conversation from "@castellan/testing/fixture/Conversation"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { says } from "@castellan/testing/scripted/ScriptedModel"
import { ScriptedSandbox } from "@castellan/testing/scripted/ScriptedSandbox"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"

/** A member with a chat that has had a question. */
const conversation = Effect.gen(function* () {
  const tenant = yield* Fixture.tenant()
  const member = yield* Fixture.someone(tenant, { fullMemberAccess: true })
  const run = yield* Conversation.ask(member, "How many?")
  yield* Conversation.events(run)
  return { tenant, member, run }
})

const of = (run: Run) => ChatSandcastles.use((chats) => chats.of(run))

const opened = ScriptedSandbox.use((sandbox) => Effect.map(sandbox.opened, (specs) => specs.length))

const deployment = Deployment.layer({ script: () => says("Three.") })

describe("ChatSandcastles", () => {
  it.effect("nothing is started before the first use; later questions find the variables of earlier ones", () =>
    Effect.gen(function* () {
      const { member, run } = yield* conversation
      const first = yield* of(run)
      assert.strictEqual(yield* opened, 0)
      const used = yield* first.execute("x = 41")
      assert.isFalse(used.stateLost)
      const next = yield* Conversation.ask(member, "And now?", { chatId: run.chatId })
      yield* Conversation.events(next)
      const again = yield* (yield* of(next)).execute("print(x + 1)")
      assert.deepStrictEqual([again.answer.output, again.stateLost], [["42\n"], false])
      assert.strictEqual(again.sandcastleId, used.sandcastleId)
      assert.strictEqual(yield* opened, 1)
      const { items } = yield* as(member)(
        Sandcastles.use((sandcastles) => sandcastles.list({ status: "running", limit: 10 }))
      )
      assert.deepStrictEqual(
        items.map(({ chatId, id }) => [id, chatId]),
        [[used.sandcastleId, run.chatId]]
      )
      const recorded = yield* as(member)(
        Sandcastles.use((sandcastles) => sandcastles.executions(used.sandcastleId, { limit: 10 }))
      )
      assert.deepStrictEqual(
        recorded.items.map(({ input, source }) => [input, source]),
        [
          ["print(x + 1)", "chat"],
          ["x = 41", "chat"]
        ]
      )
    }).pipe(Effect.provide(deployment))
  )

  it.effect("two first uses at once make one sandcastle", () =>
    Effect.gen(function* () {
      const { run } = yield* conversation
      const uses = yield* Effect.forEach(
        ["a = 1", "b = 2", "c = 3"],
        (code) => Effect.flatMap(of(run), (sandcastle) => sandcastle.execute(code)),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        uses.map(({ stateLost }) => stateLost),
        [false, false, false]
      )
      assert.strictEqual(yield* opened, 1)
      const { answer } = yield* (yield* of(run)).execute("print(a)\nprint(b)\nprint(c)")
      assert.deepStrictEqual(answer.output, ["1\n2\n3\n"])
    }).pipe(
      Effect.provide(
        Deployment.layer({
          script: () => says("Three."),
          opensAfter: Effect.repeat(Effect.yieldNow, { times: 100 })
        })
      )
    )
  )

  it.effect("one that was stopped, idle or lost is started anew, and says once that its state is gone", () =>
    Effect.gen(function* () {
      const sandcastles = yield* Sandcastles
      const sandbox = yield* ScriptedSandbox
      const { member, run } = yield* conversation
      const sandcastle = yield* of(run)
      const { sandcastleId } = yield* sandcastle.execute("x = 1")
      const lost = Effect.gen(function* () {
        const used = yield* sandcastle.execute("print(x)")
        assert.include(used.answer.error ?? "", "NameError")
        assert.deepStrictEqual([used.stateLost, used.sandcastleId], [true, sandcastleId])
        assert.isFalse((yield* sandcastle.execute("x = 1")).stateLost)
      })
      yield* as(member)(sandcastles.stop(sandcastleId))
      yield* lost
      yield* TestClock.adjust("15 minutes")
      assert.deepStrictEqual(yield* sandcastles.sweep, { stopped: 1 })
      yield* lost
      yield* sandbox.lose(sandcastleId)
      const failure = yield* Effect.flip(sandcastle.execute("print(x)"))
      assert.strictEqual(failure.code, "execution_failed")
      assert.include(failure.message, "the next use starts a new one")
      yield* lost
    }).pipe(Effect.provide(deployment))
  )

  it.effect("one that is lost while something runs in it fails that, and is started anew by the next use", () =>
    Effect.gen(function* () {
      const sandbox = yield* ScriptedSandbox
      const { run } = yield* conversation
      const sandcastle = yield* of(run)
      const running = yield* Effect.forkChild(sandcastle.execute("while True: pass"), { startImmediately: true })
      yield* sandbox.stuck(1)
      const [id] = yield* sandbox.open
      if (id === undefined) return assert.fail("no session is open")
      yield* sandbox.lose(id)
      assert.strictEqual((yield* Effect.flip(Fiber.join(running))).code, "execution_failed")
      assert.isTrue((yield* sandcastle.execute("print(1)")).stateLost)
    }).pipe(Effect.provide(deployment))
  )

  it.effect("one that serves a chat is not reached by another who asks in the chat: each has one", () =>
    Effect.gen(function* () {
      const { run, tenant } = yield* conversation
      const colleague = yield* Fixture.someone(tenant)
      const mine = yield* (yield* of(run)).execute("x = 1")
      const theirs = yield* ChatSandcastles.use((chats) =>
        Effect.flatMap(chats.of({ ...run, principal: colleague }), (sandcastle) => sandcastle.execute("print(x)"))
      )
      assert.notStrictEqual(theirs.sandcastleId, mine.sandcastleId)
      assert.include(theirs.answer.error ?? "", "NameError")
      assert.isFalse(theirs.stateLost)
    }).pipe(Effect.provide(deployment))
  )

  it.effect("whoever may not execute starts none", () =>
    Effect.gen(function* () {
      const { run, tenant } = yield* conversation
      const powerless = yield* Fixture.someone(tenant, { roles: [] })
      const sandcastle = yield* ChatSandcastles.use((chats) => chats.of({ ...run, principal: powerless }))
      const failure = yield* Effect.flip(sandcastle.execute("print(1)"))
      assert.strictEqual(failure.message, "permission denied: sandcastle:execute is required")
      assert.strictEqual(yield* opened, 0)
    }).pipe(Effect.provide(deployment))
  )

  it.effect("a result that the run has becomes a dataframe, by a name that Python takes", () =>
    Effect.gen(function* () {
      const { run } = yield* conversation
      const sandcastle = yield* of(run)
      const table = {
        columns: [{ name: "n", type: "integer" as const }],
        rows: [[1], [2]],
        truncated: false
      }
      const bound = yield* sandcastle.bind("sales", table)
      assert.deepStrictEqual(bound.answer, { name: "sales", rows: 2, columns: 1 })
      assert.deepStrictEqual((yield* sandcastle.execute("print(len(sales))")).answer.output, ["2\n"])
      assert.strictEqual((yield* Effect.flip(sandcastle.bind("class", table))).code, "invalid_request")
    }).pipe(Effect.provide(deployment))
  )

  it.effect("files that an execution left can be listed and had", () =>
    Effect.gen(function* () {
      const { run } = yield* conversation
      const sandcastle = yield* of(run)
      const { answer } = yield* sandcastle.execute('open("a.csv", "w").write("1,2")')
      assert.deepStrictEqual(
        answer.files.map(({ mediaType, path }) => [path, mediaType]),
        [["a.csv", "text/csv"]]
      )
      assert.deepStrictEqual(
        (yield* sandcastle.listFiles()).answer.map(({ path }) => path),
        ["a.csv"]
      )
      const { content } = (yield* sandcastle.download("a.csv")).answer
      assert.strictEqual(new TextDecoder().decode(content), "1,2")
    }).pipe(Effect.provide(deployment))
  )
})
