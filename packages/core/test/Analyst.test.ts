import * as Castellan from "@castellan/core/Castellan"
import { CurrentPrincipal, type Principal } from "@castellan/core/access/Principal"
import { AssetStore } from "@castellan/core/asset/AssetStore"
import { defaultTools } from "@castellan/core/chat/Chat"
import { Chats } from "@castellan/core/chat/Chats"
import { ChatStore } from "@castellan/core/chat/ChatStore"
import { ConnectorId } from "@castellan/core/connector/Connector"
import type { ModelMessage, ModelOutput, ModelTurn } from "@castellan/core/model/LanguageModels"
import * as Stores from "@castellan/core/memory/Stores"
import type { Run } from "@castellan/core/run/Run"
import type { RunEvent } from "@castellan/core/run/RunEvent"
import * as Conversation from "@castellan/testing/fixture/Conversation"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { violations } from "@castellan/testing/fixture/WellFormed"
import { sales, ScriptedDriver } from "@castellan/testing/scripted/ScriptedDriver"
import {
  after,
  call,
  calls,
  endless,
  failing,
  finished,
  says,
  ScriptedModel,
  stalling,
  text
} from "@castellan/testing/scripted/ScriptedModel"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Fiber, Layer, Option, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"

/** An administrator of a new organization with one connector, `warehouse`. */
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
  return { run, events, outline, last: outline.at(-1) }
})

const asked = (
  principal: Principal,
  question = "How much did we sell?",
  more: Parameters<typeof Conversation.ask>[2] = {}
) => Effect.flatMap(Conversation.ask(principal, question, more), told)

const turns = ScriptedModel.use((model) => Effect.map(model.recorded, (all) => all.map((one) => one.turn)))

const turnNumber = Effect.fnUntraced(function* (number: number) {
  const turn = (yield* turns)[number - 1]
  if (turn === undefined) return yield* Effect.die(new Error(`there was no turn ${number}`))
  return turn
})

const toolNames = (turn: ModelTurn): ReadonlyArray<string> => turn.tools.map((tool) => tool.name)

const resultsOf = (turn: ModelTurn) =>
  turn.messages.flatMap((message) => (message._tag === "ToolResult" ? [message] : []))

const lastResult = (turn: ModelTurn) => {
  const result = resultsOf(turn).at(-1)
  if (result === undefined) throw new Error("no tool was called")
  return result
}

const keptRun = (run: Run) =>
  Effect.map(
    ChatStore.use((store) => store.run(run.organizationId, run.id)),
    Option.getOrThrow
  )

const statements = ScriptedDriver.use((driver) => driver.recorded)

const allSales = { title: "All sales", connector: "warehouse", sql: "select * from sales" }

const cells = (events: ReadonlyArray<RunEvent>) =>
  events.flatMap((event) => (event._tag === "Cell" ? [event.cell] : []))

const assets = (events: ReadonlyArray<RunEvent>) =>
  events.flatMap((event) => (event._tag === "Asset" ? [event.asset] : []))

const fromJson = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Unknown))

describe("a text to keep", () => {
  it.effect("is an asset that can be read without a fetch, and fetched as it is", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { events, last } = yield* asked(admin)
      assert.strictEqual(last, "done completed")
      const [asset] = assets(events)
      assert.deepInclude(asset, { kind: "text", name: "Notes", content: "# Notes", formats: ["txt"] })
      const kept = yield* AssetStore.use((store) =>
        asset === undefined ? Effect.succeedNone : store.body(asset.organizationId, asset.id, "txt")
      )
      assert.deepStrictEqual(kept, Option.some("# Notes"))
    }).pipe(
      Effect.provide(
        Deployment.layer({ script: [calls("make_text", { name: "Notes", text: "# Notes" }), says("Kept.")] })
      )
    )
  )
})

