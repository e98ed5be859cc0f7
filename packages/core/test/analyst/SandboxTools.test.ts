import { CurrentPrincipal, Principal } from "@castellan/core/access/Principal"
import type { Asset } from "@castellan/core/asset/Asset"
import { AssetStore } from "@castellan/core/asset/AssetStore"
import { duration } from "@castellan/core/chat/Cell"
import { defaultTools } from "@castellan/core/chat/Chat"
import { Chats } from "@castellan/core/chat/Chats"
import type { ModelTurn } from "@castellan/core/model/LanguageModels"
import type { Run } from "@castellan/core/run/Run"
import type { RunEvent } from "@castellan/core/run/RunEvent"
import { ChatSandcastles } from "@castellan/core/sandcastle/ChatSandcastles"
import { ExecEvent, layerUnavailable, type RichBody } from "@castellan/core/sandcastle/SandboxRuntime"
import { Sandcastles } from "@castellan/core/sandcastle/Sandcastles"
import * as Conversation from "@castellan/testing/fixture/Conversation"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { violations } from "@castellan/testing/fixture/WellFormed"
import { call, calls, finished, says, ScriptedModel } from "@castellan/testing/scripted/ScriptedModel"
import * as Scripted from "@castellan/testing/scripted/ScriptedSandbox"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Option, Schema } from "effect"
import { TestClock } from "effect/testing"

const newcomer = Effect.gen(function* () {
  const tenant = yield* Fixture.tenant()
  yield* Fixture.connector(tenant.organizationId)
  return Fixture.adminOf(tenant)
})

/** Everything that an ended run told, well-formed. */
const told = Effect.fnUntraced(function* (run: Run) {
  const events = yield* Conversation.events(run)
  const outline = Conversation.outline(events)
  assert.deepStrictEqual(violations(events), [], outline.join("\n"))
  return { run, events, outline }
})

const asked = (principal: Principal, more: Parameters<typeof Conversation.ask>[2] = {}) =>
  Effect.flatMap(Conversation.ask(principal, "What is typical?", more), told)

const turns = ScriptedModel.use((model) => Effect.map(model.recorded, (all) => all.map(({ turn }) => turn)))

const toolNames = (turn: ModelTurn | undefined) => turn?.tools.map(({ name }) => name) ?? []

/** What the model read of its calls by the end, in order. */
const results = Effect.map(turns, (all) =>
  (all.at(-1)?.messages ?? []).flatMap((message) => (message._tag === "ToolResult" ? [message] : []))
)

const json = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown)))

const cells = (events: ReadonlyArray<RunEvent>) =>
  events.flatMap((event) => (event._tag === "Cell" && event.cell.content._tag === "Tool" ? [event.cell] : []))

const assets = (events: ReadonlyArray<RunEvent>) =>
  events.flatMap((event) => (event._tag === "Asset" ? [event.asset] : []))

const bodyOf = (asset: Asset | undefined, format: Asset["formats"][number]) =>
  asset === undefined
    ? Effect.succeedNone
    : AssetStore.use((store) => store.body(asset.organizationId, asset.id, format))

/** The executions of a chat's sandcastle, newest first. */
const recorded = (principal: Principal) =>
  Effect.gen(function* () {
    const sandcastles = yield* Sandcastles
    const { items } = yield* sandcastles.list({ status: "all", limit: 10 })
    const [sandcastle] = items
    assert.isDefined(sandcastle)
    return (yield* sandcastles.executions(sandcastle.id, { limit: 50 })).items
  }).pipe(Effect.provideService(CurrentPrincipal, principal))

const python = (code: string, id?: string) => calls("python", { title: "Look closer", code }, id)
const bash = (command: string) => calls("bash", { title: "Look around", command })
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

describe("bash", () => {
  it.effect("runs a command in a fresh shell; another exit code than 0 is an answer", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { events, outline } = yield* asked(admin)
      assert.deepStrictEqual(outline.slice(2, 4), ["cell bash running", "cell bash completed"])
      assert.deepStrictEqual(cells(events)[1]?.result.output, ["hello", "oh"])
      const [read] = yield* results
      assert.deepStrictEqual(json(read?.content ?? ""), { output: "hello\noh\n", exit_code: 3 })
      assert.deepStrictEqual(
        (yield* recorded(admin)).map(({ input, kind }) => [kind, input]),
        [["bash", "echo hello\necho oh >&2\nexit 3"]]
      )
    }).pipe(Effect.provide(Deployment.layer({ script: [bash("echo hello\necho oh >&2\nexit 3"), says("Done.")] })))
  )
})

