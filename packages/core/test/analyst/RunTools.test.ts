import { AssetStore } from "@castellan/core/asset/AssetStore"
import { defaultTools } from "@castellan/core/chat/Chat"
import { ConnectorId } from "@castellan/core/connector/Connector"
import * as Conversation from "@castellan/testing/fixture/Conversation"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { ScriptedDriver } from "@castellan/testing/scripted/ScriptedDriver"
import { call, calls, finished, says } from "@castellan/testing/scripted/ScriptedModel"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import {
  allSales,
  asked,
  assets,
  lastResult,
  newcomer,
  resultsOf,
  statements,
  told,
  toolNames,
  turnNumber,
  turns
} from "./Asking.ts"

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

  it.effect.each([600, 100_000])(
    "arguments that are nested %i levels deep are told to be, and nothing runs",
    (levels) => {
      const nested = Array.from({ length: levels }).reduce<Readonly<Record<string, unknown>>>(
        (inner) => ({ inner }),
        {}
      )
      return Effect.gen(function* () {
        const { last } = yield* asked(yield* newcomer)
        assert.strictEqual(last, "done completed")
        const [result] = resultsOf(yield* turnNumber(2))
        const message = "invalid arguments of make_chart: they must be nested at most 512 levels deep"
        assert.deepInclude(result, { failed: true, content: message })
      }).pipe(
        Effect.provide(
          Deployment.layer({
            script: [calls("make_chart", { name: "Deep", result: "result_1", specification: nested }), says("No.")]
          })
        )
      )
    }
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