describe("the analyst", () => {
  it.effect("from a question to an answer with a table and a chart, told in order", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { events, outline, run } = yield* asked(admin)
      assert.deepStrictEqual(outline, [
        "metadata",
        "cell user completed",
        "cell assistant running",
        "text Let me look.",
        "text \n\n",
        "cell OntologyQuery running",
        "cell OntologyQuery completed",
        "cell make_chart running",
        "asset chart Sales by region",
        "cell make_chart completed",
        "cell make_table running",
        "asset table Sales",
        "cell make_table completed",
        "text Three regions, 245 in all.",
        "cell assistant completed",
        "done completed"
      ])
      const metadata = events[0]
      assert.isTrue(metadata?._tag === "Metadata" && metadata.messageCellId === run.messageCellId)
      assert.isTrue(metadata?._tag === "Metadata" && !metadata.isContinuation && metadata.chatId === run.chatId)

      // The query's cell starts with the query, and ends with the statement that it became, and the first rows.
      const [start, end] = cells(events).filter((cell) => cell.content._tag === "OntologyQuery")
      assert.deepStrictEqual(start?.content, { _tag: "OntologyQuery", query: "run: sales" })
      assert.deepStrictEqual(end?.content, {
        _tag: "OntologyQuery",
        connectorId: ConnectorId.make(1),
        query: "run: sales",
        code: "select * from sales"
      })
      assert.strictEqual(end?.id, start?.id)
      assert.include(end?.result.dataframePreview, "| north | 120 |")

      const [chart, table] = assets(events)
      assert.isDefined(chart)
      assert.isDefined(table)
      assert.deepStrictEqual(chart.formats, ["png", "svg", "json"])
      assert.deepStrictEqual(table.formats, ["csv", "json"])
      assert.include(table.content, "| south | 80 |")
      const store = yield* AssetStore
      for (const asset of [chart, table]) {
        for (const format of asset.formats)
          assert.isTrue(Option.isSome(yield* store.body(asset.organizationId, asset.id, format)))
      }
      const specification = Option.getOrThrow(yield* store.body(chart.organizationId, chart.id, "json"))
      assert.include(String(specification), '"amount":120')

      const answer = yield* Chats.use((chats) => chats.answer(run))
      assert.strictEqual(answer.response, "Let me look.\n\nThree regions, 245 in all.")
      assert.deepStrictEqual(answer.assets, [chart, table])
      assert.deepStrictEqual((yield* keptRun(run)).usage, { inputTokens: 50, outputTokens: 25, toolCalls: 4 })
    }).pipe(
      Effect.provide(
        Deployment.layer({
          script: [
            [text("Let me look."), call("describe_ontology", {}), finished()],
            calls("query_ontology", { title: "Sales", query: "run: sales" }),
            calls("make_chart", { name: "Sales by region", result: "result_1", specification: { mark: "bar" } }),
            calls("make_table", { name: "Sales", result: "result_1" }),
            says("Three regions, 245 in all.")
          ]
        })
      )
    )
  )

  it.effect("tells the model who it is, today's date, its connectors and its tools, and keeps the conversation", () =>
    Effect.gen(function* () {
      const tenant = yield* Fixture.tenant()
      yield* Fixture.connector(tenant.organizationId, { description: "All that we sell" })
      yield* Fixture.connector(tenant.organizationId, {
        id: 2,
        name: "hidden",
        access: { isPublic: false, grants: [] }
      })
      yield* TestClock.setTime(Date.UTC(2030, 4, 5, 23, 59))
      yield* asked(Fixture.adminOf(tenant))
      const [first, second] = yield* turns
      assert.isDefined(first)
      assert.isDefined(second)
      assert.include(first.instructions, "2030-05-05")
      assert.include(first.instructions, "- warehouse (files): All that we sell")
      assert.notInclude(first.instructions, "hidden")
      assert.deepStrictEqual(toolNames(first), [
        "describe_ontology",
        "query_ontology",
        "describe_tables",
        "run_sql",
        "python",
        "bash",
        "make_chart",
        "make_table",
        "make_text"
      ])
      for (const { parameters } of first.tools) {
        assert.strictEqual(parameters["type"], "object")
        assert.notInclude(JSON.stringify(parameters), "#/definitions")
      }
      assert.deepStrictEqual(first.messages, [{ _tag: "Question", text: "How much did we sell?" }])
      assert.deepStrictEqual(
        second.messages.map((message): string => message._tag),
        ["Question", "Answer", "ToolResult"]
      )
      const result = lastResult(second)
      assert.deepStrictEqual([result.callId, result.name, result.failed], ["c1", "run_sql", false])
      assert.deepStrictEqual(fromJson(result.content), {
        result: "result_1",
        columns: sales.columns,
        rows: sales.rows,
        row_count: 3,
        truncated: false
      })
    }).pipe(Effect.provide(Deployment.layer({ script: [calls("run_sql", allSales, "c1"), says("Done.")] })))
  )

  it.effect("a follow-up question has the conversation before it", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { run } = yield* asked(admin, "How many regions?")
      yield* asked(admin, "Which is best?", { chatId: run.chatId })
      yield* asked(admin, "Another chat?")
      assert.deepStrictEqual((yield* turnNumber(3)).messages, [
        { _tag: "Question", text: "How many regions?" },
        { _tag: "Answer", text: "Three.", toolCalls: [] },
        { _tag: "Question", text: "Which is best?" }
      ] satisfies ReadonlyArray<ModelMessage>)
      assert.strictEqual((yield* turnNumber(4)).messages.length, 1)
      const view = yield* Chats.use((chats) => chats.get(run.chatId)).pipe(
        Effect.provideService(CurrentPrincipal, admin)
      )
      assert.strictEqual(view.transcript.messages.length, 4)
    }).pipe(
      Effect.provide(
        Deployment.layer({ script: [calls("run_sql", allSales), says("Three."), says("North."), says("Yes.")] })
      )
    )
  )
})