describe("the tools of the sandbox", () => {
  const withTools = (more: Partial<typeof defaultTools>) => ({ tools: { ...defaultTools, ...more } })

  it.effect("are not on offer where Python is off, and calls of them are refused", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      yield* asked(admin, withTools({ python: false }))
      const [first] = yield* turns
      assert.notIncludeMembers(toolNames(first), ["python"])
      assert.notIncludeMembers(toolNames(first), ["bash"])
      assert.deepStrictEqual(
        (yield* results).map(({ content }) => content),
        ['the tool "python" is not available', 'the tool "bash" is not available']
      )
      assert.deepStrictEqual(yield* Scripted.ScriptedSandbox.use((sandbox) => sandbox.opened), [])
    }).pipe(
      Effect.provide(
        Deployment.layer({
          script: [
            [
              call("python", { title: "t", code: "x = 1" }, "1"),
              call("bash", { title: "t", command: "echo" }, "2"),
              finished()
            ],
            says("No.")
          ]
        })
      )
    )
  )

  it.effect("are not on offer to who may not execute anything", () =>
    Effect.gen(function* () {
      const tenant = yield* Fixture.tenant()
      const role = yield* Fixture.role(tenant.organizationId, { permissions: ["chat:read", "chat:write"] })
      yield* asked(new Principal({ ...Fixture.adminOf(tenant), roles: [role] }))
      assert.notIncludeMembers(toolNames((yield* turns)[0]), ["python"])
    }).pipe(Effect.provide(Deployment.layer({ script: [says("No.")] })))
  )

  it.effect("are not on offer in a deployment without sandboxes", () =>
    Effect.gen(function* () {
      yield* asked(yield* newcomer)
      assert.notIncludeMembers(toolNames((yield* turns)[0]), ["python"])
      assert.notIncludeMembers(toolNames((yield* turns)[0]), ["bash"])
    }).pipe(Effect.provide(Deployment.layer({ sandbox: layerUnavailable, script: [says("No.")] })))
  )

  it.effect("say what can be imported", () =>
    Effect.gen(function* () {
      yield* asked(yield* newcomer)
      const description = (yield* turns)[0]?.tools.find(({ name }) => name === "python")?.description
      assert.include(description, "Packages beside the standard library: numpy, pandas.")
      assert.include(description, "Dataframes are pandas.DataFrame.")
    }).pipe(
      Effect.provide(
        Deployment.layer({
          sandbox: Scripted.layer({ capabilities: { packages: ["numpy", "pandas"] } }),
          script: [says("No.")]
        })
      )
    )
  )
})

const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3)

const displays = (...all: ReadonlyArray<ReadonlyArray<RichBody>>) =>
  all.map((forms) => ExecEvent.cases.Rich.make({ forms }))

const vega = (specification: unknown): RichBody => ({
  mediaType: "application/vnd.vegalite.v5+json",
  body: JSON.stringify(specification)
})

/** A deployment whose sandbox displays these things whatever it is told to run. */
const displaying = (...all: ReadonlyArray<ReadonlyArray<RichBody>>) =>
  Deployment.layer({
    teaches: ({ code }) => (code === "show" ? displays(...all) : undefined),
    script: [python("show"), says("Look.")]
  })

