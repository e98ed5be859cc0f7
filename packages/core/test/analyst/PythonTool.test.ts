import { CurrentPrincipal } from "@castellan/core/access/Principal"
import { duration } from "@castellan/core/chat/Cell"
import { Chats } from "@castellan/core/chat/Chats"
import { ChatSandcastles } from "@castellan/core/sandcastle/ChatSandcastles"
import { Sandcastles } from "@castellan/core/sandcastle/Sandcastles"
import * as Conversation from "@castellan/testing/fixture/Conversation"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import { calls, says } from "@castellan/testing/scripted/ScriptedModel"
import * as Scripted from "@castellan/testing/scripted/ScriptedSandbox"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { newcomer, told } from "./Asking.ts"
import { asked, cells, json, python, recorded, results } from "./SandboxAsking.ts"

const allSales = calls("run_sql", { title: "All sales", connector: "warehouse", sql: "select * from sales" })

/** Sandboxes that are there, and do not open. */
const broken = Scripted.layer({ unavailable: "user namespaces are off" })

describe("python", () => {
  it.effect(
    "runs a program over a result that it names; its cell tells what it put out and which execution it was",
    () =>
      Effect.gen(function* () {
        const admin = yield* newcomer
        const { events, outline } = yield* asked(admin)
        assert.deepStrictEqual(outline.slice(4), [
          "cell python running",
          "cell python completed",
          "cell python running",
          "cell python completed",
          "cell assistant running",
          "text Three rows.",
          "cell assistant completed",
          "done completed"
        ])
        const [, first, , second] = cells(events)
        assert.isDefined(first)
        assert.isDefined(second)
        assert.deepStrictEqual(first?.content, {
          _tag: "Tool",
          toolName: "python",
          input: "n = len(result_1)\nprint(n)"
        })
        assert.deepStrictEqual(first.result.output, ["3"])
        assert.isDefined(duration(first))
        assert.deepStrictEqual(second?.result.output, ["4"])
        const executions = yield* recorded(admin)
        assert.deepStrictEqual(
          executions.map(({ id, kind, source, status }) => [id, kind, source, status._tag]),
          [
            [second.result.executionId, "python", "chat", "Completed"],
            [first.result.executionId, "python", "chat", "Completed"]
          ]
        )
        const [, read] = yield* results
        assert.deepStrictEqual(json(read?.content ?? ""), { output: "3\n" })
      }).pipe(
        Effect.provide(
          Deployment.layer({
            script: [allSales, python("n = len(result_1)\nprint(n)"), python("print(n + 1)"), says("Three rows.")]
          })
        )
      )
  )

  it.effect("variables stay for the chat's next question, and the model is told when they are gone", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { run } = yield* asked(admin)
      yield* asked(admin, { chatId: run.chatId })
      assert.deepStrictEqual(json((yield* results).at(-1)?.content ?? ""), { output: "8\n" })
      const { sandcastleId } = yield* (yield* ChatSandcastles.use((all) => all.of(run))).execute("y = 1")
      yield* Sandcastles.use((all) => all.stop(sandcastleId)).pipe(Effect.provideService(CurrentPrincipal, admin))
      yield* asked(admin, { chatId: run.chatId })
      const failed = (yield* results).at(-1)
      assert.isTrue(failed?.failed)
      assert.match(failed?.content ?? "", /NameError[^]*the sandbox was started anew before this ran/u)
    }).pipe(
      Effect.provide(
        Deployment.layer({
          script: [python("x = 7"), says("ok"), python("print(x + 1)"), says("8"), python("print(x)"), says("gone")]
        })
      )
    )
  )

  it.effect("an error goes back with its traceback and what was put out before it; the reader sees both", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { events, outline } = yield* asked(admin)
      assert.include(outline, 'cell python failed: line: raise ValueError("no")\nValueError: no')
      const failed = cells(events).at(-1)
      assert.isDefined(failed)
      assert.deepStrictEqual(failed.result.output, ["so far"])
      assert.isDefined(failed.result.executionId)
      const [read] = yield* results
      assert.isTrue(read?.failed)
      assert.strictEqual(
        read?.content,
        'line: raise ValueError("no")\nValueError: no\nOutput before it ended:\nso far\n'
      )
    }).pipe(
      Effect.provide(
        Deployment.layer({ script: [python('print("so far")\nraise ValueError("no")'), says("It failed.")] })
      )
    )
  )

  it.effect(
    "an interpreter that dies is told of, and what it had of this run is there again for the next program",
    () =>
      Effect.gen(function* () {
        const admin = yield* newcomer
        yield* asked(admin)
        const [, crashed, again] = yield* results
        assert.isTrue(crashed?.failed)
        assert.match(crashed?.content ?? "", /Python had to be restarted: its variables and dataframes are gone/u)
        assert.deepStrictEqual(json(again?.content ?? ""), { output: "3\n" })
      }).pipe(
        Effect.provide(
          Deployment.layer({
            script: [
              allSales,
              python("n = len(result_1)\nimport os; os._exit(1)"),
              python("print(len(result_1))"),
              says("Three.")
            ]
          })
        )
      )
  )

  it.effect("a sandbox that does not open is a failure in words, and the run goes on", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { outline } = yield* asked(admin)
      assert.strictEqual(outline.at(-1), "done completed")
      const [read] = yield* results
      assert.deepStrictEqual([read?.failed, read?.content], [true, "user namespaces are off"])
      assert.include(outline, "cell python failed: user namespaces are off")
    }).pipe(
      Effect.provide(
        Deployment.layer({
          sandbox: broken,
          script: [python("x = 1"), says("No sandbox.")]
        })
      )
    )
  )

  it.effect("what runs too long is stopped at its source and on the record; the session goes on", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const run = yield* Conversation.ask(admin, "Loop?")
      yield* Scripted.ScriptedSandbox.use((sandbox) => sandbox.stuck(1))
      yield* TestClock.adjust(Duration.seconds(180))
      const { outline } = yield* told(run)
      assert.include(outline, "cell python failed: the execution ran past its time limit")
      const [, read] = yield* results
      assert.deepStrictEqual(json(read?.content ?? ""), { output: "1\n" })
      assert.deepStrictEqual(
        (yield* recorded(admin)).map(({ status }) => status._tag),
        ["Completed", "Failed"]
      )
    }).pipe(
      Effect.provide(
        Deployment.layer({ script: [python("x = 1\nwhile True: pass"), python("print(x)"), says("Stopped.")] })
      )
    )
  )

  it.effect("what takes long tells meanwhile what it has put out, and no more often than there is more", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const run = yield* Conversation.ask(admin, "Slow?")
      yield* Scripted.ScriptedSandbox.use((sandbox) => sandbox.stuck(1))
      yield* TestClock.adjust(Duration.seconds(20))
      const running = yield* Chats.use((chats) => chats.get(run.chatId)).pipe(
        Effect.provideService(CurrentPrincipal, admin)
      )
      const cell = running.transcript.cells.find(({ content }) => content._tag === "Tool")
      assert.deepStrictEqual([cell?.status._tag, cell?.result.output], ["Running", ["step 1"]])
      yield* TestClock.adjust(Duration.seconds(180))
      const { outline } = yield* told(run)
      assert.deepStrictEqual(
        outline.filter((line) => line.startsWith("cell python")),
        ["cell python running", "cell python running", "cell python failed: the execution ran past its time limit"]
      )
    }).pipe(Effect.provide(Deployment.layer({ script: [python('print("step 1")\nwhile True: pass'), says("Slow.")] })))
  )

  it.effect("a cancel of the run stops the execution at its source, and nothing of it goes on", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const run = yield* Conversation.ask(admin, "Loop?")
      const sandbox = yield* Scripted.ScriptedSandbox
      yield* sandbox.stuck(1)
      const cancelling = yield* Chats.use((chats) => chats.cancel(run.chatId)).pipe(
        Effect.provideService(CurrentPrincipal, admin),
        Effect.forkChild({ startImmediately: true })
      )
      const { events, outline } = yield* told(run)
      yield* Fiber.join(cancelling)
      yield* sandbox.stuck(0)
      assert.deepStrictEqual(outline.slice(-2), ["cell python halted", "done failed: cancelled"])
      assert.deepStrictEqual(cells(events).at(-1)?.result.output, ["so far"])
      assert.deepStrictEqual(
        (yield* recorded(admin)).map(({ outputPreview, status }) => [status._tag, outputPreview]),
        [["Interrupted", "so far\n"]]
      )
    }).pipe(Effect.provide(Deployment.layer({ script: [python('print("so far")\nwhile True: pass'), says("Never.")] })))
  )

  it.effect("what the model reads of it has a bound, and so has what the reader sees", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { events } = yield* asked(admin)
      const [read] = yield* results
      assert.isBelow(read?.content.length ?? Infinity, 20_000)
      const output = String(json(read?.content ?? "")["output"])
      assert.match(output, /^a{1000}[^]*… \d+ characters left out …[^]*the end\n$/u)
      const shown = (cells(events).at(-1)?.result.output ?? []).join("\n")
      assert.isBelow(shown.length, 40_000)
      assert.isTrue(shown.endsWith("the end"))
    }).pipe(
      Effect.provide(Deployment.layer({ script: [python('print("a" * 200000)\nprint("the end")'), says("Much.")] }))
    )
  )

  it.effect("a result of an earlier question does not pass for one of this question", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { run } = yield* asked(admin)
      yield* asked(admin, { chatId: run.chatId })
      assert.deepStrictEqual(json((yield* results).at(-1)?.content ?? ""), {
        output: "3\n",
        notes: ["result_1 is no result of this question; what the sandbox has by that name, if anything, is older"]
      })
    }).pipe(
      Effect.provide(
        Deployment.layer({
          script: [
            allSales,
            python("print(len(result_1))"),
            says("Three."),
            python("print(len(result_1))"),
            says("Three, as before.")
          ]
        })
      )
    )
  )
})