describe("the tools of a run", () => {
  const tools = (more: Partial<typeof defaultTools>) => ({ tools: { ...defaultTools, ...more } })

  it.effect("one that is off is not offered, and a call of it is refused", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { last, outline } = yield* asked(admin, "Without SQL?", tools({ sql: false }))
      assert.strictEqual(last, "done completed")
      const [first, second] = yield* turns
      assert.isDefined(first)
      assert.isDefined(second)
      assert.notInclude(toolNames(first), "run_sql")
      assert.notInclude(toolNames(first), "describe_tables")
      assert.include(toolNames(first), "query_ontology")
      const result = lastResult(second)
      assert.isTrue(result.failed)
      assert.strictEqual(result.content, 'the tool "run_sql" is not available')
      assert.deepStrictEqual(yield* statements, [])
      assert.isFalse(outline.some((line) => line.includes("Sql")))
      yield* asked(admin, "Without the ontology?", tools({ ontology: false }))
      const third = yield* turnNumber(3)
      assert.notInclude(toolNames(third), "query_ontology")
      assert.notInclude(toolNames(third), "describe_ontology")
    }).pipe(Effect.provide(Deployment.layer({ script: [calls("run_sql", allSales), says("No."), says("No.")] })))
  )

  it.effect("reach only the connectors that the question named", () =>
    Effect.gen(function* () {
      const tenant = yield* Fixture.tenant()
      yield* Fixture.connector(tenant.organizationId)
      yield* Fixture.connector(tenant.organizationId, { id: 2, name: "other" })
      yield* asked(Fixture.adminOf(tenant), "Other?", tools({ connectorIds: [ConnectorId.make(2)] }))
      const turn = yield* turnNumber(2)
      assert.notInclude(turn.instructions, "warehouse")
      assert.deepStrictEqual(
        resultsOf(turn).map((result) => result.content),
        [
          'the connector "warehouse" is not available; available are: other',
          "query:1:6: reference to undefined source sales",
          '{"sources":[]}'
        ]
      )
      assert.deepStrictEqual(yield* statements, [])
    }).pipe(
      Effect.provide(
        Deployment.layer({
          script: [
            [
              call("run_sql", allSales),
              call("query_ontology", { title: "t", query: "run: sales" }),
              call("describe_ontology", {}),
              finished()
            ],
            says("No.")
          ]
        })
      )
    )
  )

  it.effect("what fails goes back to the model, with the reason, and the reader sees it in the cell", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { last, outline } = yield* asked(admin)
      assert.strictEqual(last, "done completed")
      const results = resultsOf(yield* turnNumber(2))
      assert.deepStrictEqual(
        results.map((result) => [result.callId, result.failed, result.content]),
        [
          ["1", true, "table nowhere does not exist"],
          ["2", true, "only statements that read are allowed"],
          ["3", true, "query:1:1: expected `run: <source>`"],
          ["4", true, "there is no result result_7; kept are: none"],
          ["5", true, "there is no result result_1; kept are: none"]
        ]
      )
      assert.deepStrictEqual(
        outline.filter((line) => line.includes("failed")),
        [
          "cell Sql failed: table nowhere does not exist",
          "cell Sql failed: only statements that read are allowed",
          "cell OntologyQuery failed: query:1:1: expected `run: <source>`",
          "cell make_chart failed: there is no result result_7; kept are: none",
          "cell make_table failed: there is no result result_1; kept are: none"
        ]
      )
    }).pipe(
      Effect.provide(
        Deployment.layer({
          script: [
            [
              call("run_sql", { ...allSales, sql: "select * from nowhere" }, "1"),
              call("run_sql", { ...allSales, sql: "drop table sales" }, "2"),
              call("query_ontology", { title: "t", query: "select everything" }, "3"),
              call("make_chart", { name: "c", result: "result_7", specification: { mark: "bar" } }, "4"),
              call("make_table", { name: "t", result: "result_1" }, "5"),
              finished()
            ],
            says("It did not work.")
          ]
        })
      )
    )
  )

  it.effect("a chart that is not valid goes back to the model, and leaves no asset", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { events, last } = yield* asked(admin)
      assert.strictEqual(last, "done completed")
      assert.strictEqual(lastResult(yield* turnNumber(3)).content, "data: must not be given; the result is bound to it")
      assert.deepStrictEqual(assets(events), [])
    }).pipe(
      Effect.provide(
        Deployment.layer({
          script: [
            calls("run_sql", allSales),
            calls("make_chart", { name: "c", result: "result_1", specification: { mark: "bar", data: {} } }),
            says("No chart.")
          ]
        })
      )
    )
  )

  it.effect("arguments that do not fit are told, each with its place, and nothing runs", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { last, outline } = yield* asked(admin)
      assert.strictEqual(last, "done completed")
      const results = resultsOf(yield* turnNumber(2))
      assert.strictEqual(results.length, 9)
      for (const result of results) {
        assert.isTrue(result.failed)
        assert.match(result.content, /^invalid arguments of \w+: /u)
        assert.isBelow(result.content.length, 500)
      }
      assert.match(results[0]?.content ?? "", /title[^]*connector[^]*sql/u)
      assert.deepStrictEqual(yield* statements, [])
      assert.deepStrictEqual(
        outline.filter((line) => line.startsWith("cell") && !line.includes("user") && !line.includes("assistant")),
        []
      )
    }).pipe(
      Effect.provide(
        Deployment.layer({
          script: [
            [
              ...[
                {},
                undefined,
                null,
                "select 1",
                [allSales],
                { ...allSales, sql: 1 },
                { ...allSales, sql: "" },
                { ...allSales, title: "x".repeat(100_000) },
                { ...allSales, sql: "x".repeat(100_000) }
              ].map((input, index) => call("run_sql", input, `${index}`)),
              finished()
            ],
            says("No.")
          ]
        })
      )
    )
  )

  it.effect("the model reads the first rows of a result, charts and tables have them all", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { events } = yield* asked(admin)
      const result = Schema.decodeUnknownSync(
        Schema.fromJsonString(
          Schema.Struct({ rows: Schema.Array(Schema.Unknown), row_count: Schema.Int, truncated: Schema.Boolean })
        )
      )(lastResult(yield* turnNumber(2)).content)
      assert.strictEqual(result.rows.length, 5)
      assert.strictEqual(result.row_count, 40)
      assert.isTrue(result.truncated)
      const [table] = assets(events)
      assert.isDefined(table)
      const csv = Option.getOrThrow(yield* AssetStore.use((store) => store.body(table.organizationId, table.id, "csv")))
      assert.strictEqual(String(csv).trim().split("\r\n").length, 41)
      const [recorded] = yield* statements
      assert.strictEqual(recorded?.limits.maxRows, 40)
      assert.isTrue(recorded !== undefined && Duration.equals(recorded.limits.timeout, Duration.seconds(180)))
    }).pipe(
      Effect.provide(
        Deployment.layer({
          limits: { maxRows: 40, rowsForModel: 5 },
          tables: [
            {
              name: "sales",
              columns: [{ name: "n", type: "integer" }],
              rows: Array.from({ length: 100 }, (_, index) => [index])
            }
          ],
          script: [calls("run_sql", allSales), calls("make_table", { name: "All", result: "result_1" }), says("Done.")]
        })
      )
    )
  )

  it.effect("a long text or a wide table does not flood the model, and the reader has it all", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { events } = yield* asked(admin)
      const { content } = lastResult(yield* turnNumber(2))
      assert.isBelow(content.length, 51_000)
      const result = Schema.decodeUnknownSync(
        Schema.fromJsonString(
          Schema.Struct({ rows: Schema.Array(Schema.Tuple([Schema.Int, Schema.String])), row_count: Schema.Int })
        )
      )(content)
      assert.strictEqual(result.row_count, 150)
      assert.isAbove(result.rows.length, 50)
      assert.isBelow(result.rows.length, 150)
      assert.deepStrictEqual(result.rows[0], [0, `${"long ".repeat(100).slice(0, 499)}…`])
      const [table] = assets(events)
      assert.isDefined(table)
      const csv = Option.getOrThrow(yield* AssetStore.use((store) => store.body(table.organizationId, table.id, "csv")))
      assert.isAbove(csv.length, 150 * 50_000)
    }).pipe(
      Effect.provide(
        Deployment.layer({
          tables: [
            {
              name: "sales",
              columns: [
                { name: "n", type: "integer" },
                { name: "words", type: "text" }
              ],
              rows: Array.from({ length: 150 }, (_, index) => [index, "long ".repeat(10_000)])
            }
          ],
          script: [calls("run_sql", allSales), calls("make_table", { name: "All", result: "result_1" }), says("Done.")]
        })
      )
    )
  )

  it.effect("a run keeps its latest results only", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      yield* asked(admin)
      const results = resultsOf(yield* turnNumber(3))
      assert.strictEqual(results.at(-2)?.failed, true)
      assert.match(results.at(-2)?.content ?? "", /no result result_1; kept are: result_2, .*, result_13$/u)
      assert.strictEqual(results.at(-1)?.failed, false)
    }).pipe(
      Effect.provide(
        Deployment.layer({
          script: [
            [...Array.from({ length: 13 }, (_, index) => call("run_sql", allSales, `${index}`)), finished()],
            [
              call("make_table", { name: "old", result: "result_1" }, "old"),
              call("make_table", { name: "new", result: "result_13" }, "new"),
              finished()
            ],
            says("Done.")
          ]
        })
      )
    )
  )

  it.effect("a statement past its limit fails by itself, and the run goes on", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const driver = yield* ScriptedDriver
      yield* driver.hold
      const run = yield* Conversation.ask(admin, "Slow?")
      yield* driver.started(1)
      yield* TestClock.adjust("180 seconds")
      const { last, outline } = yield* told(run)
      assert.strictEqual(last, "done completed")
      assert.include(outline, "cell Sql failed: the statement ran past its time limit")
    }).pipe(Effect.provide(Deployment.layer({ script: [calls("run_sql", allSales), says("Too slow.")] })))
  )
})