describe("what a program displays or leaves", () => {
  it.effect("becomes assets of its cell, each as what it is", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { events, outline, run } = yield* asked(admin)
      assert.deepStrictEqual(outline.slice(2, -4), [
        "cell python running",
        "asset image Look closer",
        "asset chart Delay by hour",
        "asset table Look closer (2)",
        "asset html Look closer (3)",
        "asset image Look closer (4)",
        "cell python completed"
      ])
      const cell = cells(events).at(-1)
      assert.isDefined(cell)
      const made = assets(events)
      assert.deepStrictEqual(
        made.map(({ formats }) => formats),
        [["png"], ["png", "svg", "json"], ["csv"], ["html"], ["svg"]]
      )
      for (const asset of made) {
        assert.strictEqual(asset.cellId, cell.id)
        assert.strictEqual(asset.messageCellId, run.messageCellId)
      }
      assert.deepStrictEqual(
        cell.result.assets,
        made.map(({ id }) => id)
      )
      assert.deepStrictEqual(cell.result.output, ["<Figure>"])
      assert.strictEqual(cell.result.dataframePreview, "| a |\n| ---: |\n| 1 |")
      const [image, chart, table] = made
      assert.deepStrictEqual(yield* bodyOf(image, "png"), Option.some(png))
      const drawn = yield* bodyOf(chart, "json")
      assert.include(String(Option.getOrThrow(drawn)), '"data":{"values":[{"hour":7,"delay":3.5}]}')
      assert.strictEqual(table?.content, "| a |\n| ---: |\n| 1 |")
      const answer = yield* Chats.use((chats) => chats.answer(run))
      assert.deepStrictEqual(answer.assets, made)
      const [read] = yield* results
      assert.deepStrictEqual(json(read?.content ?? "")["assets"], [
        { name: "Look closer", kind: "image" },
        { name: "Delay by hour", kind: "chart" },
        { name: "Look closer (2)", kind: "table" },
        { name: "Look closer (3)", kind: "html" },
        { name: "Look closer (4)", kind: "image" }
      ])
    }).pipe(
      Effect.provide(
        displaying(
          [
            { mediaType: "image/png", body: png },
            { mediaType: "text/plain", body: "<Figure>" }
          ],
          [vega({ title: "Delay by hour", mark: "bar", data: { values: [{ hour: 7, delay: 3.5 }] } })],
          [
            { mediaType: "text/html", body: "<table></table>" },
            { mediaType: "text/csv", body: "a\n1\n" }
          ],
          [{ mediaType: "text/html", body: "<script>alert(1)</script>" }],
          [{ mediaType: "image/svg+xml", body: "<svg/>" }]
        )
      )
    )
  )

  it.effect("is no asset where it is not what it says, and the model is told of a chart that cannot be drawn", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { events } = yield* asked(admin)
      assert.deepStrictEqual(assets(events), [])
      const [read] = yield* results
      assert.deepStrictEqual(json(read?.content ?? "")["notes"], [
        "a chart could not be drawn: mark: is missing",
        "a chart could not be drawn: it must be a Vega-Lite specification with its rows in `data.values`"
      ])
    }).pipe(
      Effect.provide(
        displaying(
          [{ mediaType: "image/png", body: new TextEncoder().encode("<script>") }],
          [{ mediaType: "image/png", body: "not bytes" }],
          [vega({ data: { values: [] } })],
          [vega({ mark: "bar", data: { url: "https://example.com/x.csv" } })],
          [{ mediaType: "application/x-python-pickle", body: png }]
        )
      )
    )
  )

  it.effect("has a bound in number, which the model is told of", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { events } = yield* asked(admin)
      assert.strictEqual(assets(events).length, 20)
      const [read] = yield* results
      assert.deepStrictEqual(json(read?.content ?? "")["notes"], ["5 more things were displayed than can be shown"])
    }).pipe(
      Effect.provide(
        displaying(
          ...Array.from({ length: 25 }, (): ReadonlyArray<RichBody> => [{ mediaType: "image/png", body: png }])
        )
      )
    )
  )

  it.effect("are files, too, by what they are; a file that is no picture is a download", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { events } = yield* asked(admin)
      const made = assets(events)
      assert.deepStrictEqual(
        made.map(({ formats, kind, name }) => [name, kind, formats]),
        [
          ["notes.md", "text", ["txt"]],
          ["page.html", "html", ["html"]],
          ["picture.png", "download", ["bin"]],
          ["report.csv", "table", ["csv"]]
        ]
      )
      const [notes, , , report] = made
      assert.strictEqual(notes?.content, "# Notes")
      assert.strictEqual(report?.content, "| region | amount |\n| --- | ---: |\n| north | 120 |")
      const cell = cells(events).at(-1)
      assert.isTrue(made.every(({ cellId }) => cellId === cell?.id))
    }).pipe(
      Effect.provide(
        Deployment.layer({
          script: [
            python(
              [
                `open("outputs/report.csv", "w").write("region,amount\\nnorth,120\\n")`,
                `open("outputs/notes.md", "w").write("# Notes")`,
                `open("outputs/picture.png", "w").write("<script>")`,
                `open("outputs/page.html", "w").write("<b>bold</b>")`,
                `open("library/edit.md", "w").write("an edit of the library is none")`
              ].join("\n")
            ),
            says("Here.")
          ]
        })
      )
    )
  )

  it.effect("that are many are shown as far as an execution and a run may show files, and the rest is told of", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { events } = yield* asked(admin)
      const made = assets(events)
      assert.strictEqual(made.length, 100)
      assert.strictEqual(made.filter(({ cellId }) => cellId === made[0]?.cellId).length, 20)
      const notes = (yield* results).map(({ content }) => json(content)["notes"])
      const more = "2 more files were made than are shown"
      const full = "this run has shown as much as it can: the rest is not shown"
      assert.deepStrictEqual(notes, [...Array.from({ length: 5 }, () => [more]), [more, full]])
    }).pipe(
      Effect.provide(
        Deployment.layer({
          script: [
            ...Array.from({ length: 6 }, (_, step) =>
              python(
                Array.from({ length: 22 }, (__, file) => `open("outputs/${step}-${file}.md", "w").write("x")`).join(
                  "\n"
                ),
                `${step}`
              )
            ),
            says("Many.")
          ]
        })
      )
    )
  )

  it.effect("that cannot be shown are told of, with the reason", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { events } = yield* asked(admin)
      assert.deepStrictEqual(assets(events), [])
      const notes = json((yield* results)[0]?.content ?? "")["notes"]
      assert.deepStrictEqual(notes, [
        'the file "../etc/passwd" is not shown: its name must not have `.` or `..` segments',
        "the file outputs/link is not shown: there is no file outputs/link"
      ])
    }).pipe(
      Effect.provide(
        Deployment.layer({
          script: [
            python(`open("../etc/passwd", "w").write("x")\nimport os; os.symlink("/etc/passwd", "outputs/link")`),
            says("No.")
          ]
        })
      )
    )
  )
})