describe("a model that talks nonsense", () => {
  const noAnswer = "done failed: the model gave no answer"
  const noEnd = "done failed: the model did not come to an end"
  /** Outputs that no schema has seen: an adapter hands on what it got. */
  const raw = (id: string): ModelOutput => ({ _tag: "Call", call: { id, name: "run_sql", arguments: allSales } })

  const counted = (inputTokens: number, outputTokens: number): ModelOutput => ({
    _tag: "Finished",
    inputTokens,
    outputTokens
  })

  it.effect.each([
    { name: "says nothing at all", script: [[]], last: noAnswer },
    { name: "says nothing and is finished", script: [[finished()]], last: noAnswer },
    { name: "says blanks", script: [says(" ", "\n")], last: noAnswer },
    { name: "says nothing after its tools", script: [calls("run_sql", allSales), [finished()]], last: noAnswer },
    {
      name: "says nothing more after its last call, but had an answer",
      script: [[text("Three."), call("run_sql", allSales), finished()], [finished()]],
      last: "done completed"
    },
    {
      name: "calls tools that are not there",
      script: [calls("rm", { rf: "/" }), says("Sorry.")],
      last: "done completed"
    },
    { name: "calls a tool without a name", script: [calls("", {}), says("Sorry.")], last: "done completed" },
    {
      name: "calls several tools under one id, or none",
      script: [[raw("x"), raw("x"), raw(""), raw(""), finished()], says("Done.")],
      last: "done completed"
    },
    {
      name: "is finished several times",
      script: [[text("One."), finished(1, 1), text("More"), finished(9, 9)]],
      last: "done completed"
    },
    {
      name: "counts its tokens as no number",
      script: [[text("Three."), counted(Number.NaN, Number.NaN)]],
      last: "done completed"
    },
    { name: "counts its tokens below nothing", script: [[text("Three."), counted(-5, -1e9)]], last: "done completed" },
    {
      name: "stops before it is finished",
      script: [[text("Three."), text(" or")]],
      last: "done failed: the model's answer broke off"
    },
    { name: "writes without end", script: [endless(text("blah "))], last: noEnd },
    { name: "writes nothing without end", script: [endless(text(""))], last: noEnd },
    { name: "calls without end in one turn", script: [endless(call("run_sql", allSales))], last: noEnd },
    {
      name: "calls without end, turn by turn",
      script: () => calls("run_sql", allSales),
      last: "done failed: the run used up its steps before it had an answer"
    }
  ])("$name", ({ last, script }) =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const outcome = yield* asked(admin)
      assert.strictEqual(outcome.last, last)
      const { usage } = yield* keptRun(outcome.run)
      assert.isTrue(usage.inputTokens >= 0 && usage.outputTokens >= 0)
      const limits = { steps: 24, calls: 64 }
      assert.isAtMost((yield* turns).length, limits.steps)
      assert.isAtMost((yield* statements).length, limits.calls)
      // Another question finds everything in order.
      yield* ScriptedModel.use((model) => model.follow([says("Fine.")]))
      assert.strictEqual((yield* asked(admin, "And now?", { chatId: outcome.run.chatId })).last, "done completed")
    }).pipe(Effect.provide(Deployment.layer({ script, limits: { maxOutputTokens: 200 } })))
  )

  it.effect("each call's result has an id of its own", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      yield* asked(admin)
      const turn = yield* turnNumber(2)
      const ids = resultsOf(turn).map((result) => result.callId)
      assert.strictEqual(new Set(ids).size, 4)
      const answer = turn.messages.find((message) => message._tag === "Answer")
      assert.deepStrictEqual(answer?._tag === "Answer" ? answer.toolCalls.map((one) => one.id) : [], ids)
      assert.strictEqual(ids[0], "x")
    }).pipe(
      Effect.provide(Deployment.layer({ script: [[raw("x"), raw("x"), raw(""), raw(""), finished()], says("Done.")] }))
    )
  )

  it.effect("what comes after a turn's end is no part of it, and counts for nothing", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { outline, run } = yield* asked(admin)
      assert.isFalse(outline.some((line) => line.includes("More")))
      assert.deepStrictEqual((yield* keptRun(run)).usage, { inputTokens: 1, outputTokens: 2, toolCalls: 0 })
    }).pipe(
      Effect.provide(Deployment.layer({ script: [[text("One."), finished(1, 2), text("More"), call("run_sql", {})]] }))
    )
  )

  it.effect("a model that breaks off has what it said kept, and the run fails with its words", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const run = yield* Conversation.ask(admin, "Why?")
      yield* ScriptedModel.use((model) => model.asked(1))
      yield* TestClock.adjust("1 minute")
      const { outline } = yield* told(run)
      assert.deepStrictEqual(outline, [
        "metadata",
        "cell user completed",
        "cell assistant running",
        "text Three",
        "cell assistant failed: the run failed",
        "done failed: the provider is gone"
      ])
      assert.strictEqual((yield* turns).length, 1)
    }).pipe(
      Effect.provide(
        Deployment.layer({
          script: [
            Stream.concat(
              Stream.succeed(text("Three")),
              after("1 second", failing({ message: "the provider is gone", retryable: true }))
            ),
            says("Not reached.")
          ]
        })
      )
    )
  )

  it.effect("words that were not told yet when a model broke off are not told twice", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const run = yield* Conversation.ask(admin, "Why?")
      yield* ScriptedModel.use((model) => model.asked(1))
      yield* TestClock.adjust("1 minute")
      const { outline } = yield* told(run)
      assert.deepStrictEqual(outline.slice(2), [
        "cell assistant running",
        "text Three regions.",
        "cell assistant completed",
        "done completed"
      ])
    }).pipe(
      Effect.provide(
        Deployment.layer({ script: [failing({ retryable: true }, [text("Three")]), says("Three regions.")] })
      )
    )
  )

  it.effect("a turn that failed before it said anything is tried again, a little later each time", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const model = yield* ScriptedModel
      const run = yield* Conversation.ask(admin, "Again?")
      yield* model.asked(1)
      yield* TestClock.adjust("499 millis")
      assert.strictEqual((yield* turns).length, 1)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* turns).length, 2)
      yield* TestClock.adjust("1 second")
      const { last } = yield* told(run)
      assert.strictEqual(last, "done completed")
      assert.strictEqual((yield* turns).length, 3)
    }).pipe(
      Effect.provide(
        Deployment.layer({ script: [failing({ retryable: true }), failing({ retryable: true }), says("Third time.")] })
      )
    )
  )

  it.effect("it is tried so often and not more, and not at all when it is no use", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const model = yield* ScriptedModel
      const run = yield* Conversation.ask(admin, "Again?")
      yield* model.asked(1)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* told(run)).last, "done failed: overloaded")
      assert.strictEqual((yield* turns).length, 4)
      yield* model.follow([failing({ message: "no such model" }), says("Not reached.")])
      assert.strictEqual((yield* asked(admin)).last, "done failed: no such model")
      assert.strictEqual((yield* turns).length, 5)
    }).pipe(Effect.provide(Deployment.layer({ script: () => failing({ message: "overloaded", retryable: true }) })))
  )
})

describe("the limits of a run", () => {
  it.effect("in its last step no tool is on offer, so that the model must answer", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      assert.strictEqual((yield* asked(admin)).last, "done completed")
      const offered = (yield* turns).map((turn) => turn.tools.length > 0)
      assert.deepStrictEqual(offered, [true, true, false])
    }).pipe(
      Effect.provide(
        Deployment.layer({
          limits: { maxSteps: 3 },
          script: (turn) => (turn.tools.length > 0 ? calls("run_sql", allSales) : says("All that I have."))
        })
      )
    )
  )

  it.effect("calls beyond their limit are refused, and then none are on offer", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      assert.strictEqual((yield* asked(admin)).last, "done completed")
      assert.strictEqual((yield* statements).length, 3)
      const second = yield* turnNumber(2)
      assert.deepStrictEqual(
        resultsOf(second).map((result) => result.failed),
        [false, false, false, true]
      )
      assert.strictEqual(lastResult(second).content, "the run has used up its tool calls; answer now")
      assert.deepStrictEqual(second.tools, [])
    }).pipe(
      Effect.provide(
        Deployment.layer({
          limits: { maxToolCalls: 3 },
          script: [[...["a", "b", "c", "d"].map((id) => call("run_sql", allSales, id)), finished()], says("Done.")]
        })
      )
    )
  )

  it.effect("each turn has the tokens that are left, and a run without any ends", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { last, run } = yield* asked(admin)
      assert.strictEqual(last, "done failed: the run used up its tokens before it had an answer")
      assert.deepStrictEqual(
        (yield* turns).map((turn) => turn.maxOutputTokens),
        [100, 40]
      )
      assert.deepStrictEqual((yield* keptRun(run)).usage, { inputTokens: 2, outputTokens: 120, toolCalls: 2 })
    }).pipe(
      Effect.provide(
        Deployment.layer({
          limits: { maxOutputTokens: 100 },
          script: () => [call("run_sql", allSales), finished(1, 60)]
        })
      )
    )
  )

  it.effect("a run past its time ends, down to the statement, and the chat takes another question", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const driver = yield* ScriptedDriver
      yield* driver.hold
      const run = yield* Conversation.ask(admin, "For ever?")
      yield* driver.started(1)
      yield* TestClock.adjust("29999 millis")
      assert.strictEqual((yield* statements)[0]?.outcome, "running")
      yield* TestClock.adjust("1 millis")
      const { outline } = yield* told(run)
      assert.deepStrictEqual(outline.slice(2), [
        "cell Sql running",
        "cell Sql halted",
        "done failed: the run went past its time limit"
      ])
      assert.strictEqual((yield* statements)[0]?.outcome, "interrupted")
      assert.strictEqual((yield* keptRun(run)).status._tag, "Failed")
      yield* driver.release
      assert.strictEqual((yield* asked(admin, "Again?", { chatId: run.chatId })).last, "done completed")
    }).pipe(
      Effect.provide(
        Deployment.layer({
          limits: { timeout: Duration.seconds(30) },
          script: [calls("run_sql", allSales), says("Done.")]
        })
      )
    )
  )
})

describe("a cancel", () => {
  const cancel = (principal: Principal, run: Run) =>
    Chats.use((chats) => chats.cancel(run.chatId)).pipe(Effect.provideService(CurrentPrincipal, principal))

  it.effect("while the model speaks stops the model, and keeps what it said", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const model = yield* ScriptedModel
      const run = yield* Conversation.ask(admin, "Stop?")
      yield* model.asked(1)
      // The words are gathered for some milliseconds before they are told.
      yield* TestClock.adjust("1 second")
      assert.isTrue(yield* cancel(admin, run))
      const { outline } = yield* told(run)
      assert.deepStrictEqual(outline.slice(2), [
        "cell assistant running",
        "text Let me",
        "cell assistant halted",
        "done failed: cancelled"
      ])
      assert.strictEqual((yield* model.recorded)[0]?.outcome, "interrupted")
      assert.strictEqual((yield* asked(admin, "And now?", { chatId: run.chatId })).last, "done completed")
    }).pipe(Effect.provide(Deployment.layer({ script: [stalling(text("Let me")), says("Fine.")] })))
  )

  it.effect("before the model said anything leaves nothing but the question", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const run = yield* Conversation.ask(admin, "Stop?")
      yield* ScriptedModel.use((model) => model.asked(1))
      yield* cancel(admin, run)
      assert.deepStrictEqual((yield* told(run)).outline, ["metadata", "cell user completed", "done failed: cancelled"])
    }).pipe(Effect.provide(Deployment.layer({ script: [after("1 hour", says("Late."))] })))
  )

  it.effect("while a statement runs stops the statement, halts its cell, and counts what was used", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const driver = yield* ScriptedDriver
      yield* driver.hold
      const run = yield* Conversation.ask(admin, "Stop?")
      yield* driver.started(1)
      assert.isTrue(yield* cancel(admin, run))
      assert.strictEqual((yield* statements)[0]?.outcome, "interrupted")
      const kept = yield* keptRun(run)
      assert.strictEqual(kept.status._tag, "Cancelled")
      assert.deepStrictEqual(kept.usage, { inputTokens: 10, outputTokens: 5, toolCalls: 1 })
      const { outline } = yield* told(run)
      assert.deepStrictEqual(outline.slice(2), [
        "cell assistant running",
        "text Let me look.",
        "text \n\n",
        "cell Sql running",
        "cell Sql halted",
        "cell assistant halted",
        "done failed: cancelled"
      ])
      yield* driver.release
      assert.strictEqual((yield* asked(admin, "And now?", { chatId: run.chatId })).last, "done completed")
      // The model reads what was said before, cancelled or not.
      assert.deepStrictEqual(
        (yield* turnNumber(2)).messages.map((message) => (message._tag === "ToolResult" ? "" : message.text)),
        ["Stop?", "Let me look.\n\n", "And now?"]
      )
    }).pipe(
      Effect.provide(
        Deployment.layer({ script: [[text("Let me look."), call("run_sql", allSales), finished()], says("Fine.")] })
      )
    )
  )

  it.effect("while a failed turn waits to be tried again stops the waiting", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const run = yield* Conversation.ask(admin, "Stop?")
      yield* ScriptedModel.use((model) => model.asked(1))
      yield* TestClock.adjust("100 millis")
      assert.isTrue(yield* cancel(admin, run))
      assert.strictEqual((yield* told(run)).last, "done failed: cancelled")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* turns).length, 1)
    }).pipe(Effect.provide(Deployment.layer({ script: () => failing({ retryable: true }) })))
  )
})

describe("a run belongs to no client", () => {
  it.effect("it goes on when the client leaves, whatever the client was doing", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const driver = yield* ScriptedDriver
      yield* driver.hold
      const waiting = yield* Effect.forkChild(Conversation.answer(admin, "I shall not wait?"))
      yield* driver.started(1)
      yield* Fiber.interrupt(waiting)
      assert.strictEqual((yield* statements)[0]?.outcome, "running")
      yield* driver.release
      const { chats } = yield* Chats.use((service) =>
        service.list({ limit: 1, offset: 0, sortBy: "updated_at", sortDirection: "desc" })
      ).pipe(Effect.provideService(CurrentPrincipal, admin))
      const [summary] = chats
      assert.isDefined(summary)
      const run = yield* Chats.use((service) => service.latestRun(summary.chat.id)).pipe(
        Effect.provideService(CurrentPrincipal, admin)
      )
      assert.strictEqual((yield* told(run)).last, "done completed")
    }).pipe(Effect.provide(Deployment.layer({ script: [calls("run_sql", allSales), says("Done anyway.")] })))
  )

  it.effect("a follower sees each event as it comes, and one that joins late sees them all", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const driver = yield* ScriptedDriver
      yield* driver.hold
      const run = yield* Conversation.ask(admin, "Live?")
      const live = yield* Effect.forkChild(Conversation.events(run))
      yield* driver.started(1)
      const late = yield* Effect.forkChild(Conversation.events(run))
      yield* driver.release
      const all = yield* Fiber.join(live)
      assert.deepStrictEqual(yield* Fiber.join(late), all)
      assert.deepStrictEqual(yield* Conversation.events(run), all)
    }).pipe(Effect.provide(Deployment.layer({ script: [calls("run_sql", allSales), says("Live.")] })))
  )

  it.effect(
    "when the server stops, the run at work ends as failed, and the one in the queue is the next server's",
    () =>
      Effect.gen(function* () {
        const driver = yield* ScriptedDriver
        yield* driver.hold
        const [working, waiting] = yield* Effect.gen(function* () {
          const admin = yield* newcomer
          const first = yield* Conversation.ask(admin, "At work?")
          yield* driver.started(1)
          return [first, yield* Conversation.ask(admin, "In the queue?")] as const
        }).pipe(Effect.provide(Castellan.layer({ concurrency: 1 })))
        const activityOf = (run: Run) =>
          Effect.map(
            ChatStore.use((store) => store.get(run.organizationId, run.chatId)),
            (chat) => Option.getOrThrow(chat).activity._tag
          )
        assert.strictEqual((yield* statements)[0]?.outcome, "interrupted")
        assert.strictEqual((yield* told(working)).last, "done failed: the server stopped before the run ended")
        assert.strictEqual((yield* keptRun(working)).status._tag, "Failed")
        assert.strictEqual(yield* activityOf(working), "Idle")
        assert.strictEqual((yield* keptRun(waiting)).status._tag, "Queued")
        assert.strictEqual(yield* activityOf(waiting), "Running")
        yield* driver.release
        yield* Effect.gen(function* () {
          assert.strictEqual((yield* told(waiting)).last, "done completed")
        }).pipe(Effect.provide(Castellan.layer({ concurrency: 1 })))
        assert.strictEqual(yield* activityOf(waiting), "Idle")
      }).pipe(
        Effect.provide(
          Layer.mergeAll(
            Stores.layerMemory,
            Deployment.layerPorts({ script: [calls("run_sql", allSales), says("Done.")] }),
            Deployment.layerCrypto
          )
        )
      )
  )
})

describe("the moments of a run", () => {
  it.effect("a cell's times are those of its step, and the chat is updated when the run ends", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const driver = yield* ScriptedDriver
      yield* driver.hold
      yield* TestClock.setTime(1_000_000)
      const run = yield* Conversation.ask(admin, "When?")
      yield* driver.started(1)
      yield* TestClock.adjust("1234 millis")
      yield* driver.release
      const { events } = yield* told(run)
      const [, end] = cells(events).filter((cell) => cell.content._tag === "Sql")
      assert.isDefined(end)
      assert.strictEqual(DateTime.toEpochMillis(end.createdAt), 1_000_000)
      assert.isTrue(end.status._tag === "Completed" && DateTime.toEpochMillis(end.status.endedAt) === 1_001_234)
      const chat = Option.getOrThrow(yield* ChatStore.use((store) => store.get(run.organizationId, run.chatId)))
      assert.strictEqual(DateTime.toEpochMillis(chat.createdAt), 1_000_000)
      assert.strictEqual(DateTime.toEpochMillis(chat.updatedAt), 1_001_234)
    }).pipe(Effect.provide(Deployment.layer({ script: [calls("run_sql", allSales), says("Now.")] })))
  )

  it.effect("words that come one by one are gathered for some milliseconds, and none waits longer", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const run = yield* Conversation.ask(admin, "Slowly?")
      yield* ScriptedModel.use((model) => model.asked(1))
      yield* TestClock.adjust("1 second")
      const { outline } = yield* told(run)
      const pieces = outline.filter((line) => line.startsWith("text"))
      assert.isAtLeast(pieces.length, 4)
      assert.isAtMost(pieces.length, 20)
      assert.strictEqual(pieces.map((piece) => piece.slice(5)).join(""), "word ".repeat(20))
    }).pipe(
      Effect.provide(
        Deployment.layer({
          script: [
            Stream.concat(
              Stream.range(1, 20).pipe(Stream.mapEffect(() => Effect.as(Effect.sleep("5 millis"), text("word ")))),
              Stream.succeed(finished())
            )
          ]
        })
      )
    )
  )
})
